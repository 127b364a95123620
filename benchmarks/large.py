"""Data of a user's own that are large: a world in Parquet with a hidden rule, and a file of triples.

Parts of ``python -m benchmarks.data large`` (``make bench-data ARGS="large"``).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.pages import Record
from dlm import parse_program
from dlm.prove import prove_equal

__all__ = ["HIDDEN", "large_pieces", "write_triples", "write_world"]

OBJECTS, LABELS, TRIPLES = 1_000_000, 2_000, 1_000_000
HIDDEN = "hit(x) :- exists y: cites(x, y) & (exists z: knows(y, z) & red(z) & ~old(z))."

Bools = NDArray[np.bool_]


def large_pieces() -> Iterator[tuple[str, Callable[[], Record]]]:
    """A world of a million objects and four million facts, and a million triples."""
    for seed in range(3):
        yield f"large seed {seed}", lambda seed=seed: _learn(seed)  # type: ignore[misc]
    yield "large triples", _inspect


def write_world(folder: Path, objects: int, labels: int, rng: np.random.Generator) -> Bools:
    """Two relations and two properties, four facts an object, and labels of the hidden rule; what is true of whom."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    def write(name: str, *columns: NDArray[np.int64]) -> None:
        pq.write_table(pa.table(dict(zip("ab", columns, strict=False))), folder / f"{name}.parquet")

    def pairs(count: int) -> NDArray[np.int64]:
        keys = np.unique(rng.integers(objects, size=count) * objects + rng.integers(objects, size=count))
        return np.stack(np.divmod(keys, objects))

    cites, knows = pairs(7 * objects // 4), pairs(7 * objects // 4)
    red, old = rng.random(objects) < 0.3, rng.random(objects) < 0.2
    write("cites", *cites)
    write("knows", *knows)
    write("red", np.flatnonzero(red))
    write("old", np.flatnonzero(old))
    truth = _leads(cites, _leads(knows, red & ~old))
    asked = rng.choice(objects, labels, replace=False)
    table = pa.table({"a": asked, "label": truth[asked].astype(np.int64)})
    pq.write_table(table, folder / "hit.parquet")
    return truth


def _leads(pairs: NDArray[np.int64], there: Bools) -> Bools:
    found = np.zeros_like(there)
    found[pairs[0, there[pairs[1]]]] = True
    return found


def write_triples(path: Path, count: int, rng: np.random.Generator) -> None:
    """Triples of a few predicates over a fifth as many things."""
    things = count // 5
    subjects, objects = rng.integers(things, size=(2, count)).tolist()
    predicates = rng.integers(12, size=count).tolist()
    with path.open("w") as out:
        out.writelines(f"thing{s}\trel{p}\tthing{o}\n" for s, p, o in zip(subjects, predicates, objects, strict=True))


def _learn(seed: int) -> Record:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "world"
        folder.mkdir()
        write_world(folder, OBJECTS, LABELS, np.random.default_rng(seed))
        # on a busy machine the default limit may be over before the work is done
        asked = ("--json", "--seed", str(seed), "--time-limit", "1800", "--out", str(Path(place) / "run"))
        said, cost = _measured("learn", str(folder), *asked)
    equal = prove_equal(parse_program(said["program"]), parse_program(HIDDEN), objects=3).equal
    train = said["train"]
    return {"what": "world", "seed": seed, "errors": train["fp"] + train["fn"], "exact": equal, **cost} | {
        "size": said["literals"],
        "program": said["program"],
    }


def _inspect() -> Record:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "facts.tsv"
        write_triples(path, TRIPLES, np.random.default_rng(0))
        said, cost = _measured("inspect", str(path), "--json")
    return {"what": "triples", "facts": said["facts"], "objects": said["objects"], **cost}


def _measured(*arguments: str) -> tuple[Record, Record]:
    """What a command printed, and what it took: wall and CPU seconds, gigabytes at most."""
    start = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "dlm", *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    said: Record = json.loads(process.stdout.read())
    _, _, usage = os.wait4(process.pid, 0)
    return said, {
        "seconds": round(time.monotonic() - start, 1),
        "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 1),
        "gigabytes": round(usage.ru_maxrss / 1e6, 2),
    }
