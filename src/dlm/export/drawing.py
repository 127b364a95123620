"""How a program's predicates are built, as a graph; and that graph for Graphviz (DOT) and for Mermaid.

Inputs are boxes, definitions are round, the target stands out. An arrow leads from a predicate to the definition that
uses it; its label says inside of what: `exists and not` is a negated part of a conjunction under a quantifier.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from dlm.export.identifiers import printable
from dlm.logic.comparison import comparison_of
from dlm.logic.syntax import And, Atom, Definition, Exists, Forall, Formula, Not, Or, Program, children
from dlm.logic.text import format_formula, format_name

__all__ = ["Drawing", "Edge", "Vertex", "draw", "export_dot", "export_mermaid"]


class Vertex(NamedTuple):
    """A predicate."""

    label: str
    kind: Literal["input", "definition", "target"]


class Edge(NamedTuple):
    """A predicate that is used by a definition. The ends are places in `Drawing.nodes`."""

    source: int
    target: int
    label: str


@dataclass(frozen=True)
class Drawing:
    """Predicates and their uses; inputs first, the target last."""

    nodes: tuple[Vertex, ...]
    edges: tuple[Edge, ...]


def draw(program: Program) -> Drawing:
    """The graph of how a program's predicates are built."""
    nodes = [Vertex(printable(_input(name, arity)), "input") for name, arity in program.inputs.items()]
    places = {name: place for place, name in enumerate(program.inputs)}
    edges: list[Edge] = []
    for definition in program.definitions:
        places[definition.name] = place = len(nodes)
        kind: Literal["definition", "target"] = "target" if definition is program.target else "definition"
        nodes.append(Vertex(printable(format_formula(Atom(definition.name, definition.parameters))), kind))
        edges += [Edge(places[used], place, ", ".join(how)) for used, how in _uses(definition).items()]
    return Drawing(tuple(nodes), tuple(edges))


def _input(name: str, arity: int) -> str:
    comparison = comparison_of(name)
    return comparison.text(("x", "y")) if comparison else f"{format_name(name)}/{arity}"


def _uses(definition: Definition) -> dict[str, list[str]]:
    """For each predicate in a body the ways it is used, each once."""
    found: dict[str, list[str]] = {}
    for predicate, way in _ways(definition.body, ()):
        ways = found.setdefault(predicate, [])
        text = " ".join(way)
        if text not in ways:
            ways.append(text)
    return found


def _ways(formula: Formula, inside: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The predicates of a formula, each with the operators around it, outermost first."""
    if isinstance(formula, Atom):
        yield formula.predicate, inside
    around = (*inside, *_word(formula))
    if isinstance(formula, Exists | Forall) and inside[-1:] == _word(formula):
        around = inside  # two quantifiers of a kind, one right inside the other, are one to the eye
    for child in children(formula):
        yield from _ways(child, around)


def _word(formula: Formula) -> tuple[str, ...]:
    match formula:
        case Not():
            return ("not",)
        case And():
            return ("and",)
        case Or():
            return ("or",)
        case Exists():
            return ("exists",)
        case Forall():
            return ("forall",)
        case _:
            return ()


# --------------------------------------------------------------------------- Graphviz

_DOT_STYLE = {
    "input": "shape=box",
    "definition": "shape=ellipse",
    "target": "shape=ellipse, peripheries=2",
}


def export_dot(program: Program) -> str:
    """The graph of a program as a drawing for Graphviz."""
    drawing = draw(program)
    lines = ["digraph program {", "  rankdir=LR;"]
    lines += [f"  n{i} [label={_dot(node.label)}, {_DOT_STYLE[node.kind]}];" for i, node in enumerate(drawing.nodes)]
    lines += [f"  n{edge.source} -> n{edge.target} [label={_dot(edge.label)}];" for edge in drawing.edges]
    return "\n".join([*lines, "}", ""])


def _dot(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


# --------------------------------------------------------------------------- Mermaid

_MERMAID_SHAPE = {"input": ("[", "]"), "definition": ("([", "])"), "target": ("[[", "]]")}
_MERMAID_PLAIN = frozenset(" ()/,._")


def export_mermaid(program: Program) -> str:
    """The graph of a program as a Mermaid flowchart, which many web pages of Markdown draw."""
    drawing = draw(program)
    lines = ["flowchart LR"]
    for i, node in enumerate(drawing.nodes):
        left, right = _MERMAID_SHAPE[node.kind]
        lines.append(f"  n{i}{left}{_mermaid(node.label)}{right}")
    for edge in drawing.edges:
        label = f"|{_mermaid(edge.label)}|" if edge.label else ""
        lines.append(f"  n{edge.source} -->{label} n{edge.target}")
    return "\n".join([*lines, ""])


def _mermaid(text: str) -> str:
    """A quoted label; what could mean something to Mermaid, HTML or Markdown is written by its number."""
    safe = (
        character if character.isalnum() or character in _MERMAID_PLAIN else f"#{ord(character)};" for character in text
    )
    return f'"{"".join(safe)}"'
