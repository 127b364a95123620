"""Programs in files and run folders."""

from __future__ import annotations

from pathlib import Path

from dlm.errors import RunError
from dlm.logic.syntax import Program
from dlm.logic.text import parse_program

__all__ = ["read_program"]


def read_program(source: str | Path) -> Program:
    """The program in a file, as text or as JSON, or the best one of a run folder."""
    path = Path(source)
    if path.is_dir():
        if not (path / "settings.json").is_file():
            raise RunError(f"{path} is not a run folder: it has no settings.json")
        if not (path / "program.dlm").is_file() and (path / "soft.safetensors").is_file():
            raise RunError(f"the run {path} has learned a soft model, not a program; try it with `dlm test {path}`")
        if not (path / "program.dlm").is_file():
            raise RunError(f"the run {path} has no program yet; continue it with `dlm learn --resume {path}`")
        path = path / "program.dlm"
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise RunError(f"cannot read {path}: {error.strerror}; give a program file or a run folder") from None
    except UnicodeDecodeError:
        raise RunError(f"{path} is not text; give a program file or a run folder") from None
    # No program text starts with a brace.
    if path.suffix == ".json" or text.lstrip().startswith("{"):
        from dlm.export.json import parse_json

        return parse_json(text, origin=str(path))
    return parse_program(text, origin=str(path))
