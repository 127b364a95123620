"""Random programs on random structures, run by every engine and all foreign judges: they must all agree.

Run as ``make torture``. The reference interpreter says what is right. Half of the pairs have odd names and up to 4
arguments, half have larger structures. Most random formulas are true of everything or of nothing, which a wrong engine
gets right easily, so only one in eight of those is kept. A disagreement is printed and saved in ``runs/torture``.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path

from benchmarks.pages import OUT, commit, render
from dlm.data import Structure
from dlm.data.facts import Facts
from dlm.engines import run_program
from dlm.errors import ResourceError
from dlm.logic import Program, evaluate, format_program
from export.judges import NAMES, Answers, Case, answers_clingo, answers_sql, answers_swi
from strategies import SIGNATURE, make_program

SAVED = Path("runs/torture")
BATCH = 200
PROGRAM_BYTES = 400
TRIVIAL_SHARE = 1 / 8
DENSITIES = (0.05, 0.2, 0.5, 0.8)


def draw_batch(seed: int, number: int, count: int) -> list[tuple[Case, Answers]]:
    """Pairs, and what the reference interpreter answers."""
    rng = random.Random(f"{seed} {number}")
    found: list[tuple[Case, Answers]] = []
    while len(found) < count:
        program, structure = draw_odd(rng) if rng.random() < 0.5 else draw_large(rng)
        answers = evaluate(program, structure)[program.target.name]
        if is_informative(program, structure, answers) or rng.random() < TRIVIAL_SHARE:
            found.append(((program, structure), answers))
    return found


def is_informative(program: Program, structure: Structure, answers: Answers) -> bool:
    return 0 < len(answers) < int(structure.size**program.target.arity)


def draw_odd(rng: random.Random) -> Case:
    signature = {name: rng.randint(0, 4) for name in rng.sample(NAMES, rng.randint(1, 4))}
    target = rng.choice([name for name in ("target", "not", "mod", "t t") if name not in signature])
    numbers = rng.randbytes(PROGRAM_BYTES)
    program = make_program(numbers, signature, max_arity=4, odd_names=rng.random() < 0.5, target=target)
    return program, draw_structure(rng, signature, rng.randint(0, 3))


def draw_large(rng: random.Random) -> Case:
    program = make_program(rng.randbytes(PROGRAM_BYTES), SIGNATURE, max_depth=rng.randint(2, 5))
    return program, draw_structure(rng, dict(SIGNATURE), rng.randint(0, 7))


def draw_structure(rng: random.Random, signature: dict[str, int], size: int) -> Structure:
    relations = {}
    for name, arity in signature.items():
        density = rng.choice(DENSITIES)
        tuples = product(range(size), repeat=arity)
        relations[name] = frozenset(values for values in tuples if rng.random() < density)
    return Structure(tuple(f"o{index}" for index in range(size)), signature, relations)


Executor = Callable[[Sequence[Case]], list[Answers | Exception]]


def engine(name: str) -> Executor:
    """One of our engines."""

    def answers_of(program: Program, structure: Structure) -> Answers | Exception:
        try:
            rows = run_program(program, Facts.from_structure(structure), name).rows()
        except Exception as error:  # whatever goes wrong is what is looked for
            return error
        return frozenset(map(tuple, rows.tolist()))

    return lambda cases: [answers_of(*case) for case in cases]


def spark(cases: Sequence[Case]) -> list[Answers | Exception]:
    """Spark, in a session made for tiny tables: its usual one takes seconds to compile each query."""
    from pyspark.sql import SparkSession

    settings: dict[str, bool | float | int | str | None] = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    session = SparkSession.builder.master("local[1]").config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return engine("spark")(cases)


def judge(answers: Callable[[Sequence[Case]], list[Answers]]) -> Executor:
    """A judge that takes many cases at a time; if it stumbles, one by one."""

    def one(case: Case) -> Answers | Exception:
        try:
            return answers([case])[0]
        except (Exception, AssertionError) as error:
            return error

    def answers_of(cases: Sequence[Case]) -> list[Answers | Exception]:
        try:
            return list(answers(cases))
        except (Exception, AssertionError):
            return [one(case) for case in cases]

    return answers_of


EXECUTORS: dict[str, Executor] = {
    "bits": engine("bits"),
    "duckdb": engine("duckdb"),
    "clingo": judge(answers_clingo),
    "SWI-Prolog": judge(answers_swi),
    "SQL in DuckDB": judge(partial(answers_sql, dialect="duckdb")),
    "SQL in SQLite": judge(partial(answers_sql, dialect="sqlite")),
    "spark": spark,
}


@dataclass
class Tally:
    """What came of some pairs."""

    agreed: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    wrong: list[dict[str, object]] = field(default_factory=list)
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    shapes: Counter[str] = field(default_factory=Counter)

    def add(self, other: Tally) -> None:
        self.agreed += other.agreed
        self.refused += other.refused
        self.wrong += other.wrong
        for name, seconds in other.seconds.items():
            self.seconds[name] += seconds
        self.shapes += other.shapes


def run_batch(seed: int, number: int, count: int, names: Sequence[str]) -> Tally:
    tally = Tally()
    drawn = draw_batch(seed, number, count)
    cases = [case for case, _ in drawn]
    for name in names:
        started = time.perf_counter()
        results = EXECUTORS[name](cases)
        tally.seconds[name] += time.perf_counter() - started
        for (case, expected), got in zip(drawn, results, strict=True):
            if got == expected:
                tally.agreed[name] += 1
            elif isinstance(got, ResourceError):
                tally.refused[name] += 1
            else:
                tally.wrong.append(describe(name, case, expected, got))
    for case, expected in drawn:
        program, structure = case
        tally.shapes["pairs"] += 1
        tally.shapes["informative"] += is_informative(program, structure, expected)
        tally.shapes["literals"] += program.literals
        tally.shapes[f"arity {program.target.arity}"] += 1
        tally.shapes[f"objects {structure.size}"] += 1
    return tally


def run_spark(seed: int, number: int, count: int) -> Tally:
    """Some pairs of a batch that the others run whole, and count."""
    tally = run_batch(seed, number, count, ["spark"])
    tally.shapes.clear()
    return tally


def describe(name: str, case: Case, expected: Answers, got: Answers | Exception) -> dict[str, object]:
    program, structure = case
    return {
        "engine": name,
        "program": format_program(program),
        "objects": structure.size,
        "relations": {relation: sorted(rows) for relation, rows in structure.relations.items()},
        "expected": sorted(expected),
        "got": f"{type(got).__name__}: {got}" if isinstance(got, BaseException) else sorted(got),
    }


def report(wrong: list[dict[str, object]], seed: int, first: int) -> None:
    SAVED.mkdir(parents=True, exist_ok=True)
    for number, found in enumerate(wrong, start=first):
        path = SAVED / f"{seed}-{number}.json"
        path.write_text(json.dumps(found, indent=1) + "\n")
        print(f"\n{found['engine']} disagrees, saved as {path}:\n{found['program']}{found}\n", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pairs", type=int, default=10_000, help="pairs for all but spark")
    parser.add_argument("--spark", type=int, default=1_000, help="how many of them spark runs too")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=Path, default=OUT / "torture.md")
    options = parser.parse_args()
    started = time.monotonic()
    total = Tally()
    quick = [name for name in EXECUTORS if name != "spark"]
    batches = [(start // BATCH, min(BATCH, options.pairs - start)) for start in range(0, options.pairs, BATCH)]
    some = [(number, min(count, options.spark - number * BATCH)) for number, count in batches]
    with ProcessPoolExecutor(options.jobs) as pool, ProcessPoolExecutor(1) as beside:
        running = [pool.submit(run_batch, options.seed, number, count, quick) for number, count in batches]
        running += [beside.submit(run_spark, options.seed, number, count) for number, count in some if count > 0]
        for done in as_completed(running):
            tally = done.result()
            report(tally.wrong, options.seed, len(total.wrong))
            total.add(tally)
            print(
                f"{total.shapes['pairs']:,} pairs, {total.agreed['spark']:,} of them agreed on by spark, "
                f"{len(total.wrong)} disagreements",
                flush=True,
            )
            text = page(total, options.seed, time.monotonic() - started)
            options.out.write_text(text)
    print(text)
    return bool(total.wrong)


def page(total: Tally, seed: int, seconds: float) -> str:
    wrong = Counter(str(found["engine"]) for found in total.wrong)
    tried = {name: total.agreed[name] + wrong[name] + total.refused[name] for name in EXECUTORS}
    rows = [
        (name, f"{tried[name]:,}", f"{total.agreed[name]:,}", wrong[name], total.refused[name], f"{each:.1f}")
        for name in EXECUTORS
        for each in [1000 * total.seconds[name] / max(tried[name], 1)]
    ]
    counts = {
        what: sorted((key.split()[1], count) for key, count in total.shapes.items() if key.startswith(what))
        for what in ("arity", "objects")
    }
    values = {"seed": seed, "commit": commit(), "minutes": seconds / 60, "rows": rows, **counts}
    return render("torture", {**values, "shapes": total.shapes})


if __name__ == "__main__":
    sys.exit(main())
