"""Markdown: what a person reads, as a Markdown reader takes it."""

from __future__ import annotations

from hypothesis import given
from markdown_it import MarkdownIt
from markdown_it.token import Token

from dlm.export.identifiers import printable
from dlm.export.markdown import export_markdown
from dlm.logic import Program, parse_program
from dlm.logic.syntax import atoms
from dlm.logic.text import format_name
from strategies import programs, signatures

SECTION = """\
## `grandparent(x, y)`

1. `parent(x, y)` holds if `father(x, y)` or `mother(x, y)`.

   `parent(x, y) ← father(x, y) ∨ mother(x, y)`

2. `grandparent(x, y)` holds if `x` is not `y` and (there is a `z` other than `x` and `y` such that `parent(x, z)` and \
`parent(z, y)`) and (for every `z` other than `x`, not `n`).

   `grandparent(x, y) ← (x ≠ y) ∧ (∃z ∉ {x, y}: parent(x, z) ∧ parent(z, y)) ∧ (∀z ≠ x: ¬n)`

Given:

- `father`, of 2 objects
- `mother`, of 2 objects
- `n`, true or false

Size: 2 definitions, 6 literals, 2 quantifiers, 3 inequalities.
"""


def test_section() -> None:
    program = parse_program(
        "parent(x, y) :- father(x, y) | mother(x, y)."
        "grandparent(x, y) :- x != y & (exists z != x, y: parent(x, z) & parent(z, y)) & (forall z != x: ~n())."
    )
    assert export_markdown(program) == SECTION


LISTED = """\
## `t(x)`

1. `d(x)` holds if `a(x)` or `b(x)`.

   `d(x) ← a(x) ∨ b(x)`

2. `t(x)` is decided by the first of these rules that is true of any different objects:

   1. `d(x)`.

      `d(x)`

   2. Else not `a(x)`.

      `¬a(x)`

Given:

- `a`, of 1 object
- `b`, of 1 object

Size: 2 definitions, 2 rules, 4 literals, 0 quantifiers, 0 inequalities.
"""


def test_section_of_a_decision_list() -> None:
    program = parse_program("d(x) :- a(x) | b(x). t(x) :- 1. d(x) 2. else ~a(x).")
    assert export_markdown(program) == LISTED
    tokens = MarkdownIt().parse(LISTED)
    assert sum(token.type == "ordered_list_open" for token in tokens) == 2


def inline(tokens: list[Token]) -> list[Token]:
    return [child for token in tokens for child in token.children or ()]


@given(programs(signatures(odd_names=True), odd_names=True, target="` `` <b> *a* [x](y) | &amp; \\`"))
def test_names_are_data(program: Program) -> None:
    tokens = MarkdownIt().parse(export_markdown(program))
    assert sum(token.type == "heading_open" for token in tokens) == 1
    assert sum(token.type == "ordered_list_open" for token in tokens) == 1
    assert {token.type for token in inline(tokens)} == {"text", "code_inline"}
    codes = "\n".join(token.content for token in inline(tokens) if token.type == "code_inline")
    for definition in program.definitions:
        for name in (definition.name, *(atom.predicate for atom in atoms(definition.body))):
            assert printable(format_name(name)) in codes
    words = "".join(token.content for token in inline(tokens) if token.type == "text")
    assert words.isascii(), "names and symbols are code, the rest is plain"


def test_rules_are_numbered_on() -> None:
    text = "".join(f"d{i}(x) :- a(x).\n" for i in range(12))
    tokens = MarkdownIt().parse(export_markdown(parse_program(text)))
    assert sum(token.type == "list_item_open" for token in tokens) == 12 + 1
