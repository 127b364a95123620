"""Every error a user can meet.

::

    DlmError                    base of all, exit code 2 on the command line
    ├── ProgramError            a program that breaks a rule of the language
    │   └── ParseError          program text that cannot be read: carries line, column and a caret
    ├── DataError               facts or examples that do not fit together
    ├── SettingsError           settings that are impossible or contradict each other
    ├── UnknownTaskError        a task name nobody knows; names the nearest ones
    ├── RunError                a run folder that is missing, damaged or of another version
    ├── PluginError             a plug-in of another package that cannot be used
    ├── ResourceError           not enough memory or disk for what was asked
    └── MissingExtraError       an optional part of dlm that is not installed; says how to install it

and `ProblemWarning`, of a problem that a run folder cannot keep for good.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path

__all__ = [
    "DataError",
    "DlmError",
    "MissingExtraError",
    "ParseError",
    "PluginError",
    "ProblemWarning",
    "ProgramError",
    "ResourceError",
    "RunError",
    "SettingsError",
    "UnknownTaskError",
    "asked_for",
    "did_you_mean",
    "nearest",
    "nearest_paths",
    "require_packages",
]

COMPARED = 10_000
"""Names that a misspelt one is compared with at most; with a million it would take half a minute."""


_SHOWN = 500
"""How many characters before and after a mistake an error shows."""


class DlmError(Exception):
    """Base of every error that `dlm` raises on purpose."""


class ProblemWarning(UserWarning):
    """A problem is saved by value, or cannot be saved."""


class ProgramError(DlmError):
    """A formula, definition or program that breaks a rule of the language.

    `definition` is the number of the first definition that does not go with those before it, where that is known.
    """

    def __init__(self, message: str, definition: int | None = None) -> None:
        super().__init__(message)
        self.definition = definition


class ParseError(ProgramError):
    """Program text that cannot be read, with the place where reading stopped."""

    def __init__(self, message: str, source: str, offset: int, origin: str = "<text>") -> None:
        before = source[:offset]
        self.line = before.count("\n") + 1
        self.column = offset - (before.rfind("\n") + 1) + 1
        # Of a very long line, what stands around the place.
        begin = max(offset - self.column + 1, offset - _SHOWN)
        text = source[begin : offset + _SHOWN].split("\n", 1)[0]
        caret = "".join("\t" if c == "\t" else " " for c in text[: offset - begin]) + "^"
        super().__init__(f"{origin}:{self.line}:{self.column}: {message}\n  {text}\n  {caret}")


class DataError(DlmError):
    """Facts or examples that do not fit together."""


class SettingsError(DlmError):
    """Settings that are impossible or contradict each other."""


class UnknownTaskError(DlmError):
    """A task name that is not in the registry."""


class RunError(DlmError):
    """A run folder that is missing, damaged or of another version."""


class PluginError(DlmError):
    """A plug-in of another package that cannot be used."""


class ResourceError(DlmError):
    """Not enough memory or disk for what was asked."""


class MissingExtraError(DlmError):
    """An optional dependency that is not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs {package}, which is not installed: pip install 'dlm[{extra}]'")


def require_packages(*packages: str, extra: str, purpose: str) -> None:
    """Refuse to go on without these packages, without loading them."""
    for package in packages:
        if find_spec(package) is None:
            raise MissingExtraError(package, extra, purpose)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A question that names the nearest known names, to follow a full stop; empty if none is near."""
    return asked_for(repr(other) for other in nearest(name, known))


def asked_for(names: Iterable[str]) -> str:
    """Whether one of some names was meant, to follow a full stop; empty if there is none."""
    listed = " or ".join(names)
    return f" Did you mean {listed}?" if listed else ""


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """The known names that are near, the nearest first.

    Names are compared without regard to case, to _ or -, and to what stands before a slash. Of very many names only
    those alike in length and beginning are compared.
    """
    near = list(known)
    if len(near) > COMPARED:
        near = [other for other in near if abs(len(other) - len(name)) <= 2]
    for length in range(1, len(name) + 1):
        if len(near) <= COMPARED:
            break
        near = [other for other in near if other[:length] == name[:length]] or near[:COMPARED]
    spellings = {_spelling(said): other for other in near for said in (other.rpartition("/")[2], other)}
    close = get_close_matches(_spelling(name), spellings)
    return list(dict.fromkeys(spellings[spelling] for spelling in close))


def nearest_paths(name: str | Path) -> list[str]:
    """The files and folders with a name near one that is not there: another name where the path leads nowhere."""
    path = missing = Path(name)
    while not missing.parent.is_dir() and missing != missing.parent:
        missing = missing.parent
    try:
        beside = [other for other in missing.parent.iterdir() if not other.name.startswith(".")]
    except OSError:
        return []
    near = nearest(missing.name, [other.name for other in beside])
    return [str(found) for other in near if (found := missing.parent / other / path.relative_to(missing)).exists()]


def _spelling(name: str) -> str:
    return name.lower().replace("_", "-")
