"""`dlm init`: a dlm.toml for one's own data."""

from __future__ import annotations

from typing import Annotated

import typer

import dlm
from dlm.cli.data_options import DataArgument

__all__ = ["init"]


def init(
    path: DataArgument,
    force: Annotated[bool, typer.Option("--force", metavar="", help="Write it anew if there is one.")] = False,
) -> None:
    """Write PATH/dlm.toml, commented, with what was inferred of the data, to be edited."""
    written = dlm.init(path, force=force)
    print(f"wrote {written}")
    print(f"Next: edit it, then dlm inspect {path}")
