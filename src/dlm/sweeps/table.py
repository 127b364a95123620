"""The table that a sweep ends in: how often it succeeded, how long it took, how large programs are."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence

from dlm.sweeps.job import Record, limit_of
from dlm.sweeps.wording import ranges, value_text

__all__ = ["HEAD", "cells", "markdown_table", "names_in", "page", "table_rows"]

HEAD = ("RUNS", "VERIFIED", "MEDIAN S", "WORST S", "MEDIAN CPU S", "LITERALS", "AS EXTRACTED", "ERRORS")


def table_rows(records: Iterable[Record], names: Sequence[str]) -> list[Record]:
    """A row for each combination of these settings, in the order in which they come."""
    groups: dict[tuple[str, ...], list[Record]] = {}
    for record in records:
        groups.setdefault(tuple(_setting(record, name) for name in names), []).append(record)
    return [_row(dict(zip(names, values, strict=True)), group) for values, group in groups.items()]


def names_in(records: Iterable[Record]) -> list[str]:
    """What some runs can differ in: the problem, the learner, and their settings."""
    given = dict.fromkeys(name for record in records for name in record.get("settings") or {})
    return ["problem", "learner", *given]


def _setting(record: Record, name: str) -> str:
    if name in ("problem", "learner"):
        return str(record["task" if name == "problem" else "asked"])
    settings = record.get("settings") or {}
    return value_text(settings[name]) if name in settings else ""


def _row(settings: Mapping[str, str], group: Sequence[Record]) -> Record:
    done = [record for record in group if "error" not in record]
    row: Record = {"settings": dict(settings), "runs": len(group), "errors": len(group) - len(done)}
    row["seeds"] = ranges(record["seed"] for record in group)
    row["limits"] = sorted({limit_of(record.get("kind"), record.get("limit")) for record in done})
    row["verified"] = sum(record["verified"] for record in done)
    for name in ("wall_seconds", "cpu_seconds", "literals", "raw_literals"):
        found = [record[name] for record in done if record.get(name) is not None]
        row[name] = {"median": statistics.median(found), "worst": max(found)} if found else None
    return row


def cells(row: Record) -> tuple[str, ...]:
    """A row as text, after its settings in the order of `HEAD`."""
    wall, cpu, small, raw = (row[name] for name in ("wall_seconds", "cpu_seconds", "literals", "raw_literals"))
    return (
        *row["settings"].values(),
        str(row["runs"]),
        f"{row['verified']} ({100 * row['verified'] / row['runs']:.0f} %)",
        *("" if wall is None else f"{wall[which]:.1f}" for which in ("median", "worst")),
        "" if cpu is None else f"{cpu['median']:.1f}",
        *("" if size is None else f"{size['median']:g} (at most {size['worst']})" for size in (small, raw)),
        str(row["errors"]),
    )


def page(rows: Sequence[Record]) -> str:
    """The rows as a page: what all have in common as a list, the rest as a table with seeds and time limits."""
    names = list(rows[0]["settings"])
    common = [name for name in names if len({row["settings"][name] for row in rows}) == 1]
    varied = [name for name in names if name not in common]
    head = [*(name.replace("_", " ") for name in varied), "seeds", "limit s", *map(str.lower, HEAD)]
    lines = []
    for row in rows:
        chosen = [row["settings"][name] for name in varied]
        limits = ", ".join(f"{limit:,g}" for limit in row["limits"])
        lines.append([*chosen, row["seeds"], limits, *cells({**row, "settings": {}})])
    said = "".join(f"- {name.replace('_', ' ')}: {rows[0]['settings'][name]}\n" for name in common)
    return f"# Runs of `dlm sweep`\n\n{said}\n{markdown_table(head, lines)}"


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
