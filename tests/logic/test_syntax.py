import pytest
from hypothesis import given

from dlm.errors import ProgramError
from dlm.logic import FALSE, TRUE, And, Atom, Definition, Equal, Exists, Forall, Formula, Not, Or, Program
from dlm.logic.formulas import conjunction, disjunction, free_variables, map_children, rename, rename_definitions
from dlm.logic.syntax import atoms, children, literals, measure, subformulas
from strategies import programs

A = Atom("a", ("x", "y"))
B = Atom("b", ("x",))


def test_junctions_of_any_length() -> None:
    assert conjunction(()) == TRUE
    assert disjunction(()) == FALSE
    assert conjunction((A,)) == disjunction((A,)) == A
    assert conjunction((A, B)) == And((A, B))
    assert disjunction((A, B)) == Or((A, B))


@pytest.mark.parametrize("connective", [And, Or])
def test_a_junction_needs_two_parts(connective: type[And] | type[Or]) -> None:
    with pytest.raises(ProgramError, match="two parts or more"):
        connective((A,))


def test_parts_of_a_formula() -> None:
    formula = Exists("z", ("x",), And((Not(Atom("a", ("x", "z"))), Equal("y", "z"), B)))
    assert children(formula) == (formula.body,)
    assert [type(part).__name__ for part in subformulas(formula)] == ["Exists", "And", "Not", "Atom", "Equal", "Atom"]
    assert list(atoms(formula)) == [Atom("a", ("x", "z")), B]
    assert free_variables(formula) == {"x", "y"}
    assert literals(formula) == 3
    assert measure(formula) == (3, 1, 1)


def test_a_variable_that_a_quantifier_only_differs_from_is_free() -> None:
    assert free_variables(Forall("z", ("x",), TRUE)) == {"x"}


@given(programs())
def test_map_children_with_the_identity_changes_nothing(program: Program) -> None:
    for definition in program.definitions:
        assert map_children(definition.body, lambda part: part) == definition.body
        assert rename(definition.body, {}) == definition.body


@pytest.mark.parametrize("quantified", [Exists, Forall])
def test_rename_reaches_bound_variables_and_joins_distinct_ones(quantified: type[Exists] | type[Forall]) -> None:
    formula = quantified("z", ("x", "y"), Or((Atom("a", ("x", "z")), Equal("y", "z"))))
    assert rename(formula, {"z": "w", "y": "x"}) == quantified(
        "w", ("x",), Or((Atom("a", ("x", "w")), Equal("x", "w")))
    )


@given(programs())
def test_renamed_predicates_keep_the_inputs_and_can_be_renamed_back(program: Program) -> None:
    names = {definition.name: f"{definition.name}_renamed" for definition in program.definitions}
    renamed = Program(rename_definitions(program.definitions, names))
    assert renamed.inputs == program.inputs
    assert [definition.name for definition in renamed.definitions] == list(names.values())
    assert rename_definitions(renamed.definitions, {new: old for old, new in names.items()}) == program.definitions


@pytest.mark.parametrize(
    ("parameters", "body", "message"),
    [
        (("x", "x"), TRUE, "must differ from each other"),
        (("x",), A, "'y' is neither a parameter nor bound"),
        ((), Equal("x", "x"), "'x' is neither a parameter nor bound"),
        (("x",), Exists("x", (), TRUE), "'x' is already in use"),
        (("x",), Forall("z", (), Exists("z", (), TRUE)), "'z' is already in use"),
        (("x",), Exists("z", ("x", "x"), TRUE), "told twice"),
        (("x",), Exists("z", ("z",), TRUE), "'z' is neither a parameter nor bound"),
        (("x",), And((Exists("z", (), TRUE), Atom("b", ("z",)))), "'z' is neither a parameter nor bound"),
    ],
)
def test_definition_refuses(parameters: tuple[str, ...], body: Formula, message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        Definition("p", parameters, body)


def test_sibling_quantifiers_may_share_a_variable() -> None:
    body = And((Exists("z", (), Atom("b", ("z",))), Forall("z", (), Atom("b", ("z",)))))
    assert Definition("p", (), body).arity == 0


def test_program_knows_its_target_inputs_and_size() -> None:
    program = Program(
        (
            Definition("p", ("x",), Exists("z", ("x",), Atom("a", ("x", "z")))),
            Definition("q", ("x",), And((Atom("p", ("x",)), Not(B)))),
        )
    )
    assert program.target.name == "q"
    assert program.inputs == {"a": 2, "b": 1}
    assert program.literals == 3
    assert program.size == (3, 1, 1, 2)


@pytest.mark.parametrize(
    ("definitions", "message"),
    [
        ((), "at least one definition"),
        ((Definition("p", (), TRUE), Definition("p", (), FALSE)), "'p' is defined twice"),
        ((Definition("p", ("x",), Atom("p", ("x",))),), "no recursion"),
        ((Definition("p", (), Atom("q")), Definition("q", (), TRUE)), "uses 'q', which is not defined before"),
        (
            (Definition("p", ("x",), TRUE), Definition("q", ("x", "y"), Atom("p", ("x", "y")))),
            "'p' is used with 2 arguments in 'q' and with 1 before",
        ),
        ((Definition("q", ("x", "y"), And((Atom("b", ("x",)), Atom("b", ("x", "y"))))),), "'b' is used with 2"),
    ],
)
def test_program_refuses(definitions: tuple[Definition, ...], message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        Program(definitions)


def test_a_formula_is_hashed_once_however_often_it_is_asked_for() -> None:
    class Counted(str):
        asked = 0

        def __hash__(self) -> int:
            Counted.asked += 1
            return super().__hash__()

    formula: Formula = Atom(Counted("p"))
    levels = [formula := Not(Exists("z", (), And((formula, B)))) for _ in range(40)]
    assert len({*levels, *levels}) == 40
    assert Counted.asked == 1
    assert hash(Exists("z", (), B)) == hash(Exists("z", (), B))
