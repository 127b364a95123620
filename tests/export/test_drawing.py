"""Drawings: nodes and edges, and that no name can break DOT or Mermaid."""

from __future__ import annotations

import re

from hypothesis import given

from dlm.export.drawing import Drawing, Edge, Vertex, draw, export_dot, export_mermaid
from dlm.logic import Program, parse_program
from strategies import programs, signatures

PROGRAM = parse_program(
    "parent(x, y) :- father(x, y) | mother(x, y)."
    "orphan(x) :- forall y: forall z: ~parent(x, y) & ~parent(x, z)."
    "t(x) :- father(x, x) & ~~(exists y: orphan(y) & ~parent(x, y)) & (exists y: parent(x, y))."
)

QUOTED = r'"((?:[^"\\]|\\.)*)"'
DOT_NODE = re.compile(rf"  n(\d+) \[label={QUOTED}, shape=(box|ellipse)(, peripheries=2)?\];")
DOT_EDGE = re.compile(rf"  n(\d+) -> n(\d+) \[label={QUOTED}\];")
MERMAID_NODE = re.compile(r'  n(\d+)(?:\["([^"]*)"\]|\(\["([^"]*)"\]\)|\[\["([^"]*)"\]\])')
MERMAID_EDGE = re.compile(r'  n(\d+) -->(?:\|"([^"]*)"\|)? n(\d+)')


def test_graph() -> None:
    assert draw(PROGRAM) == Drawing(
        (
            Vertex("father/2", "input"),
            Vertex("mother/2", "input"),
            Vertex("parent(x, y)", "definition"),
            Vertex("orphan(x)", "definition"),
            Vertex("t(x)", "target"),
        ),
        (
            Edge(0, 2, "or"),
            Edge(1, 2, "or"),
            Edge(2, 3, "forall and not"),
            Edge(0, 4, "and"),
            Edge(3, 4, "and not not exists and"),
            Edge(2, 4, "and not not exists and not, and exists"),
        ),
    )


def read_dot(text: str) -> Drawing:
    """The graph in what `export_dot` wrote, by a reader that knows DOT's quotes."""
    first, direction, *lines, last, empty = text.split("\n")
    assert (first, direction, last, empty) == ("digraph program {", "  rankdir=LR;", "}", "")
    nodes, edges = [], []
    for line in lines:
        if match := DOT_NODE.fullmatch(line):
            assert int(match[1]) == len(nodes)
            kind = "input" if match[3] == "box" else "target" if match[4] else "definition"
            nodes.append(Vertex(re.sub(r"\\(.)", r"\1", match[2]), kind))  # type: ignore[arg-type]
        else:
            found = DOT_EDGE.fullmatch(line)
            assert found, line
            edges.append(Edge(int(found[1]), int(found[2]), re.sub(r"\\(.)", r"\1", found[3])))
    return Drawing(tuple(nodes), tuple(edges))


def read_mermaid(text: str) -> Drawing:
    """The graph in what `export_mermaid` wrote, by a reader that knows Mermaid's entities."""

    def plain(label: str) -> str:
        assert not set(re.sub(r"#\d+;", "", label)) & set("\"#;&<>`*[]{}|\\'")
        return re.sub(r"#(\d+);", lambda match: chr(int(match[1])), label)

    first, *lines, empty = text.split("\n")
    assert (first, empty) == ("flowchart LR", "")
    nodes, edges = [], []
    for line in lines:
        if match := MERMAID_NODE.fullmatch(line):
            assert int(match[1]) == len(nodes)
            (number,) = (i for i in (2, 3, 4) if match[i] is not None)
            nodes.append(Vertex(plain(match[number]), ("input", "definition", "target")[number - 2]))  # type: ignore[arg-type]
        else:
            found = MERMAID_EDGE.fullmatch(line)
            assert found, line
            edges.append(Edge(int(found[1]), int(found[3]), plain(found[2] or "")))
    return Drawing(tuple(nodes), tuple(edges))


@given(programs(signatures(odd_names=True), odd_names=True, target='"]; <b> `end` #quot; {|} \\N \\"'))
def test_both_forms_carry_the_graph_whatever_the_names(program: Program) -> None:
    drawing = draw(program)
    assert len(drawing.nodes) == len(program.inputs) + len(program.definitions)
    assert all(edge.source < edge.target for edge in drawing.edges)
    assert read_dot(export_dot(program)) == drawing
    assert read_mermaid(export_mermaid(program)) == drawing


def test_what_they_look_like() -> None:
    program = parse_program("t(x) :- exists y: 'has edge'(x, y).")
    assert export_dot(program) == (
        "digraph program {\n"
        "  rankdir=LR;\n"
        "  n0 [label=\"'has edge'/2\", shape=box];\n"
        '  n1 [label="t(x)", shape=ellipse, peripheries=2];\n'
        '  n0 -> n1 [label="exists"];\n'
        "}\n"
    )
    assert export_mermaid(program) == (
        'flowchart LR\n  n0["#39;has edge#39;/2"]\n  n1[["t(x)"]]\n  n0 -->|"exists"| n1\n'
    )
