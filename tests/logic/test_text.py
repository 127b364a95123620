import pytest
from hypothesis import given

from dlm.errors import ParseError
from dlm.logic import (
    And,
    Atom,
    Equal,
    Formula,
    Not,
    Or,
    Program,
    format_formula,
    parse_formula,
    parse_formulas,
    parse_program,
)
from dlm.logic.text import format_program
from strategies import ODD_NAMES, programs, signatures


@given(programs())
def test_text_reads_back_as_the_same_program(program: Program) -> None:
    assert parse_program(format_program(program)) == program


@given(programs(signatures(odd_names=True), odd_names=True, target="the target"))
def test_odd_names_read_back_as_the_same_program(program: Program) -> None:
    assert parse_program(format_program(program)) == program


@pytest.mark.parametrize("name", ODD_NAMES)
def test_any_name_reads_back(name: str) -> None:
    atom = Atom(name, (name,))
    text = format_formula(atom)
    assert "\n" not in text
    assert "\r" not in text
    assert parse_formula(text) == atom


A, B, C = Atom("a"), Atom("b"), Atom("c")


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (And((Or((Not(A), B)), C)), "(~a() | b()) & c()"),
        (Or((And((Not(A), B)), C)), "(~a() & b()) | c()"),
        (And((And((A, B)), C)), "(a() & b()) & c()"),
        (Not(And((A, B))), "~(a() & b())"),
        (Not(Not(A)), "~~a()"),
        (Not(Equal("x", "y")), "x != y"),
        (Not(Not(Equal("x", "y"))), "~(x != y)"),
        (And((Not(Equal("x", "y")), A)), "(x != y) & a()"),
    ],
)
def test_brackets_where_they_are_needed(formula: Formula, text: str) -> None:
    assert format_formula(formula) == text
    assert parse_formula(text) == formula


@pytest.mark.parametrize(
    "text",
    [
        "p() :- true.\n",
        "p(x, y) :- father(x, y) | mother(x, y).\nq(x, y) :- exists z != x, y: p(x, z) & p(z, y).\n",
        "p(x) :- (exists z: a(x, z)) & b(x).\n",
        "p(x) :- ~(forall z != x: exists w: a(z, w) | (z = w)).\n",
        "'has edge'('my x') :- b('my x') & 'it\\'s'('my x').\n",
    ],
)
def test_tidy_text_stays_as_it_is(text: str) -> None:
    assert format_program(parse_program(text)) == text


def test_spaces_comments_and_spare_brackets_do_not_matter() -> None:
    untidy = "# a comment\n p ( x,y ):-((a(x,y)))&\n\t b(x)|c(y) . # and another"
    assert format_program(parse_program(untidy)) == "p(x, y) :- (a(x, y) & b(x)) | c(y).\n"


def test_a_quantifier_reaches_as_far_as_it_can() -> None:
    assert parse_formula("a() & exists z: b(z) | c(z)") == parse_formula("a() & (exists z: (b(z) | c(z)))")


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("", 1, 1, "at least one definition"),
        ("# nothing\n", 2, 1, "at least one definition"),
        ("p(x)", 1, 5, "expected ':-', got 'end of text'"),
        ("p(x) :- a(x)", 1, 13, "expected '.'"),
        ("p(x) :- .", 1, 9, "expected a formula, got '.'"),
        ("p :- true.", 1, 3, "expected '('"),
        ("p(x,) :- true.", 1, 5, "expected a variable, got ')'"),
        ("p(x y) :- true.", 1, 5, "expected ')'"),
        ("p(x) :- a(x) &.", 1, 15, "expected a formula"),
        ("p(x) :- (a(x).", 1, 14, "expected ')'"),
        ("p(x) :- a(x)) .", 1, 13, "expected '.'"),
        ("p(x) :-\n  a(x) &\n  $b(x).", 3, 3, "unexpected character '$'"),
        ("p(x) :- a(x)!.", 1, 13, "unexpected character '!'"),
        ("p(x) :- 'a(x).", 1, 9, "a quoted name must end on its line"),
        ("p(x) :- 1a(x).", 1, 9, "expected a formula, got '1a'"),
        ("true(x) :- a(x).", 1, 1, "expected the name of a predicate to define, got 'true'"),
        ("p(x) :- exists exists: a(x).", 1, 16, "expected a variable to quantify"),
        ("p(x) :- exists z a(z).", 1, 18, "expected ':'"),
        ("p(x) :- exists z !=: a(z).", 1, 20, "expected a variable"),
        ("p(x) :- x = .", 1, 13, "expected a variable"),
        ("p(x) :- a(y).", 1, 1, "'y' is neither a parameter nor bound"),
        ("p(x) :- a(x).\nq(x) :- exists x: p(x).", 2, 1, "'x' is already in use"),
        ("p(x) :- a(x).\n\np(x) :- b(x).", 3, 1, "'p' is defined twice"),
        ("p(x) :- a(x).\nq(x) :- p(x, x).", 2, 1, "'p' is used with 2 arguments"),
        ("p(x) :- p(x).", 1, 1, "no recursion"),
        ("p(x) :- " + "~" * 200 + "a(x).", 1, 109, "inside each other"),
        ("p(x) :- " + "(" * 200 + "a(x).", 1, 109, "inside each other"),
    ],
)
def test_parse_error_says_where(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_program(text, origin="family.dlm")
    error = caught.value
    assert (error.line, error.column) == (line, column)
    first, source, caret = str(error).split("\n")
    assert first.startswith(f"family.dlm:{line}:{column}: ")
    assert message in first
    assert source == "  " + text.split("\n")[line - 1]
    assert caret == "  " + " " * (column - 1) + "^"


def test_the_caret_stays_below_its_place_after_tabs() -> None:
    with pytest.raises(ParseError) as caught:
        parse_program("p(x) :-\n\ta(x) $")
    assert str(caught.value).split("\n")[1:] == ["  \ta(x) $", "  \t     ^"]


def test_a_formula_ends_where_the_text_ends() -> None:
    with pytest.raises(ParseError, match="expected the end of the formula") as caught:
        parse_formula("a(x) b(x)")
    assert caught.value.column == 6


def test_formulas_end_with_a_full_stop() -> None:
    text = "# nobody is their own mother\nforall x: ~mother(x, x).  true."
    assert parse_formulas(text) == (parse_formula("forall x: ~mother(x, x)"), parse_formula("true"))
    assert parse_formulas(" # nothing") == ()
    with pytest.raises(ParseError, match=r"axioms\.dlm:1:5: expected '\.', got 'end of text'"):
        parse_formulas("true", origin="axioms.dlm")


def test_only_as_much_is_read_as_is_right() -> None:
    """A text may be long, and what follows a mistake is not looked at: here a character that no text may have."""
    for opening in ("(", "~", "exists z: "):
        with pytest.raises(ParseError, match="more than 100 brackets and formulas inside each other"):
            parse_program("p(x) :- " + opening * 1000 + "$")


def test_a_program_is_put_together_once_however_long_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    monkeypatch.setattr("dlm.logic.text.Program", lambda definitions: made.append(None) or Program(definitions))
    lines = [f"p{number}(x) :- a(x)." for number in range(1000)]
    for wrong, message in (("p500(x) :- b(x).", "defined twice"), ("q(x) :- q(x).", "no recursion")):
        made.clear()
        with pytest.raises(ParseError, match=rf"<text>:701:1: .*{message}"):
            parse_program("\n".join([*lines[:700], wrong, *lines[700:]]))
        assert len(made) == 1


def test_of_a_very_long_line_an_error_shows_what_is_around_its_place() -> None:
    with pytest.raises(ParseError) as caught:
        parse_program("p(x) :- " + "a(x) & " * 10_000 + "a(y) $" + " | a(x)" * 10_000)
    first, source, caret = str(caught.value).split("\n")
    assert first == "<text>:1:70014: unexpected character '$'"
    assert len(source) < 1100
    assert source[caret.index("^")] == "$"
