"""Programs and explanations as HTML: rules typeset, proofs as trees to unfold. Every name is escaped here."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape

from dlm.export.identifiers import printable
from dlm.export.prose import Symbols
from dlm.logic.comparison import Comparison
from dlm.logic.explain.explain import Explanation
from dlm.logic.formulas import compared, disjuncts
from dlm.logic.lists import rules_of
from dlm.logic.syntax import Atom, Definition, Program

__all__ = ["ProofLine", "TypesetProgram", "proof_of", "typeset_program"]

MOST_LINES = 200
"""Of a proof; what is further down is left out."""


class _Html(Symbols):
    """The symbols of logic, with predicates, variables and connectives marked."""

    conjunction, disjunction = ' <span class="op">∧</span> ', ' <span class="op">∨</span> '
    sign = '<span class="op">¬</span>'
    exists, forall = '<span class="op">∃</span>{}: {}', '<span class="op">∀</span>{}: {}'

    def name(self, name: str) -> str:
        return f"<var>{escape(super().name(name))}</var>"

    def atom(self, atom: Atom) -> str:
        comparison = compared(atom)
        if comparison is not None:
            return self.comparison(comparison, atom.args)
        inside = f"({', '.join(map(self.name, atom.args))})" if atom.args else ""
        return f'<span class="predicate">{escape(Symbols.name(self, atom.predicate))}</span>{inside}'

    def comparison(self, comparison: Comparison, args: tuple[str, ...], operator: str | None = None) -> str:
        return f'<span class="comparison">{escape(super().comparison(comparison, args, operator))}</span>'


_HTML = _Html()


@dataclass(frozen=True)
class TypesetProgram:
    """The definitions that the target uses, the target's head with what all its rules share, and its rules."""

    definitions: tuple[str, ...]
    head: str
    shared: str
    rules: tuple[str, ...]
    listed: bool
    """Whether the rules are a decision list: the first that is true of anything decides."""


def typeset_program(program: Program) -> TypesetProgram:
    """A program as HTML."""
    listed, target = rules_of(program), program.target
    before = program.definitions[:-1] if listed is None else listed.definitions
    rules = disjuncts(target.body) if listed is None else listed.own
    shared = [] if listed is None else [_HTML.operand(part) for part in listed.shared]
    return TypesetProgram(
        tuple(map(_definition, before)),
        _HTML.atom(Atom(target.name, target.parameters)),
        _HTML.conjunction.join(shared),
        tuple(map(_HTML.formula, rules)),
        listed is not None,
    )


def _definition(definition: Definition) -> str:
    head = _HTML.atom(Atom(definition.name, definition.parameters))
    return f'{head} <span class="op">←</span> {_HTML.formula(definition.body)}'


@dataclass
class ProofLine:
    """A line of an explanation, and the lines that it rests on."""

    text: str
    parts: list[ProofLine] = field(default_factory=list)


def proof_of(explanation: Explanation) -> list[ProofLine]:
    """The words of an explanation as a tree: what stands further in rests below what stands before it."""
    lines = str(explanation).splitlines()
    root = ProofLine("")
    path = [root]
    for line in lines[:MOST_LINES]:
        depth = (len(line) - len(line.lstrip(" "))) // 2
        found = ProofLine(printable(line.strip()))
        del path[min(depth, len(path) - 1) + 1 :]
        path[-1].parts.append(found)
        path.append(found)
    if len(lines) > MOST_LINES:
        root.parts.append(ProofLine(f"{len(lines) - MOST_LINES} more lines are left out; `dlm explain` prints them"))
    return root.parts
