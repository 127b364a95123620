"""Learning from one's own data: Popper's sets, folds that were not seen, and labels with noise.

Run as ``python -m benchmarks.data [PART ...]`` (``make bench-data``); writes ``docs/benchmarks/data.md`` and JSON. What
``data.json`` has already is kept: the file is written after each piece of work, and ``--fresh`` begins anew.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.large import large_pieces
from benchmarks.pages import OUT, Piece, Record, do_pieces, render
from dlm import learn
from dlm.data.grouping import fold_numbers, worlds_of
from dlm.data.labelled import LabelledAtoms
from dlm.data.problem import DataProblem
from dlm.data.sources.reading import read_problem
from dlm.engines import evaluate_target
from dlm.learning.rules.joined import join_worlds
from dlm.learning.rules.result import DataResult
from dlm.tasks import get_task

__all__ = ["main", "page", "unseen_folds"]

SETS = Path(__file__).parents[1] / "../shared/data/popper"

POPPER = {
    "kinship-pi": 48.0,
    "iggp-minimal-decay-next-value": 1.3,
    "iggp-buttons-goal": 2.4,
    "trains1": 2.4,
    "zendo2": 98.0,
    "iggp-rps-next-score": 1.9,
    "imdb3": 9.3,
}
"""Popper's CPU seconds on a machine of this kind."""

CLOSED = ("kinship-pi",)
TOXIC = "noisy-alzheimer_toxic"
ASKED = {"trains1": 0.97, "zendo2": 0.97, "random": 0.915, "unseen": 0.77}
NOISE, WORLDS = 0.1, 20


def main() -> None:
    """Do what is asked for and not done yet, a piece at a time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; all unless told")
    parser.add_argument("--fresh", action="store_true", help="do again what data.json has already")
    parser.add_argument("--out", type=Path, default=OUT)
    asked = parser.parse_args()
    unknown = [part for part in asked.parts if part not in PARTS]
    if unknown:
        parser.error(f"no part {unknown[0]!r}; choose from {', '.join(PARTS)}")
    for part in asked.parts or PARTS:
        pieces = ((name, partial(_of_part, part, work)) for name, work in PARTS[part]())
        do_pieces(asked.out, "data", pieces, page, fresh=asked.fresh)


def _of_part(part: str, work: Callable[[], Record]) -> Record:
    return {"part": part, **work()}


def page(figures: Record) -> str:
    """The page of these figures."""
    pieces: list[Record] = list(figures["pieces"].values())

    def of(part: str, name: str, value: object) -> list[Record]:
        return [piece for piece in pieces if piece["part"] == part and piece[name] == value]

    folds = {name: _pooled(of("folds", "set", name)) for name in ("trains1", "zendo2")}
    toxic = {kind: _pooled(of("toxic", "kind", kind)) for kind in ("random", "unseen")}
    values = {
        "machine": figures["machine"],
        "commits": sorted({str(piece["commit"]) for piece in pieces}),
        "sets": {name: runs for name in POPPER if (runs := of("sets", "set", name))},
        "popper": POPPER,
        "closed": CLOSED,
        "folds": {**folds, **toxic},
        "asked": ASKED,
        "large": [piece for piece in pieces if piece["part"] == "large"],
        "noise": [piece for piece in pieces if piece["part"] == "noise"],
    }
    return render("data", values)


def _pooled(folds: list[Record]) -> Record | None:
    """The accuracy on the atoms of all folds together."""
    if not folds:
        return None
    count = sum(fold["count"] for fold in folds)
    return {
        "done": len(folds),
        "of": folds[0]["of"],
        "count": count,
        "accuracy": sum(fold["right"] for fold in folds) / count,
        "least": min(fold["right"] / fold["count"] for fold in folds),
        "sizes": [fold["size"] for fold in folds],
        "seconds": [fold["cpu_seconds"] for fold in folds],
    }


# ---------------------------------------------------------------------- the whole command


def _sets() -> Iterator[Piece]:
    for name in POPPER:
        for seed in range(5):
            yield f"{name} seed {seed}", lambda name=name, seed=seed: _command(name, seed)  # type: ignore[misc]


def _command(name: str, seed: int) -> Record:
    command = [sys.executable, "-m", "dlm", "learn", str(SETS / name), "--json", "--seed", str(seed)]
    if name in CLOSED:
        command += ["--negatives", "closed"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    said = json.loads(process.stdout.read())
    _, _, usage = os.wait4(process.pid, 0)
    train = said["train"]
    return {
        "set": name,
        "seed": seed,
        "errors": train["fp"] + train["fn"],
        "atoms": train["tp"] + train["fp"] + train["fn"] + train["tn"],
        "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 2),
        "size": said["literals"],
        "program": said["program"],
    }


# ---------------------------------------------------------------------- atoms that were not seen


def _folds() -> Iterator[Piece]:
    for name in ("trains1", "zendo2"):
        problem = read_problem(SETS / name)
        numbers = fold_numbers(worlds_of(problem), 5, np.random.default_rng(0))
        for fold in range(5):
            out = numbers == fold
            yield f"{name} fold {fold}", _held_out(problem, ~out, out, set=name, fold=fold, of=5)


def _toxic() -> Iterator[Piece]:
    problem = read_problem(SETS / TOXIC)
    rng = np.random.default_rng(0)
    random = rng.permutation(problem.labels.count) % 10
    unseen = unseen_folds(problem.labels, 10, rng)
    for fold in range(10):
        out = random == fold
        yield f"{TOXIC} random {fold}", _held_out(problem, ~out, out, kind="random", fold=fold, of=10)
        out = unseen[fold]
        yield f"{TOXIC} unseen {fold}", _held_out(problem, ~out, out, kind="unseen", fold=fold, of=10)


def unseen_folds(labels: LabelledAtoms, folds: int, rng: np.random.Generator) -> list[NDArray[np.bool_]]:
    """For each fold the atoms about one of its objects: the others say nothing of these objects."""
    objects = rng.permutation(np.unique(labels.rows))
    return [np.asarray(np.isin(labels.rows, objects[fold::folds]).any(axis=1)) for fold in range(folds)]


def _held_out(
    problem: DataProblem, seen: NDArray[np.bool_], out: NDArray[np.bool_], **names: object
) -> Callable[[], Record]:
    """Learn from the atoms seen, by default settings, then test on those left out."""

    def work() -> Record:
        start = time.process_time()
        known = replace(problem, labels=problem.labels.take(seen), test=problem.labels.take(out))
        result = learn(known, progress=False)
        assert isinstance(result, DataResult)
        assert result.test is not None
        return {
            **names,
            "right": result.test.hits + result.test.rejections,
            "count": int(out.sum()),
            "size": result.program.literals,
            "chosen_because": result.chosen_because,
            "cpu_seconds": round(time.process_time() - start, 1),
            "program": str(result.program),
        }

    return work


# ---------------------------------------------------------------------- labels with noise


def _noise() -> Iterator[Piece]:
    for seed in range(10):
        yield f"noise seed {seed}", lambda seed=seed: _flipped(seed)  # type: ignore[misc]


def _flipped(seed: int) -> Record:
    task = get_task("family/is-grandparent")
    rng = np.random.default_rng(1000 + seed)
    problem = join_worlds([task.sample(rng, WORLDS, task.train_size)], task.target)
    flip = rng.random(problem.labels.count) < NOISE
    noisy = replace(problem, labels=replace(problem.labels, truth=problem.labels.truth ^ flip))
    start = time.process_time()
    result = learn(noisy, seed=seed, progress=False)
    seconds = time.process_time() - start
    assert isinstance(result, DataResult)
    fresh = [task.sample(rng, count, size) for count, size in ((200, task.train_size), (10, task.large_size))]
    wrong = sum(int((evaluate_target(result.program, each.worlds) != each.target).sum()) for each in fresh)
    return {
        "seed": seed,
        "exact": not wrong,
        "wrong": wrong,
        "flipped": int(flip.sum()),
        "atoms": problem.labels.count,
        "true": int(problem.labels.truth.sum()),
        "size": result.program.literals,
        "cpu_seconds": round(seconds, 1),
        "chosen_because": result.chosen_because,
        "program": str(result.program),
    }


PARTS: dict[str, Callable[[], Iterator[Piece]]] = {
    "sets": _sets,
    "folds": _folds,
    "noise": _noise,
    "toxic": _toxic,
    "large": large_pieces,
}

if __name__ == "__main__":
    main()
