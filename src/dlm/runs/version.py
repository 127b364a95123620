"""Which version of this code is running."""

from __future__ import annotations

import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

__all__ = ["code_version"]


@cache
def code_version() -> str:
    """The commit of this code if it is a checkout, else the version that is installed."""
    here = Path(__file__).parents[1]
    command = ["git", "-C", str(here), "log", "-1", "--format=%h", "--", "."]
    try:
        found = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        found = ""
    try:
        return found or version("dlm")
    except PackageNotFoundError:
        return "unknown"
