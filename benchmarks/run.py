"""Learned programs at work: on a million objects, explained and proven.

Run as ``python -m benchmarks.run`` (``make bench-run``). Programs are learned first, or taken from ``--programs``, a
folder of files such as ``family-is-uncle.dlm``. Every measurement is a process of its own (`benchmarks.measures`), one
after another. What is done is kept in ``docs/benchmarks/run.json`` as it comes and not repeated; ``--fresh`` starts
over.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measures import measure
from benchmarks.pages import OUT, Record, commit, machine, render, write
from dlm import Result, learn
from dlm.logic import format_program
from dlm.programs import read_program
from dlm.tasks import draw_instance

__all__ = ["main", "page"]

SEEDS = range(5)
"""A program is learned with each of these, and the smallest goes to work: the way to a rule that reads well."""

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


@dataclass(frozen=True)
class Job:
    """One measurement, and the instance it needs."""

    key: str
    asked: Record
    task: str
    objects: int | None = None

    def run(self, program: str, folder: Path) -> Record:
        asked = {"program": program, **self.asked}
        if self.objects is not None:
            asked["folder"] = str(_instance(self.task, self.objects, folder))
        return {**measure(asked), "commit": commit()}


def _instance(task: str, objects: int, folder: Path) -> Path:
    """The folder of an instance, which is drawn if it is not there yet."""
    path = folder / f"{task.replace('/', '-')}-{objects}"
    if not path.exists():
        edges = EDGES_PER_NODE * objects if task.startswith("graph/") else None
        draw_instance(task, objects, edges=edges).write(path)
    return path


def jobs(*, quick: bool) -> Iterator[Job]:
    """All measurements, in the order of the page."""
    sizes = QUERY_SIZES[:1] if quick else QUERY_SIZES
    for size in BITS_SIZES[:1] if quick else BITS_SIZES:
        yield Job(f"bits {size}", {"measure": "bits", "task": GRANDPARENT, "objects": size}, GRANDPARENT)
    for task in FAMILY + GRAPH:
        for size in sizes:
            yield Job(f"duckdb {task} {size}", {"measure": "query", "engine": "duckdb"}, task, size)
    for task in FAMILY + GRAPH if not quick else ():
        yield Job(f"spark {task} {SPARK_SIZE}", {"measure": "query", "engine": "spark"}, task, SPARK_SIZE)
    for task in EXPLAINED:
        yield Job(f"explain {task}", {"measure": "explain"}, task, sizes[-1])
    prove = {"measure": "prove", "task": GRANDPARENT, "objects": PROVED_OBJECTS}
    yield Job("prove learned", prove, GRANDPARENT)
    yield Job("prove broken", {**prove, "program": BROKEN}, GRANDPARENT)


def main() -> None:
    """Learn and measure what is missing, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--programs", type=Path, help="folder of programs instead of learning them")
    parser.add_argument("--out", type=Path, default=OUT, help="where run.md and run.json go")
    parser.add_argument("--quick", action="store_true", help="10,000 objects at most, no Spark")
    parser.add_argument("--only", help="only measurements whose name starts like this")
    parser.add_argument("--fresh", action="store_true", help="forget earlier measurements")
    options = parser.parse_args()
    path = options.out / "run.json"
    kept: Record = {"machine": machine(), "programs": {}, "measurements": {}}
    if path.exists() and not options.fresh:
        kept = json.loads(path.read_text())
    with tempfile.TemporaryDirectory(prefix="dlm-bench-") as folder:
        for job in jobs(quick=options.quick):
            if job.key in kept["measurements"] or (options.only and not job.key.startswith(options.only)):
                continue
            if job.task not in kept["programs"]:
                kept["programs"][job.task] = _program(job.task, options.programs)
            print(job.key, end=" ", flush=True)
            figures = job.run(kept["programs"][job.task]["program"], Path(folder))
            kept["measurements"][job.key] = figures
            print(json.dumps(figures), flush=True)
            write(options.out, "run", kept, page(kept))
    write(options.out, "run", kept, page(kept))


def _program(task: str, folder: Path | None) -> dict[str, str]:
    """A program for the task, and where it comes from."""
    if folder is not None:
        path = folder / f"{task.replace('/', '-')}.dlm"
        return {"program": format_program(read_program(path)), "origin": f"read from {path}"}
    print(f"learning {task}", flush=True)
    runs = [learn(task, seed=seed) for seed in SEEDS]
    results = [result for result in runs if isinstance(result, Result) and result.verified]
    if not results:
        raise RuntimeError(f"no program was verified for {task}; try again on a machine that does nothing else")
    result = min(results, key=lambda result: result.program.size)
    sizes = ", ".join(str(result.program.literals) for result in results)
    origin = (
        f"learned with seed {result.seed} by {result.learner} in {result.seconds:.1f} s; "
        f"the smallest of {len(results)}, which have {sizes} literals"
    )
    return {"program": format_program(result.program), "origin": origin}


def page(kept: Record) -> str:
    """The page of what was measured."""
    found: dict[str, list[Record]] = defaultdict(list)
    for job in jobs(quick=False):
        if job.key in kept["measurements"]:
            kind, *_, name = job.key.split()
            about = {"name": name, "task": job.task, "size": job.objects or job.asked.get("objects")}
            found[kind].append({**about, **kept["measurements"][job.key]})
    constants = {
        "published": PUBLISHED_SECONDS,
        "edges": EDGES_PER_NODE,
        "largest": QUERY_SIZES[-1],
        "limits": {task: LIMIT_SECONDS.get(task, LIMIT) for task in FAMILY + GRAPH},
        "proved_objects": PROVED_OBJECTS,
        "broken": BROKEN,
    }
    return render("run", {**kept, **constants, "found": found, "atoms": _atoms})


def _atoms(facts: dict[str, list[list[int]]] | None) -> str:
    atoms = (f"{name}({', '.join(map(str, values))})" for name, rows in (facts or {}).items() for values in rows)
    return ", ".join(atoms)


if __name__ == "__main__":
    main()
