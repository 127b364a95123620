"""What `benchmarks.run` measures, each in a process of its own so that its peak of memory is its own.

Run as ``python -m benchmarks.measures '{"measure": ..., ...}'``; prints one JSON object.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from benchmarks.pages import Record
from dlm.data.facts import Facts, Rows
from dlm.data.readers import read_facts
from dlm.engines import run_program
from dlm.logic import parse_program
from dlm.tasks import draw_instance, get_task

__all__ = ["main", "measure"]


BITS_RUNS = 25
EXPLAINED_ATOMS = 20

TINY = Facts(np.arange(1), {"p": np.zeros((1, 1), dtype=np.int64)})


def measure(asked: Record) -> Record:
    """Measure in another process."""
    command = [sys.executable, "-m", "benchmarks.measures", json.dumps(asked)]
    # Files, not pipes: a pipe ends only when Spark's Java machine has ended too, which may outlive the process.
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        code = subprocess.run(command, stdout=out, stderr=err, check=False).returncode
        out.seek(0)
        err.seek(0)
        if code:
            raise RuntimeError(f"{' '.join(command)} failed:\n{err.read()}")
        found: Record = json.loads(out.read().splitlines()[-1])
    return found


def main() -> None:
    """Measure what the argument asks for."""
    asked = json.loads(sys.argv[1])
    print(json.dumps(MEASURES[asked.pop("measure")](**asked)))


def _bits(program: str, task: str, objects: int) -> Record:
    """A small instance in memory, by the bits engine."""
    instance = draw_instance(task, objects)
    known = parse_program(program)
    before = _peak_bytes()
    times = []
    for _ in range(BITS_RUNS):
        with _clock() as seconds:
            rows = run_program(known, instance.facts, "bits").rows()
        times.append(seconds())
    peak = _peak_bytes()
    return {
        "seconds": statistics.median(times),
        "worst_seconds": max(times),
        "bare_bytes": _bare_bytes(),
        "imported_bytes": before,
        "peak_bytes": peak,
        "answers": len(rows),
        "right": np.array_equal(rows, instance.answers),
    }


def _query(program: str, engine: str, folder: str) -> Record:
    """An instance on disk, by an engine for large ones."""
    with _clock() as starting:
        run_program(parse_program("t(x) :- p(x)."), TINY, engine).rows()
    with _clock() as reading:
        facts = read_facts(Path(folder, "facts"))
    with _clock() as running:
        answers = run_program(parse_program(program), facts, engine)
        batches = list(answers.stream())
    peak = _peak_bytes()
    rows = np.concatenate(batches) if batches else np.zeros((0, 1), dtype=np.int64)
    truth = _truth(folder)
    return {
        "objects": facts.size,
        "facts": sum(map(len, facts.relations.values())),
        "start_seconds": starting(),
        "read_seconds": reading(),
        "seconds": running(),
        "peak_bytes": peak,
        "answers": len(rows),
        "right": np.array_equal(rows[np.lexsort(rows.T[::-1])], truth),
    }


def _truth(folder: str) -> Rows:
    """The answers written by `dlm generate`, sorted as they are. Its objects are called by their numbers."""
    from pyarrow import parquet

    table = parquet.read_table(Path(folder, "answers.parquet"))
    return np.stack([column.to_numpy() for column in table.columns], axis=1)


def _explain(program: str, folder: str) -> Record:
    """Some atoms that are true and some that are not, after the facts were read."""
    from dlm.data.lookup import FactLookups
    from dlm.logic.explain.explain import explain
    from dlm.logic.explain.query import Query

    known = parse_program(program)
    with _clock() as reading:
        facts = read_facts(Path(folder, "facts"))
    lookups = FactLookups(facts)
    truth = _truth(folder)
    rng = np.random.default_rng(0)
    true = truth[rng.integers(0, len(truth), EXPLAINED_ATOMS)]
    # The answers of others: of the right kind, but about somebody else.
    false = np.stack((true[:, 0], rng.permutation(true[:, 1])), axis=1)
    found: Record = {"objects": facts.size, "read_seconds": reading()}
    for name, rows in (("true", true), ("false", false)):
        times = []
        for values in rows.tolist():
            with _clock() as seconds:
                explanation = explain(known, lookups, Query(known.target.name, tuple(map(str, values))))
                str(explanation)
            times.append(seconds())
            assert explanation.value == bool((truth == values).all(axis=1).any())
        found[name] = {"median_seconds": statistics.median(times), "worst_seconds": max(times)}
    return {**found, "peak_bytes": _peak_bytes()}


def _prove(program: str, task: str, objects: int) -> Record:
    """A program against the task's definition, given the axioms of its worlds."""
    from dlm.prove import prove_equal

    known = get_task(task)
    with _clock() as seconds:
        proof = prove_equal(parse_program(program), known.definition, objects=objects, given=known.axioms)
    counterexample = proof.counterexample
    return {
        "objects": proof.objects,
        "equal": proof.equal,
        "seconds": seconds(),
        "counterexample": None
        if counterexample is None
        else {name: sorted(rows) for name, rows in counterexample.relations.items() if rows},
    }


MEASURES: dict[str, Callable[..., Record]] = {
    "bits": _bits,
    "query": _query,
    "explain": _explain,
    "prove": _prove,
}


@contextmanager
def _clock() -> Iterator[Callable[[], float]]:
    """A function that says, at the end of the block and after, how long the block took."""
    started = time.perf_counter()
    taken = 0.0
    yield lambda: taken
    taken = time.perf_counter() - started


def _peak_bytes() -> int:
    return _peak_in(Path("/proc/self/status").read_text())


def _bare_bytes() -> int:
    """What an interpreter takes that has done nothing."""
    code = "print(open('/proc/self/status').read())"
    return _peak_in(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def _peak_in(status: str) -> int:
    # Unlike getrusage's, this figure starts anew with each program.
    line = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024


if __name__ == "__main__":
    main()
