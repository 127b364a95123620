"""Grids of settings: ``depth=4,6 outputs=4,8`` stands for four combinations.

Values are separated by commas; inside of a value a plus sign stands for a comma: ``breadth=2+3+3+3,3``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product

from dlm.api.data import DATA_SETTINGS, read_own_data
from dlm.api.front_door import is_data
from dlm.api.learn import SETTINGS, check_problem
from dlm.errors import SettingsError, did_you_mean
from dlm.problems import WorldOptions, find_problem

__all__ = ["check_settings", "parse_grid", "settings_of"]

HOW = "a grid is given as SETTING=VALUE,VALUE,... such as depth=4,6"
ELSEWHERE = {
    "seed": "--seeds",
    "time_limit": "--time-limit, the same for all runs",
    "teacher": "`dlm learn --teacher`",
}


def settings_of(problem: str) -> tuple[str, ...]:
    """The names of the settings that a run on a problem has."""
    return DATA_SETTINGS if is_data(problem) else SETTINGS


def parse_grid(texts: Sequence[str], known: Sequence[str] = SETTINGS) -> list[dict[str, object]]:
    """All combinations of the values that the texts give, the last setting changing fastest; one empty one of none."""
    values: dict[str, list[object]] = {}
    for text in texts:
        name, equals, listed = text.partition("=")
        name = name.strip().removeprefix("--").replace("-", "_")
        if not equals or not listed.strip():
            raise SettingsError(f"{HOW}. Got {text!r} instead.")
        if name in ELSEWHERE:
            raise SettingsError(f"a grid has no {name}: that is {ELSEWHERE[name]}")
        if name not in known:
            raise SettingsError(f"there is no setting {name!r} to make a grid of.{did_you_mean(name, known)}")
        if name in values:
            raise SettingsError(f"the grid has {name} twice; give all its values at once: {name}=VALUE,VALUE,...")
        values[name] = list(dict.fromkeys(_read(name, part.strip()) for part in listed.split(",")))
    return [dict(zip(values, chosen, strict=True)) for chosen in product(*values.values())]


def check_settings(problem: str, combinations: Sequence[Mapping[str, object]]) -> None:
    """Refuse a sweep of which some run could not even begin."""
    if is_data(problem):
        for settings in combinations:
            read_own_data(problem, settings)
        return
    known = find_problem(problem, WorldOptions())
    for settings in combinations:
        check_problem(known, settings)


def _read(name: str, text: str) -> object:
    return READERS.get(name, _plain)(name, text)


def _plain(name: str, text: str) -> object:  # noqa: ARG001 as all readers
    """A number, a truth value, or a word."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text.lower(), text)


def _numbers(name: str, text: str) -> int | tuple[int, ...]:
    try:
        numbers = tuple(int(part) for part in text.split("+"))
    except ValueError:
        raise SettingsError(f"{name} takes whole numbers, with + between those of one value. Got {text!r}.") from None
    return numbers[0] if len(numbers) == 1 else numbers


def _triples(name: str, text: str) -> tuple[tuple[int, ...], ...]:
    try:
        triples = tuple(tuple(int(number) for number in part.split(":")) for part in text.split("+"))
    except ValueError:
        triples = ((),)
    if any(len(triple) != 3 for triple in triples):
        raise SettingsError(f"{name} takes LAYER:ARITY:N triples, such as 1:2:16+2:2:4. Got {text!r} instead.")
    return triples


def _words(name: str, text: str) -> tuple[str, ...]:  # noqa: ARG001 as all readers
    return () if text == "none" else tuple(text.split("+"))


READERS: dict[str, Callable[[str, str], object]] = {
    "breadth": _numbers,
    "unit_outputs": _triples,
    "quantifiers": _words,
    "use": _words,
    "leave_out": _words,
}
