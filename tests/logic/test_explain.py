"""Explanations: true to the reference interpreter, resting on what they say, with repairs that repair."""

import json
from collections.abc import Iterable
from itertools import combinations, product
from random import Random
from typing import Any

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
from strategies import ODD_NAMES, programs_with_structures, signatures

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


@given(programs_with_structures(max_size=4), st.data(), st.integers(0, 2**32))
@settings(max_examples=120, deadline=None)
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
@given(case=programs_with_structures({"a": 2, "b": 1, "n": 0}, max_size=3, max_definitions=3), data=st.data())
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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
