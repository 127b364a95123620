"""Imports point one way only, along the list in docs/architecture.md, and torch is loaded by those who use it."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "dlm"

LAYERS = (
    "errors",
    "plugins",
    "seeds",
    "logic",
    "data",
    "space",
    "engines",
    "export",
    "prove",
    "machine",
    "tasks",
    "envs",
    "programs",
    "problems",
    "runs",
    "learning",
    "policies",
    "api",
    "report",
    "sweeps",
    "cli",
)
"""A layer imports from those before it and from itself. `dlm/__init__.py` and `dlm/__main__.py` stand above all."""


def layer_of(module: str) -> str | None:
    """The layer of a module's dotted name, or None for the package itself."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else None


def imported_modules(path: Path) -> set[str]:
    """The modules of this package that a file imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute here"
            assert node.module is not None
            known = node.module == "dlm"
            found |= {f"dlm.{alias.name}" for alias in node.names} if known else {node.module}
    return {name for name in found if name.split(".")[0] == "dlm"}


def sources() -> list[Path]:
    return [path for path in sorted(SOURCE.rglob("*.py")) if path.parent != SOURCE or path.stem in LAYERS]


def test_every_module_has_a_layer() -> None:
    names = {path.relative_to(SOURCE).parts[0].removesuffix(".py") for path in SOURCE.rglob("*.py")}
    assert names - {"__init__", "__main__"} == set(LAYERS)


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_upwards(path: Path) -> None:
    own = LAYERS.index(path.relative_to(SOURCE).parts[0].removesuffix(".py"))
    for name in imported_modules(path):
        layer = layer_of(name)
        if layer is None or layer not in LAYERS:
            assert LAYERS[own] == "cli", f"{path} imports {name}, the package itself: import from the module instead"
            continue
        assert LAYERS.index(layer) <= own, f"{path} imports {name}, which is below it"


def test_the_documentation_has_the_same_list() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    (listed,) = re.findall(r"^errors → .*$", text, flags=re.MULTILINE)
    assert tuple(listed.split(" → ")) == LAYERS


@pytest.mark.parametrize("module", ["dlm", "dlm.logic", "dlm.cli", "dlm.learning.portfolio"])
def test_torch_is_loaded_only_by_those_who_use_it(module: str) -> None:
    code = f"import sys, {module}; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.parametrize("module", ["dlm.cli.inspect", "dlm.cli.learn", "dlm.cli.run", "dlm.api.data"])
def test_one_s_own_data_need_no_worlds_to_act_in(module: str) -> None:
    code = f"import sys, {module}; sys.exit(any(name in sys.modules for name in ('gymnasium', 'dlm.policies.policy')))"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_logic_needs_nothing_but_python() -> None:
    for path in (SOURCE / "logic").rglob("*.py"):
        roots = {
            name.split(".")[0]
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            for name in (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else []
            )
        }
        assert roots <= {"dlm", *sys.stdlib_module_names}, path
