"""The page of `benchmarks.run`, and what is on it: tasks, sizes and aims."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.measures import Figures

__all__ = [
    "BITS_SIZES",
    "BROKEN",
    "EDGES_PER_NODE",
    "EXPLAINED",
    "FAMILY",
    "GRANDPARENT",
    "GRAPH",
    "PROVED_OBJECTS",
    "QUERY_SIZES",
    "SPARK_SIZE",
    "page",
]

GRANDPARENT = "family/is-grandparent"
FAMILY = (GRANDPARENT, "family/has-sister", "family/is-uncle")
GRAPH = ("graph/adjacent-to-red", "graph/1-outdegree", "graph/2-outdegree")
EXPLAINED = (GRANDPARENT, "family/is-uncle")
EDGES_PER_NODE = 3

BITS_SIZES = (130, 1000)
PUBLISHED_SECONDS = {130: 1.9}
QUERY_SIZES = (10_000, 100_000, 1_000_000)
SPARK_SIZE = 100_000
PROVED_OBJECTS = 5

LIMIT = 30
LIMIT_SECONDS = {"graph/2-outdegree": 120}
"""What a million objects may take, if not `LIMIT`."""

BROKEN = "is_grandparent(x, y) :- exists z: father(x, z) & (father(z, y) | mother(z, y))."
"""Forgets the mother's parents."""

INTRODUCTION = """
Written by `make bench-run` from `run.json`. Every measurement is a process of its own, one after another, on a machine
with {cores} cores and {gigabytes} GB of memory, Python {python}. Run on commit {commits}. All answers were compared
with those that `dlm generate` worked out without any engine: *right* says that they are the same, tuple for tuple.
"""

BITS = """## bits: IsGrandparent in memory

Median of 25 runs, from facts to sorted answers. *memory*: the peak of the process above an interpreter that has done
nothing; *imports*: what of it is there before the first run, mostly NumPy. Aims: 130 objects below 10 ms and 50 MB,
1,000 objects below 5 s.
"""

DUCKDB = f"""## duckdb

Graphs have {EDGES_PER_NODE} rows of `edge` a node. *start*: a query about one object, which loads what there is to
load; *read*: Parquet to numbered facts; *run*: planning the query, loading the tables, running it to the last answer.
*limit*: what *run* was to stay below. Memory is the peak of the process, facts and answers included; it was to stay
below 8 GB.
"""

SPARK = """## spark

As above, in local mode; *start* is mostly that of the Java machine. Memory is that of the Python process alone.
"""

EXPLAIN = """## explain

One atom at a time in words, after the facts were read; 20 true atoms, and 20 that are made of the same people and
mostly false. The first question about a predicate sorts it; that is the worst. Aim: below 2 s.
"""

PROVE = f"""## prove

IsGrandparent against its definition on all structures of up to {PROVED_OBJECTS} objects that satisfy the axioms of
families. *broken* is `{BROKEN}`
"""


def page(kept: dict[str, Any]) -> Iterator[str]:
    """The lines of the page."""
    found: dict[str, Figures] = kept["measurements"]
    commits = sorted({figures["commit"] for figures in found.values()})
    yield "# Learned programs at work"
    yield INTRODUCTION.format(**kept["machine"], commits=", ".join(commits))
    yield "## The programs\n\n```"
    for task, learned in kept["programs"].items():
        yield f"# {task}: {learned['origin']}\n{learned['program']}"
    yield "```\n"
    yield from _bits_page(found)
    yield from _query_page(found)
    yield from _spark_page(found)
    yield from _explain_page(found)
    yield from _prove_page(found)


def _bits_page(found: dict[str, Figures]) -> Iterator[str]:
    yield BITS
    yield "| objects | ms | worst ms | published ms | published / ours | memory MB | imports MB | answers | right |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for size in BITS_SIZES:
        row = found.get(f"bits {size}")
        if row is not None:
            published = PUBLISHED_SECONDS.get(size)
            cells = [
                f"{size:,}",
                f"{1000 * row['seconds']:.2f}",
                f"{1000 * row['worst_seconds']:.2f}",
                "" if published is None else f"{1000 * published:.0f}",
                "" if published is None else f"{published / row['seconds']:.0f}",
                _megabytes(row["peak_bytes"] - row["bare_bytes"]),
                _megabytes(row["imported_bytes"] - row["bare_bytes"]),
                f"{row['answers']:,}",
                _yes(row["right"]),
            ]
            yield f"| {' | '.join(cells)} |"
    yield ""


def _query_page(found: dict[str, Figures]) -> Iterator[str]:
    yield DUCKDB
    yield "| task | objects | facts | answers | start s | read s | run s | limit s | µs an object | memory MB | right |"
    yield "|---|---|---|---|---|---|---|---|---|---|---|"
    for task in FAMILY + GRAPH:
        for size in QUERY_SIZES:
            row = found.get(f"duckdb {task} {size}")
            if row is not None:
                limit = f"{LIMIT_SECONDS.get(task, LIMIT)}" if size == QUERY_SIZES[-1] else ""
                each = f"{1e6 * row['seconds'] / size:.1f}"
                yield f"| {task} | {size:,} | {_run_cells(row, limit, each)} |"
    yield ""


def _spark_page(found: dict[str, Figures]) -> Iterator[str]:
    rows = [(task, found.get(f"spark {task} {SPARK_SIZE}")) for task in FAMILY + GRAPH]
    if not any(row for _, row in rows):
        return
    yield SPARK
    yield "| task | objects | facts | answers | start s | read s | run s | memory MB | right |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for task, row in rows:
        if row is not None:
            yield f"| {task} | {SPARK_SIZE:,} | {_run_cells(row)} |"
    yield ""


def _run_cells(row: Figures, *more: str) -> str:
    cells = [f"{row['facts']:,}", f"{row['answers']:,}"]
    cells += [f"{row[name]:.2f}" for name in ("start_seconds", "read_seconds", "seconds")]
    return " | ".join([*cells, *more, _megabytes(row["peak_bytes"]), _yes(row["right"])])


def _explain_page(found: dict[str, Figures]) -> Iterator[str]:
    yield EXPLAIN
    yield "| task | objects | read s | true: median ms | worst ms | other: median ms | worst ms | memory MB |"
    yield "|---|---|---|---|---|---|---|---|"
    for key, row in found.items():
        if key.startswith("explain "):
            times = [
                f"{1000 * row[kind][name]:.1f}"
                for kind in ("true", "false")
                for name in ("median_seconds", "worst_seconds")
            ]
            cells = [key.split()[1], f"{row['objects']:,}", f"{row['read_seconds']:.2f}", *times]
            yield f"| {' | '.join(cells)} | {_megabytes(row['peak_bytes'])} |"
    yield ""


def _prove_page(found: dict[str, Figures]) -> Iterator[str]:
    yield PROVE
    yield "| program | equal up to | seconds | counterexample |"
    yield "|---|---|---|---|"
    for name in ("learned", "broken"):
        row = found.get(f"prove {name}")
        if row is not None:
            facts = row["counterexample"] or {}
            shown = ", ".join(f"{name}({', '.join(map(str, values))})" for name in facts for values in facts[name])
            yield f"| {name} | {row['objects']} | {row['seconds']:.2f} | {shown} |"


def _megabytes(number: int) -> str:
    return f"{number / 1e6:,.0f}"


def _yes(value: bool) -> str:
    return "yes" if value else "NO"
