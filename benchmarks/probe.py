"""One measurement of `benchmarks.compare`, by public calls that two trees of the repository have in common.

Run as ``python probe.py '{"measure": ..., ...}'`` with a tree's ``src`` on PYTHONPATH; prints one JSON object.
"""

from __future__ import annotations

import json
import resource
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

START = time.perf_counter()  # before dlm is imported

import numpy as np  # noqa: E402

import dlm  # noqa: E402

Figures = dict[str, Any]

ATOMS = 20


def main() -> None:
    asked = json.loads(sys.argv[1])
    print(json.dumps({"dlm": dlm.__file__, **MEASURES[asked.pop("measure")](**asked)}))


def learn(task: str, learner: Any, seed: int, limit: float) -> Figures:
    """Learn; seconds are those of the whole process and its helpers."""
    call = dlm.learn_policy if task.startswith("rl/") else dlm.learn
    result: Any = call(task, learner=learner, seed=seed, time_limit=limit)
    run = getattr(result, "run", result)  # a policy may keep what is known of its run there
    return {
        "seconds": time.perf_counter() - START,
        "cpu_seconds": cpu_seconds(),
        "right": bool(result.verified and getattr(run, "optimal", True)),
        "literals": result.program.literals,
        "learner": run.learner,
    }


def draw(task: str, objects: int, folder: str) -> Figures:
    """An instance as files."""
    edges = 3 * objects if task.startswith("graph/") else None
    dlm.draw_instance(task, objects, edges=edges).write(Path(folder))
    return {}


def run(program: str, folder: str, engine: str, times: int) -> Figures:
    """From facts to all answers."""
    known, facts, truth = dlm.parse_program(program), dlm.read_facts(Path(folder, "facts")), true_rows(folder)
    found, figures = repeat(times, lambda _: dlm.run(known, facts, engine).rows())
    return {**figures, "right": all(np.array_equal(rows[np.lexsort(rows.T[::-1])], truth) for rows in found)}


def explain(program: str, folder: str) -> Figures:
    """Some true atoms, one at a time."""
    known, facts = dlm.parse_program(program), dlm.read_facts(Path(folder, "facts"))
    rows = np.random.default_rng(0).choice(true_rows(folder), ATOMS).tolist()
    atoms = [f"{known.target.name}({', '.join(map(str, row))})" for row in rows]
    found, figures = repeat(ATOMS, lambda number: dlm.explain(known, facts, atoms[number]))
    return {**figures, "right": all(each.value and str(each) for each in found)}


def prove(program: str, task: str, objects: int) -> Figures:
    """A program against the task's definition, given the axioms of its worlds."""
    known, against = dlm.parse_program(program), dlm.get_task(task)
    definition, axioms = against.definition, against.axioms
    found, figures = repeat(3, lambda _: dlm.prove_equal(known, definition, objects=objects, given=axioms))
    return {**figures, "right": all(proof.equal for proof in found)}


def repeat(times: int, call: Callable[[int], Any]) -> tuple[list[Any], Figures]:
    """What some calls return, and the medians of their seconds."""
    found, wall, cpu = [], [], []
    for number in range(times):
        begin, begin_cpu = time.perf_counter(), cpu_seconds()
        found.append(call(number))
        wall.append(time.perf_counter() - begin)
        cpu.append(cpu_seconds() - begin_cpu)
    return found, {"seconds": statistics.median(wall), "cpu_seconds": statistics.median(cpu)}


def cpu_seconds() -> float:
    """Of this process and of those it has started and waited for."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def true_rows(folder: str) -> Any:
    from pyarrow import parquet

    table = parquet.read_table(Path(folder, "answers.parquet"))
    return np.stack([column.to_numpy() for column in table.columns], axis=1)


MEASURES: dict[str, Callable[..., Figures]] = {
    "learn": learn,
    "draw": draw,
    "run": run,
    "explain": explain,
    "prove": prove,
}

if __name__ == "__main__":
    main()
