"""Names for a source of Python or JavaScript: any name of a program becomes an identifier, no two the same one."""

from __future__ import annotations

import builtins
import keyword
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from dlm.logic.attributes import tables_of
from dlm.logic.syntax import Exists, Forall, Program, subformulas

__all__ = ["Identifiers", "choose_identifiers", "printable"]

RESERVED = frozenset({*keyword.kwlist, *keyword.softkwlist, *dir(builtins), "objects"})


@dataclass(frozen=True)
class Identifiers:
    """The identifier of each predicate and of each variable, all different."""

    predicates: dict[str, str]
    variables: dict[str, str]


def choose_identifiers(program: Program, reserved: Collection[str] = RESERVED) -> Identifiers:
    """Identifiers that look like the program's names, none of those that the language or the source has itself."""
    taken: set[str] = set()
    defined = [definition.name for definition in program.definitions]
    predicates = _choose([*tables_of(program.inputs), *program.inputs, *defined], "p", taken, reserved)
    return Identifiers(predicates, _choose(_variables(program), "v", taken, reserved))


def _variables(program: Program) -> Iterator[str]:
    for definition in program.definitions:
        yield from definition.parameters
        for part in subformulas(definition.body):
            if isinstance(part, Exists | Forall):
                yield part.variable


def _choose(names: Iterable[str], prefix: str, taken: set[str], reserved: Collection[str]) -> dict[str, str]:
    chosen: dict[str, str] = {}
    for name in dict.fromkeys(names):
        base = candidate = _identifier(name, prefix)
        number = 1
        while candidate in taken or candidate in reserved:
            number += 1
            candidate = f"{base}_{number}"
        taken.add(candidate)
        chosen[name] = candidate
    return chosen


def _identifier(name: str, prefix: str) -> str:
    """The name as Python would read it, with what it cannot read left out."""
    # Python takes names that look alike for the same one, by this normal form.
    base = unicodedata.normalize("NFKC", re.sub(r"\W+", "_", name))
    if base.isidentifier():
        return base
    longer = f"{prefix}_{base}"
    return longer if base.strip("_") and longer.isidentifier() else prefix


def printable(text: str) -> str:
    """Text that stays on its line, without what a file of text must not have."""
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)
