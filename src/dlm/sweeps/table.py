"""The table that a sweep ends in: how often it succeeded, how long it took, how large programs are."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence

from dlm.sweeps.job import Record

__all__ = ["HEAD", "cells", "markdown_table", "table_rows"]

HEAD = ("RUNS", "VERIFIED", "MEDIAN S", "WORST S", "MEDIAN CPU S", "LITERALS", "AS EXTRACTED", "ERRORS")


def table_rows(records: Iterable[Record], names: Sequence[str]) -> list[Record]:
    """A row for each combination of these settings, in the order in which they come."""
    groups: dict[tuple[str, ...], list[Record]] = {}
    for record in records:
        groups.setdefault(tuple(str(_setting(record, name)) for name in names), []).append(record)
    return [_row(dict(zip(names, values, strict=True)), group) for values, group in groups.items()]


def _setting(record: Record, name: str) -> object:
    return record["asked"] if name == "learner" else record.get("settings", {}).get(name, "")


def _row(settings: Mapping[str, str], group: Sequence[Record]) -> Record:
    done = [record for record in group if "error" not in record]
    row: Record = {"settings": dict(settings), "runs": len(group), "errors": len(group) - len(done)}
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


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
