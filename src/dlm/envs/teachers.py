"""Programs written by hand that act well: to learn from, and to compare with."""

from __future__ import annotations

from importlib.resources import files

from dlm.errors import UnknownTaskError
from dlm.logic.syntax import Program
from dlm.logic.text import parse_program

__all__ = ["get_teacher", "teacher_names"]


def teacher_names() -> tuple[str, ...]:
    """The names of the hand-written programs; one that bears a domain's name is a good teacher for it."""
    folder = files("dlm.envs") / "programs"
    return tuple(sorted(entry.name.removesuffix(".dlm") for entry in folder.iterdir() if entry.name.endswith(".dlm")))


def get_teacher(name: str) -> Program:
    """The hand-written program of that name, such as ``blocksworld`` (``rl/blocksworld`` is understood too)."""
    name = name.removeprefix("rl/")
    if name not in teacher_names():
        raise UnknownTaskError(f"there is no teacher {name!r}; there are {', '.join(teacher_names())}")
    return parse_program((files("dlm.envs") / "programs" / f"{name}.dlm").read_text(encoding="utf-8"))
