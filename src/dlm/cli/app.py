"""The `dlm` command: its verbs, and what becomes of errors.

Exit codes: 0 for success (of `learn`: a verified program), 2 for an error, 3 for a program that is not right
everywhere, 130 for a second Ctrl-C (of `run`: for the first).
"""

from __future__ import annotations

import os
import signal
import sys
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

import dlm
from dlm.errors import DlmError

__all__ = ["app", "main"]

ERROR = 2
INTERRUPTED = 130

VERBS = (
    *("tasks", "inspect", "init", "learn", "test", "play", "show", "report", "run", "check", "explain", "export"),
    *("generate", "prove", "sweep", "reproduce"),
)


class _Verb(TyperCommand):
    """A command whose help does not show Python's types: options say what they take, and --help takes nothing."""

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
            raise typer.Exit(INTERRUPTED) from None

    def get_params(self, ctx: typer.Context) -> list[Any]:  # type: ignore[override]
        return _without_types(super().get_params(ctx))


class _ListVerb(_Verb):
    """A verb with options that take several values."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        from dlm.cli.sweep_options import spread_values

        return super().parse_args(ctx, spread_values(self, args))


class _Verbs(TyperGroup):
    """The command that has them all. A verb is loaded when it is asked for."""

    def get_params(self, ctx: typer.Context) -> list[Any]:  # type: ignore[override]
        return _without_types(super().get_params(ctx))

    def list_commands(self, ctx: object) -> list[str]:  # noqa: ARG002
        return list(VERBS)

    def get_command(self, ctx: object, cmd_name: str) -> Any:  # noqa: ARG002
        if cmd_name in VERBS and cmd_name not in self.commands:
            self.commands[cmd_name] = _command(cmd_name)
        return self.commands.get(cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0] not in VERBS:
            for name in VERBS:  # one of them may have been meant
                self.get_command(ctx, name)
        return super().resolve_command(ctx, args)


def _command(name: str) -> Any:
    """The command of a verb, the function of that name in its file."""
    alone = typer.Typer(add_completion=False)
    verb = getattr(import_module(f"dlm.cli.{name}"), name)
    alone.command(cls=_ListVerb if name in ("sweep", "reproduce") else _Verb)(verb)
    return typer.main.get_command(alone)


def _without_types(params: list[Any]) -> list[Any]:
    for param in params:
        if param.metavar is None or param.param_type_name == "argument":  # an argument's metavar is its name
            param.display_type_rich = lambda ctx: None  # noqa: ARG005
    return params


app = typer.Typer(
    name="dlm",
    cls=_Verbs,
    help="Learn readable, verified first-order logic programs from relational examples.",
    epilog="Exit codes: 0 verified or all right, 2 error, 3 best so far but not right everywhere, or not equal.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"dlm {dlm.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", metavar="", callback=_print_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Learn readable, verified first-order logic programs from relational examples."""


def main() -> None:
    """Run the command line. Whatever a user can cause ends in one message, not in a traceback."""
    # Whoever ends a command politely means what Ctrl-C means: a run ends with the best program so far. A script's
    # background commands begin with Ctrl-C ignored; a signal that is sent to one is meant for it all the same.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        try:
            app(prog_name="dlm")
        finally:
            sys.stdout.flush()
    except DlmError as error:
        _fail(str(error))
    except MemoryError:
        _fail("out of memory; use fewer objects or instances, or a smaller machine")
    except OSError as error:
        # What is left in the buffer cannot be written either; Python would complain about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        _fail(f"cannot write the output: {error.strerror or error}")


def _fail(message: str) -> NoReturn:
    print(f"error: {message}", file=sys.stderr)
    sys.exit(ERROR)
