"""Rules that are hidden in random data: how often the learner `rules` finds one that is right on atoms it has not seen.

    python -m benchmarks.hidden [--seeds 0-9] [--kinds NAME ...] [--noise 0.1]

Each problem has people and things in small worlds, concepts of people, relations between them, facts of three arguments
and a colour of each thing. A rule is of a kind (a path, a union of relations, an inequality, a negation, ...), its
predicates drawn at random; three quarters of the worlds are for learning. Writes ``docs/benchmarks/hidden.md``, and
JSON with every rule.
"""

from __future__ import annotations

import argparse
import re
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

import dlm
from benchmarks.pages import OUT, Record, do_pieces, render
from dlm.data.facts import Facts, Typing
from dlm.data.labelled import LabelledAtoms
from dlm.data.problem import DataProblem
from dlm.engines.choose import run_program
from dlm.learning.rules.result import DataResult, Interval
from dlm.logic.text import parse_program

__all__ = ["KINDS", "hidden_problem", "main", "page"]

PEOPLE, THINGS, COLOURS, WORLDS = 8, 6, 3, 24
LIKES, OWNS, GIVES = 1.6, 1.2, 3.0
"""Facts of a relation for each person (`gives`: for each world)."""

Rng = np.random.Generator


DRAWN = {
    "R": ("likes", "knows", "helps"),
    "C": ("tall", "old", "rich"),
    "K": tuple(f"colour(t) = 'c{number}'" for number in range(COLOURS)),
}
"""What stands for the letters of a rule, drawn for each occurrence; S is one of R, the same in the whole rule."""

KINDS = {
    "path": (2, "exists z: R(x, z) & R(z, y)"),
    "backwards": (2, "(exists z: R(z, x) & R(z, y)) & x != y"),
    "guarded path": (2, "exists z: R(x, z) & C(z) & R(z, y)"),
    "union": (2, "exists z: (likes(x, z) | knows(x, z)) & R(z, y)"),
    "unions": (2, "exists z: (likes(x, z) | knows(x, z)) & (R(z, y) | helps(y, z))"),
    "three steps": (2, "exists z: R(x, z) & (exists w: R(z, w) & R(w, y))"),
    "concepts": (1, "C(x) & (exists y: R(x, y) & C(y))"),
    "negation": (1, "C(x) & ~(exists y: R(x, y) & C(y))"),
    "forall": (1, "forall y: ~R(x, y) | C(y)"),
    "two of them": (1, "exists y: S(x, y) & (exists z != y: S(x, z))"),
    "inequality": (1, "exists t: owns(x, t) & (exists y != x: owns(y, t) & C(y))"),
    "negated relation": (2, "R(x, y) & ~R(y, x)"),
    "constant": (1, "exists t: owns(x, t) & K"),
    "constant and concept": (1, "C(x) & (exists t: owns(x, t) & K)"),
    "three arguments": (1, "exists y: exists t: gives(x, y, t) & C(y)"),
    "three arguments, two tests": (1, "exists y: exists t: gives(x, y, t) & C(y) & K"),
    "given to": (2, "exists t: gives(x, y, t) & K"),
    "shared": (2, "(exists t: exists s: owns(x, t) & owns(y, s) & (exists c: colour(t, c) & colour(s, c))) & x != y"),
    "disjunction": (1, "(C(x) & (exists y: R(x, y))) | (exists t: owns(x, t) & K)"),
}
"""The arguments of the target, and its body."""


def _draw_rule(kind: str, rng: Rng) -> tuple[int, str]:
    arity, body = KINDS[kind]
    same = str(rng.choice(DRAWN["R"]))
    body = re.sub(r"\b[RCK]\b", lambda found: str(rng.choice(DRAWN[found[0]])), re.sub(r"\bS\b", same, body))
    return arity, f"goal({', '.join('xy'[:arity])}) :- {body}."


def hidden_problem(kind: str, seed: int) -> tuple[DataProblem, str]:
    """A problem with one fourth of its worlds for the test, and the rule that is hidden in it."""
    rng = np.random.default_rng(seed)
    while True:
        arity, rule = _draw_rule(kind, rng)
        facts = _facts(rng)
        rows = _rows(arity)
        answers = run_program(parse_program(rule), facts, "auto").rows()
        true = {tuple(row) for row in answers.tolist()}
        truth = np.array([tuple(row) in true for row in rows.tolist()])
        if 0.02 < truth.mean() < 0.9:
            break
    test = rows[:, 0] // PEOPLE >= WORLDS * 3 // 4
    labels = LabelledAtoms("goal", rows, truth, np.ones(len(rows)))
    problem = DataProblem("goal", facts, labels.take(~test), labels.take(test), types=(0,) * arity)
    return problem, rule


def _rows(arity: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    people = np.arange(PEOPLE * WORLDS)
    if arity == 1:
        return people[:, None]
    world, x, y = np.meshgrid(np.arange(WORLDS), np.arange(PEOPLE), np.arange(PEOPLE), indexing="ij")
    return np.stack([(world * PEOPLE + x).ravel(), (world * PEOPLE + y).ravel()], axis=1)


def _facts(rng: Rng) -> Facts:
    """People, then things, then colours."""
    people, things = PEOPLE * WORLDS, THINGS * WORLDS

    def related(count: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
        world = rng.integers(WORLDS, size=count)
        pairs = world[:, None] * PEOPLE + rng.integers(PEOPLE, size=(count, 2))
        return np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)

    def thing(world: np.ndarray[tuple[int], np.dtype[np.int64]]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return people + world * THINGS + rng.integers(THINGS, size=len(world))

    owner = rng.integers(people, size=round(OWNS * people))
    world = rng.integers(WORLDS, size=round(GIVES * WORLDS * 2))
    giver, taker = (world * PEOPLE + rng.integers(PEOPLE, size=len(world)) for _ in range(2))
    every = np.arange(people, people + things)
    relations = {
        **{name: related(round(LIKES * people)) for name in ("likes", "knows", "helps")},
        **{name: np.flatnonzero(rng.random(people) < 0.4)[:, None] for name in ("tall", "old", "rich")},
        "owns": np.unique(np.stack([owner, thing(owner // PEOPLE)], axis=1), axis=0),
        "gives": np.unique(np.stack([giver, taker, thing(world)], axis=1), axis=0),
        "colour": np.stack([every, people + things + rng.integers(COLOURS, size=things)], axis=1),
    }
    names = [f"p{i}" for i in range(people)] + [f"t{i}" for i in range(things)] + [f"c{i}" for i in range(COLOURS)]
    of = np.repeat([0, 1, 2], [people, things, COLOURS])
    types = {"owns": (0, 1), "gives": (0, 0, 1), "colour": (1, 2)}
    signatures = {name: types.get(name, (0,) * rows.shape[1]) for name, rows in relations.items()}
    typing = Typing(("person", "thing", "colour"), of, signatures, frozenset({2}))
    return Facts(np.array(names, dtype=object), relations, typing=typing)


def main() -> None:
    """Learn what is asked for and not known yet, a problem at a time."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="0-9", help="FIRST-LAST")
    parser.add_argument("--kinds", nargs="*", default=list(KINDS))
    parser.add_argument("--noise", type=float, default=0.0, help="share of the training labels that are flipped")
    parser.add_argument("--fresh", action="store_true", help="do again what hidden.json has already")
    parser.add_argument("--out", type=Path, default=OUT)
    asked = parser.parse_args()
    first, last = map(int, asked.seeds.split("-"))
    pieces = (
        (f"{kind}, seed {seed}, noise {asked.noise:g}", partial(_learn, kind, seed, asked.noise))
        for kind in asked.kinds
        for seed in range(first, last + 1)
    )
    do_pieces(asked.out, "hidden", pieces, page, fresh=asked.fresh)


def _learn(kind: str, seed: int, noise: float) -> Record:
    problem, rule = hidden_problem(kind, seed)
    flip = np.random.default_rng(seed).random(problem.labels.count) < noise
    noisy = replace(problem, labels=replace(problem.labels, truth=problem.labels.truth ^ flip))
    begin = time.process_time()
    result = dlm.learn(noisy, seed=seed, progress=False)
    seconds = time.process_time() - begin
    assert isinstance(result, DataResult)
    assert result.test is not None
    return {
        "kind": kind,
        "seed": seed,
        "noise": noise,
        "accuracy": Interval.of(result.test).accuracy,
        "size": result.program.literals,
        "hidden_size": parse_program(rule).literals,
        "cpu_seconds": seconds,
        "hidden": rule,
        "program": str(result.program),
    }


def page(figures: Record) -> str:
    """The page of these figures."""
    runs: list[Record] = list(figures["pieces"].values())
    tables: dict[float, dict[str, list[Record]]] = {}
    for run in sorted(runs, key=lambda run: (run["noise"], list(KINDS).index(run["kind"]), run["seed"])):
        tables.setdefault(run["noise"], {}).setdefault(run["kind"], []).append(run)
    commits = sorted({str(run["commit"]) for run in runs})
    return render("hidden", {"machine": figures["machine"], "commits": commits, "tables": tables, "kinds": KINDS})


if __name__ == "__main__":
    main()
