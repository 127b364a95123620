"""The command line: one file a verb."""

from dlm.cli.app import main

__all__ = ["main"]
