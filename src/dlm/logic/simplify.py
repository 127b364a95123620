"""Program -> Program, meaning preserved and never larger."""

from __future__ import annotations

from dlm.logic.syntax import Program

__all__ = ["simplify"]


def simplify(program: Program) -> Program:
    """A program with the same target that is easier to read."""
    return program
