"""The exact evaluator on a learned program, against the published implementation.

Run as ``python -m benchmarks.evaluate`` (``make bench-eval``); writes ``docs/benchmarks/evaluate.md`` and JSON.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from dlm.api import learn
from dlm.engines import evaluate_target
from dlm.logic import Program, evaluate, format_program
from dlm.tasks import get_task

__all__ = ["main"]

OUT = Path("docs/benchmarks")
TASK = "family/is-grandparent"
SIZES = (20, 50, 100, 130, 300, 1000)
PUBLISHED = {50: 0.10, 100: 1.0, 130: 1.9}
"""Seconds of the published implementation's extracted program on a machine of this kind."""


def main() -> None:
    """Learn IsGrandparent by search, then time its program, pruned and as extracted."""
    result = learn(TASK, learner="search", seed=0)
    rows = [_measure(result.program, result.raw, size) for size in SIZES]
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / "evaluate.json").write_text(json.dumps(rows, indent=1) + "\n")
    (OUT / "evaluate.md").write_text("\n".join(_page(result.program, result.raw, rows)) + "\n")
    print((OUT / "evaluate.md").read_text())


def _measure(program: Program, raw: Program, size: int) -> dict[str, float | None]:
    examples = get_task(TASK).sample(np.random.default_rng(size), 1, size)
    interpreted = None
    if size <= 20:
        structure = examples.worlds.structure(0)
        start = time.perf_counter()
        evaluate(program, structure)
        interpreted = time.perf_counter() - start
    times: list[float] = []
    raw_times: list[float] = []
    for of, found in ((program, times), (raw, raw_times)):
        if of is raw and size > 130:
            continue  # ternary tables of every definition: a gigabyte each at 1,000 objects
        for _ in range(7):
            start = time.perf_counter()
            answers = evaluate_target(of, examples.worlds)
            found.append(time.perf_counter() - start)
            assert np.array_equal(answers, examples.target)
    return {
        "objects": size,
        "seconds": statistics.median(times),
        "raw_seconds": statistics.median(raw_times) if raw_times else None,
        "interpreter_seconds": interpreted,
        "published_seconds": PUBLISHED.get(size),
    }


def _page(program: Program, raw: Program, rows: list[dict[str, float | None]]) -> Iterator[str]:
    yield "# Running IsGrandparent's learned program on one world\n"
    yield "Written by `make bench-eval`. Median of 7 runs, one thread, milliseconds. *pruned*: the program below, by"
    yield f"`engines/bits.py`; *raw*: as extracted, {len(raw.definitions)} definitions; *interpreter*: the reference;"
    yield "*published*: the published implementation's extracted program on a machine of this kind.\n"
    yield f"```\n{format_program(program)}```\n"
    yield "| objects | pruned | raw | interpreter | published | published / pruned |"
    yield "|---|---|---|---|---|---|"
    for row in rows:
        seconds, published = row["seconds"], row["published_seconds"]
        assert seconds is not None
        ratio = "" if published is None else f"{published / seconds:.0f}"
        cells = [_ms(row[name]) for name in ("seconds", "raw_seconds", "interpreter_seconds", "published_seconds")]
        yield f"| {row['objects']} | {' | '.join(cells)} | {ratio} |"


def _ms(seconds: float | None) -> str:
    return "" if seconds is None else f"{1000 * seconds:.{0 if seconds >= 0.1 else 2}f}"


if __name__ == "__main__":
    main()
