"""How sweeps say counts, times, seeds and values of settings."""

from __future__ import annotations

from collections.abc import Iterable

from dlm.space.settings import option_text

__all__ = ["counted", "how_long", "ranges", "value_text"]


def counted(number: int, noun: str) -> str:
    """One run, and several runs."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def how_long(seconds: float) -> str:
    """A time as roughly as it is known."""
    for unit, size in (("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(1.0, seconds):.0f} s"


def ranges(numbers: Iterable[int]) -> str:
    """Numbers as `parse_seeds` reads them: ``0-4,7``."""
    spans: list[list[int]] = []
    for number in sorted(set(numbers)):
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)


def value_text(value: object) -> str:
    """The value of a setting as a grid takes it: ``2+3+3+3``."""
    return option_text(value).replace(",", "+")
