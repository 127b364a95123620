"""The exact evaluator on a learned program, against the published implementation.

Run as ``python -m benchmarks.evaluate`` (``make bench-eval``); writes ``docs/benchmarks/evaluate.md`` and JSON.
"""

from __future__ import annotations

import statistics
import time

import numpy as np

from benchmarks.pages import OUT, Record, render, write
from dlm import Result, learn
from dlm.engines import evaluate_target
from dlm.logic import Program, evaluate, format_program
from dlm.tasks import get_task

__all__ = ["main", "page"]

TASK = "family/is-grandparent"
SIZES = (20, 50, 100, 130, 300, 1000)
PUBLISHED = {50: 0.10, 100: 1.0, 130: 1.9}
"""Seconds of the published implementation's extracted program on a machine of this kind."""


def main() -> None:
    """Learn IsGrandparent by search, then time its program, pruned and as extracted."""
    result = learn(TASK, learner="search", seed=0)
    assert isinstance(result, Result)
    figures = {
        "program": format_program(result.program),
        "raw_definitions": len(result.raw.definitions),
        "rows": [_measure(result.program, result.raw, size) for size in SIZES],
    }
    write(OUT, "evaluate", figures, page(figures))
    print(page(figures))


def page(figures: Record) -> str:
    """The page of these figures."""
    return render("evaluate", figures)


def _measure(program: Program, raw: Program, size: int) -> Record:
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


if __name__ == "__main__":
    main()
