"""Write down a family and a program by hand, and ask the program about the family."""

import dlm

people = ("Ada", "Ben", "Cleo", "Dan")
ada, ben, cleo, dan = range(len(people))
family = dlm.Structure(
    objects=people,
    arities={"father": 2, "mother": 2},
    # father(x, y) says that y is x's father.
    relations={"father": frozenset({(cleo, ben)}), "mother": frozenset({(ben, ada), (dan, cleo)})},
)

program = dlm.parse_program("""
    parent(x, y) :- father(x, y) | mother(x, y).
    grandparent(x, y) :- exists z: parent(x, z) & parent(z, y).
""")

answers = dlm.evaluate(program, family)["grandparent"]
for x, y in sorted(answers):
    print(f"{people[y]} is a grandparent of {people[x]}")

# The fast evaluator says the same about many worlds at a time.
worlds = dlm.Worlds.from_structures([family])
assert dlm.evaluate_target(program, worlds)[0].sum() == len(answers)
