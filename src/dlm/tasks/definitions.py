"""What the tasks' targets mean, in logic, and what holds in every world that is drawn for them.

`RULES` are those of the paper's appendix. Where they and the generators differ, the generators count: a sister or a
brother is somebody else, a maternal great uncle is a brother of either grandmother, nodes that are connected are
different, and degrees are exact.
"""

from __future__ import annotations

__all__ = ["COLOUR_LAWS", "FAMILY_LAWS", "GRAPH_LAWS", "NEIGHBOUR_LAWS", "RULES"]

_BROTHER = """
brother(x, y) :- x != y & (exists z: (son(z, y) & son(z, x)) | (son(z, y) & daughter(z, x))).
"""

_DISTANCE_2 = """
distance_2(x, y) :- exists z: edge(x, z) & edge(z, y).
"""

RULES = {
    "has_father": """
has_father(x) :- exists y: father(x, y).
""",
    "has_sister": """
sister(x, y) :- x != y & (exists z: daughter(z, y) & mother(x, z)).
has_sister(x) :- exists y: sister(x, y).
""",
    "is_grandparent": """
is_grandparent(x, y) :- exists z: (son(y, z) & father(x, z)) | (daughter(y, z) & mother(x, z)).
""",
    "is_uncle": _BROTHER
    + """
is_uncle(x, y) :- exists z: (mother(x, z) & brother(z, y)) | (father(x, z) & brother(z, y)).
""",
    "is_mguncle": _BROTHER
    + """
grandmother(x, y) :- exists z: (father(x, z) | mother(x, z)) & mother(z, y).
is_mguncle(x, y) :- exists z: grandmother(x, z) & brother(z, y).
""",
    "adjacent_to_red": """
adjacent_to_red(x) :- exists y: edge(x, y) & red(y).
""",
    "connected_4": _DISTANCE_2
    + """
connected_4(x, y) :- x != y & (edge(x, y) | distance_2(x, y)
    | (exists z: (distance_2(x, z) & edge(z, y)) | (distance_2(x, z) & distance_2(z, y)))).
""",
    "connected_6": _DISTANCE_2
    + """
distance_3(x, y) :- exists z: edge(x, z) & distance_2(z, y).
connected_6(x, y) :- x != y & (edge(x, y) | distance_2(x, y) | distance_3(x, y)
    | (exists z: (distance_2(x, z) & distance_2(z, y)) | (distance_3(x, z) & distance_2(z, y))
        | (distance_3(x, z) & distance_3(z, y)))).
""",
    "outdegree_1": """
outdegree_1(x) :- exists y: edge(x, y) & (forall z != y: ~edge(x, z)).
""",
    "outdegree_2": """
outdegree_2(x) :- exists y: exists k != y: edge(x, y) & edge(x, k) & (forall z != y, k: ~edge(x, z)).
""",
}
"""The text of each task's definition, by the name of its target."""

GENERATIONS = 6
"""Longest line of ancestors that the axioms forbid to close; logic of first order has no word for "ancestor"."""


def _line(length: int, person: str = "x", step: int = 1) -> str:
    """``x`` is an ancestor of ``x`` over that many generations."""
    ancestor = "x" if step == length else f"y{step}"
    parent = f"(father({person}, {ancestor}) | mother({person}, {ancestor}))"
    return parent if step == length else f"(exists {ancestor}: {parent} & {_line(length, ancestor, step + 1)})"


_NO_CYCLES = "\n".join(f"forall x: ~{_line(length)}." for length in range(1, GENERATIONS + 1))
_COUPLE = "forall x: forall y: ~(exists c: father(c, x) & mother(c, y)) |"

FAMILY_LAWS = f"""
# Nobody has two fathers or two mothers; father and mother come together.
forall x: forall y: forall z != y: ~father(x, y) | ~father(x, z).
forall x: forall y: forall z != y: ~mother(x, y) | ~mother(x, z).
forall x: (exists y: father(x, y)) | ~(exists y: mother(x, y)).
forall x: (exists y: mother(x, y)) | ~(exists y: father(x, y)).

# Sons and daughters are those who have a father or a mother.
forall x: forall y: ~son(x, y) | father(y, x) | mother(y, x).
forall x: forall y: ~daughter(x, y) | father(y, x) | mother(y, x).
forall x: forall y: ~father(x, y) | son(y, x) | daughter(y, x).
forall x: forall y: ~mother(x, y) | son(y, x) | daughter(y, x).

# Sons and fathers are men, daughters and mothers are women, and nobody is both.
forall x: ~((exists y: son(y, x)) & (exists y: daughter(y, x))).
forall x: ~((exists y: father(y, x)) & (exists y: mother(y, x))).
forall x: ~((exists y: father(y, x)) & (exists y: daughter(y, x))).
forall x: ~((exists y: mother(y, x)) & (exists y: son(y, x))).

# People have children with one other only.
forall x: forall y: ~(exists z: father(x, z) & father(y, z)) | (exists z: mother(x, z) & mother(y, z)).
forall x: forall y: ~(exists z: mother(x, z) & mother(y, z)) | (exists z: father(x, z) & father(y, z)).

# Nobody is their own ancestor.
{_NO_CYCLES}

# A couple are not siblings, neither is a sibling of a parent of the other, and they are not cousins.
{_COUPLE} ~(exists z: father(x, z) & father(y, z)).
{_COUPLE} ~(exists p: (father(x, p) | mother(x, p)) & (exists z: father(p, z) & father(y, z))).
{_COUPLE} ~(exists q: (father(y, q) | mother(y, q)) & (exists z: father(x, z) & father(q, z))).
{_COUPLE} ~(exists p: (father(x, p) | mother(x, p)) & (exists q: (father(y, q) | mother(y, q))
    & (exists z: father(p, z) & father(q, z)))).
"""

GRAPH_LAWS = """
# Edges have no direction and lead to another node.
forall x: ~edge(x, x).
forall x: forall y: ~edge(x, y) | edge(y, x).
"""

COLOUR_LAWS = """
# Every node has exactly one colour.
forall x: red(x) | green(x) | blue(x) | yellow(x).
forall x: ~(red(x) & green(x)) & ~(red(x) & blue(x)) & ~(red(x) & yellow(x)).
forall x: ~(green(x) & blue(x)) & ~(green(x) & yellow(x)) & ~(blue(x) & yellow(x)).
"""

NEIGHBOUR_LAWS = """
# Where there is another node, every node has a neighbour.
forall x: forall y != x: exists z: edge(x, z).
"""
