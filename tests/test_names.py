"""A name means one thing in the whole project."""

import ast
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "dlm"


def test_a_class_name_is_used_once() -> None:
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(str(path.relative_to(SOURCE)))
    assert len(found) > 100
    assert {name: paths for name, paths in found.items() if len(paths) > 1} == {}


LARGE = {
    "Task": "public, and what a user writes down in one place",
    "UnitPass": "the tensors of one unit and their views, each made once; groups would only hide them",
    "CompiledUnit": "the same, and their addresses",
}


def test_a_class_has_at_most_fifteen_fields_and_attributes() -> None:
    large = {}
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                fields = {part.target.id for part in node.body if isinstance(part, ast.AnnAssign) and _is_name(part)}
                own = {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute) and _is_set(part)}
                if len(fields | own) > 15:
                    large[node.name] = sorted(fields | own)
    assert large.keys() == LARGE.keys(), large


def _is_name(part: ast.AnnAssign) -> bool:
    return isinstance(part.target, ast.Name)


def _is_set(part: ast.Attribute) -> bool:
    return isinstance(part.ctx, ast.Store) and isinstance(part.value, ast.Name) and part.value.id == "self"
