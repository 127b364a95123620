"""What most verbs take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["JsonOption", "ProgramArgument"]

ProgramArgument = Annotated[Path, typer.Argument(metavar="PROGRAM|RUN", help="A program file or a run folder.")]
JsonOption = Annotated[bool, typer.Option("--json", metavar="", help="Print one JSON object and nothing else.")]
