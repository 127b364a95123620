"""Explanations: true to the reference interpreter, resting on what they say, with repairs that repair."""

import json
from collections.abc import Iterable
from itertools import combinations, product
from random import Random
from typing import Any, SupportsIndex

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dlm.data import Facts, Structure
from dlm.data.lookup import FactLookups
from dlm.errors import DataError, ParseError, ProgramError
from dlm.logic import Program, evaluate, parse_program
from dlm.logic.explain import repair as repair_module
from dlm.logic.explain.explain import Explanation, explain
from dlm.logic.explain.lookups import Cell, Ground, covers
from dlm.logic.explain.query import Query, format_query, parse_query
from dlm.logic.lists import RuleList, rules_of
from strategies import ODD_NAMES, programs_with_structures, rule_lists, signatures, structures

PARENTS = "parent(x, y) :- father(x, y) | mother(x, y). grandparent(x, y) :- exists z: parent(x, z) & parent(z, y)."
FAMILY = Structure(
    ("ann", "amy", "amelia", "steve", "gavin"),
    {"mother": 2, "father": 2},
    {"mother": frozenset({(0, 1), (1, 2)}), "father": frozenset({(3, 1), (4, 2)})},
)


def ask(program: Program | str, structure: Structure, predicate: str, values: Iterable[int]) -> Explanation:
    known = parse_program(program) if isinstance(program, str) else program
    query = Query(predicate, tuple(structure.objects[value] for value in values))
    return explain(known, FactLookups(Facts.from_structure(structure)), query)


def flipped(structure: Structure, flips: Iterable[Ground]) -> Structure:
    relations = dict(structure.relations)
    for predicate, values in flips:
        relations[predicate] = relations[predicate] ^ {values}
    return Structure(structure.objects, structure.arities, relations)


def atoms_of(structure: Structure) -> list[Ground]:
    return [
        (name, values)
        for name, arity in structure.arities.items()
        for values in product(range(structure.size), repeat=arity)
    ]


def holds(program: Program, structure: Structure, atom: Ground) -> bool:
    return atom[1] in evaluate(program, structure)[atom[0]]


def some_atom(data: st.DataObject, program: Program, structure: Structure) -> Ground | None:
    """An atom of a definition; none if it takes arguments and there are no objects."""
    definition = data.draw(st.sampled_from(program.definitions))
    if definition.arity and not structure.size:
        return None
    values = data.draw(st.tuples(*[st.integers(0, structure.size - 1)] * definition.arity))
    return definition.name, values


@given(programs_with_structures(signatures(max_arity=4, odd_names=True), max_size=3))
@settings(max_examples=80, deadline=None)
def test_the_truth_value_is_that_of_the_interpreter(case: tuple[Program, Structure]) -> None:
    program, structure = case
    truth = evaluate(program, structure)
    for definition in program.definitions:
        for values in list(product(range(structure.size), repeat=definition.arity))[:9]:
            explanation = ask(program, structure, definition.name, values)
            assert explanation.value == (values in truth[definition.name])
            assert str(explanation)
            json.dumps(explanation.to_json())


def lists_with_structures(signature: dict[str, int], max_size: int = 3) -> st.SearchStrategy[tuple[Program, Structure]]:
    return st.tuples(rule_lists(signature).map(RuleList.program), structures(signature, max_size=max_size))


@given(lists_with_structures({"a": 2, "b": 1, "n": 0}))
@settings(max_examples=120, deadline=None)
def test_a_decision_list_is_explained_by_the_rule_that_decides(case: tuple[Program, Structure]) -> None:
    program, structure = case
    listed = rules_of(program)
    assert listed is not None
    truth = evaluate(program, structure)
    names = listed.names[:-1]
    for values in product(range(structure.size), repeat=len(listed.parameters)):
        explanation = ask(program, structure, listed.name, values)
        assert explanation.value == (values in truth[listed.name])
        working = next((number for number, (_, works) in enumerate(names, 1) if truth[works]), None)
        fired = next((number for number, (rule, _) in enumerate(names, 1) if values in truth[rule]), len(listed.rules))
        first, *others = str(explanation).splitlines()
        decides = explanation.to_json()["reason"]["rule"]
        if len(set(values)) == len(values):  # Of an object and itself, several rules can be true.
            assert decides == (fired if explanation.value else working)
        said = f" is true by rule {decides}, because" if explanation.value else " is false, because"
        assert first.endswith(said)
        assert not any("rule_" in line for line in others)


@given(programs_with_structures(max_size=4) | lists_with_structures({"a": 2, "b": 1}), st.data(), st.integers(0, 2**32))
@settings(max_examples=200, deadline=None)
def test_the_truth_value_rests_on_the_leaves(case: tuple[Program, Structure], data: st.DataObject, seed: int) -> None:
    program, structure = case
    atom = some_atom(data, program, structure)
    if atom is None:
        return
    explanation = ask(program, structure, *atom)
    assert explanation.complete
    leaves = explanation.leaves
    open_atoms = [other for other in atoms_of(structure) if not any(covers(leaf, other) for leaf in leaves)]
    rng = Random(seed)
    for share in (0.1, 0.5, 1.0):
        other = flipped(structure, [one for one in open_atoms if rng.random() < share])
        assert holds(program, other, atom) == explanation.value


@pytest.mark.parametrize("small", [50, 0], ids=["each", "strangers"])
@given(
    case=programs_with_structures({"a": 2, "b": 1, "n": 0}, max_size=3, max_definitions=3)
    | lists_with_structures({"a": 2, "b": 1}, max_size=2),
    data=st.data(),
)
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_repairs_repair_and_none_is_smaller(
    monkeypatch: pytest.MonkeyPatch, small: int, case: tuple[Program, Structure], data: st.DataObject
) -> None:
    monkeypatch.setattr(repair_module, "SMALL", small)
    program, structure = case
    atom = some_atom(data, program, structure)
    if atom is None or (explanation := ask(program, structure, *atom)).value:
        return
    repair = explanation.repair
    assert repair is not None
    universe = atoms_of(structure)
    flips = [*repair.add, *repair.remove]
    assert all(values not in structure.relations[name] for name, values in repair.add)
    assert all(values in structure.relations[name] for name, values in repair.remove)
    assert repair.exact, "small cases are worked out"
    if flips:
        assert holds(program, flipped(structure, flips), atom)
    smaller = range(1, len(flips)) if flips else range(1, len(universe) + 1)
    sets = (chosen for size in smaller for chosen in combinations(universe, size))
    for chosen, _ in zip(sets, range(400), strict=False):
        assert not holds(program, flipped(structure, chosen), atom), chosen


def test_why() -> None:
    assert str(ask(PARENTS, FAMILY, "grandparent", (0, 2))) == (
        "grandparent(ann, amelia) is true, because\n"
        "  there is a fitting z: amy, because\n"
        "    parent(ann, amy) is true, because\n"
        "      mother(ann, amy) is a fact\n"
        "    parent(amy, amelia) is true, because\n"
        "      mother(amy, amelia) is a fact"
    )


def test_why_not() -> None:
    assert str(ask(PARENTS, FAMILY, "grandparent", (0, 1))) == (
        "grandparent(ann, amy) is false, because\n"
        "  there is no fitting z; only one object with parent(ann, z) comes into question:\n"
        "    amy:\n"
        "      parent(amy, amy) is false, because\n"
        "        father(amy, amy) is not a fact\n"
        "        mother(amy, amy) is not a fact\n"
        "It would be true after this change of facts:\n"
        "  add father(amy, amy)"
    )


CHOOSE = parse_program("""
choose(x) :-
  1. exists y != x: lies_in(x, y) & here(y)
  2. else hall(x) & ~here(x)
  3. else exists y != x: lies_in(y, x).
""")


def house(here: int, *lies_in: tuple[int, int]) -> Structure:
    relations = {"here": frozenset({(here,)}), "hall": frozenset({(0,)}), "lies_in": frozenset(lies_in)}
    return Structure(("hall", "r1", "r2", "key"), {"here": 1, "hall": 1, "lies_in": 2}, relations)


def test_why_a_rule_decides() -> None:
    assert (
        str(ask(CHOOSE, house(0, (3, 1)), "choose", (1,)))
        == """\
choose(r1) is true by rule 3, because
  rule 3, exists y != x: lies_in(y, x), is true of r1, because
    there is a fitting y other than r1: key, because
      lies_in(key, r1) is a fact
  rule 1, exists y != x: lies_in(x, y) & here(y), is true of nothing, because
    there is no fitting x; only one object comes into question for what rule 1 needs:
      (as is seen from all facts of the form lies_in(anything, anything))
      key:
        rule 1 is false of key, because
          there is no fitting y other than key; only one object with lies_in(key, y) comes into question:
            r1: here(r1) is not a fact
  rule 2, hall(x) & ~here(x), is true of nothing, because
    there is no fitting x; only one object comes into question for what rule 2 needs:
      (as is seen from all facts of the form hall(anything))
      hall:
        rule 2 is false of hall, because
          here(hall) is a fact"""
    )


def test_why_another_rule_decides() -> None:
    assert (
        str(ask(CHOOSE, house(1, (3, 1)), "choose", (0,)))
        == """\
choose(hall) is false, because
  rule 1, exists y != x: lies_in(x, y) & here(y), is true of key and decides, because
    there is a fitting y other than key: r1, because
      lies_in(key, r1) is a fact
      here(r1) is a fact
  rule 1 is false of hall, because
    there is no fitting y other than hall; no object has lies_in(hall, y)
It would be true after this change of facts:
  add lies_in(hall, r1)"""
    )


def test_why_no_rule_decides() -> None:
    assert (
        str(ask(CHOOSE, house(0), "choose", (0,))).partition("\nIt would")[0]
        == """\
choose(hall) is false, because
  rule 1, exists y != x: lies_in(x, y) & here(y), is false of hall, because
    there is no fitting y other than hall; no object has lies_in(hall, y)
  rule 2, hall(x) & ~here(x), is false of hall, because
    here(hall) is a fact
  rule 3, exists y != x: lies_in(y, x), is false of hall, because
    there is no fitting y other than hall; no object has lies_in(y, hall)"""
    )


def test_all_objects_are_summarised() -> None:
    size = 40
    star = Structure(
        tuple(f"n{i}" for i in range(size)),
        {"edge": 2, "red": 1},
        {"edge": frozenset((0, i) for i in range(1, 31)), "red": frozenset((i,) for i in range(size))},
    )
    text = str(ask("all_red(x) :- forall y: ~edge(x, y) | red(y).", star, "all_red", (0,)))
    assert "every y fits; only 30 objects with edge(n0, y) come into question:" in text
    assert "    n1: red(n1) is a fact" in text
    assert text.endswith("and 25 more in like manner")
    assert "no object has edge(n39, y)" in str(
        ask("all_red(x) :- forall y: ~edge(x, y) | red(y).", star, "all_red", (39,))
    )


def test_the_shorter_proof_is_chosen() -> None:
    program = "long(x) :- exists y: e(x, y) & e(y, x). t(x) :- long(x) | (exists y: e(x, y) & (b(y) | long(y)))."
    structure = Structure(
        ("o", "p"), {"e": 2, "b": 1}, {"e": frozenset(product(range(2), repeat=2)), "b": frozenset({(1,)})}
    )
    explanation = ask(program, structure, "t", (0,))
    assert set(explanation.leaves) == {Cell("e", (0, 1)), Cell("b", (1,))}


def test_what_cannot_be() -> None:
    never = ask("t(x) :- e(x, x) & ~e(x, x).", Structure(("o",), {"e": 2}), "t", (0,))
    assert str(never).endswith("No change of facts could make it true.")
    assert never.to_json()["repair"]["possible"] is False


def test_one_change_that_helps_twice_is_found() -> None:
    program = "t(x) :- (a(x) | (b(x) & c(x))) & (d(x) | (b(x) & c(x))) & (e(x) | b(x))."
    arities = dict.fromkeys("abcde", 1)
    repair = ask(program, Structure(("o",), arities), "t", (0,)).repair
    assert repair is not None
    assert (repair.add, repair.exact) == ((("b", (0,)), ("c", (0,))), True)


def test_hundreds_of_definitions() -> None:
    text = "p0(x) :- e(x, x)." + "".join(
        f"p{i}(x) :- exists y: e(x, y) & p{i - 1}(y) & p{i - 1}(x)." for i in range(1, 400)
    )
    loop = Structure(("o",), {"e": 2}, {"e": frozenset({(0, 0)})})
    explanation = ask(text, loop, "p399", (0,))
    assert explanation.value
    assert len(str(explanation).splitlines()) < 2000
    assert explanation.leaves == (Cell("e", (0, 0)),)


def test_json() -> None:
    found = ask(PARENTS, FAMILY, "grandparent", (4, 1)).to_json()
    reason: dict[str, Any] = found.pop("reason")
    assert found == {
        "format": "dlm-explanation",
        "version": 1,
        "atom": "grandparent(gavin, amy)",
        "value": False,
        "complete": True,
        "rests_on": [
            {"predicate": "father", "arguments": ["gavin", None]},
            {"predicate": "mother", "arguments": ["gavin", None]},
            {"predicate": "father", "arguments": ["amelia", "amy"]},
            {"predicate": "mother", "arguments": ["amelia", "amy"]},
        ],
        "repair": {
            "possible": True,
            "smallest": True,
            "irreducible": True,
            "attributes": [],
            "add": ["father(amelia, amy)"],
            "remove": [],
        },
    }
    (each,) = reason["because"]
    assert (each["kind"], each["among"], each["objects"]) == ("each", ["parent(gavin, z)"], 1)
    assert [case["object"] for case in each["cases"]] == ["amelia"]


# --------------------------------------------------------------------------- atoms as people type them


@given(
    st.sampled_from(ODD_NAMES) | st.text(max_size=5),
    st.lists(st.sampled_from(ODD_NAMES) | st.text(max_size=5), max_size=4),
)
def test_atoms_are_read_back(predicate: str, names: list[str]) -> None:
    query = Query(predicate, tuple(names))
    assert parse_query(format_query(query)) == query


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("p(12, -3, 1.5, a1)", ("12", "-3", "1.5", "a1")),
        ("p()", ()),
        (" p ", ()),
        ("p( 'New York' ).", ("New York",)),
        ("p(exists, 1st)", ("exists", "1st")),
    ],
)
def test_atoms(text: str, names: tuple[str, ...]) -> None:
    assert parse_query(text) == Query("p", names)


def test_a_long_atom_is_read_in_one_go() -> None:
    class Watched(str):
        copied = 0

        def __getitem__(self, place: SupportsIndex | slice) -> str:
            found = super().__getitem__(place)
            Watched.copied += len(found)
            return found

    text = Watched(f"p({', '.join(['a'] * 1000)})")
    assert len(parse_query(text).names) == 1000
    assert Watched.copied <= len(text)


@pytest.mark.parametrize(
    "text", ["", "(a)", "p(", "p(a", "p(a,)", "p(a b)", "p(a))", "p('a)", "p(,a)", "p(a) q", "p(a;b)", "p(a.b)"]
)
def test_atoms_that_cannot_be_read(text: str) -> None:
    with pytest.raises(ParseError, match=r"<atom>:1:\d+: .*\n.*\n +\^"):
        parse_query(text)


@pytest.mark.parametrize(
    ("atom", "error", "message"),
    [
        ("grandparent(ann, amelie)", DataError, "no object 'amelie'. Did you mean 'amelia'"),
        ("granparent(ann, amelia)", ProgramError, "Did you mean 'grandparent'"),
        ("grandparent(ann)", ProgramError, "'grandparent' takes 2 arguments, got 1"),
    ],
)
def test_atoms_that_make_no_sense(atom: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        explain(parse_program(PARENTS), FactLookups(Facts.from_structure(FAMILY)), atom)
