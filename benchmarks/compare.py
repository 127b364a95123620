"""Two trees of this repository side by side: the same measurement in both, in turn, on one machine.

Run as ``python -m benchmarks.compare OLD NEW --benchmarks ilp --learners search --seeds 0-4``. Each measurement is a
process with the ``src`` of one tree on its path (`benchmarks.probe`: public calls alone; for a training step the tree's
own benchmark). What is measured is kept in ``docs/benchmarks/compare.json`` as it comes; a pair is measured again if
the code of one of its trees has changed since.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.ilp import PLANS
from benchmarks.pages import Record, commit, machine, render
from benchmarks.rl_parts import PARTS
from benchmarks.sweep import ONE_THREAD, Records, parser

__all__ = ["main", "page"]

ROOT = Path(__file__).parents[1]
PROBE = Path(__file__).with_name("probe.py")
SIDES = ("old", "new")
BENCHMARKS = ("ilp", "rl", "step", "run")
ILP, RL = PLANS["search"].limits, {task: s for task, s in PARTS["auto"].limits.items() if task != "rl/blocksworld"}
STEPS = ("HasFather", "IsGrandparent", "IsMGUncle", "4-Connectivity", "6-Connectivity", "1-OutDegree", "2-OutDegree")
GRANDPARENT = "family/is-grandparent"
OBJECTS = {"bits": (130, 1000), "duckdb": (10_000, 100_000)}
TIMES = {"bits": 15, "duckdb": 5}
PATIENCE = 600
SLOWER = 1.10
"""The ratio of CPU seconds from which a case is named."""


@dataclass(frozen=True)
class Case:
    """Something to measure in both trees, and the task and size of the instance that it needs."""

    benchmark: str
    name: str
    asked: Record
    instance: tuple[str, int] | None = None


def cases(chosen: argparse.Namespace) -> Iterator[Case]:
    """What was asked for."""
    for benchmark, limits in (("ilp", ILP), ("rl", RL)):
        for task in limits if benchmark in chosen.benchmarks else ():
            for learner in chosen.learners or (("search", "auto") if benchmark == "ilp" else ("auto",)):
                if task in (chosen.tasks or limits):
                    asked = {"measure": "learn", "task": task, "learner": learner}
                    yield Case(benchmark, f"{learner} {task}", {**asked, "limit": chosen.time_limit or limits[task]})
    for name in STEPS if "step" in chosen.benchmarks else ():
        yield Case("step", name, {})
    programs: Record = json.loads((ROOT / "docs" / "benchmarks" / "run.json").read_text())["programs"]
    for task in programs if "run" in chosen.benchmarks else ():
        if task in (chosen.tasks or programs):
            program = programs[task]["program"]
            for engine, sizes in OBJECTS.items():
                for size in sizes if engine == "duckdb" or task == GRANDPARENT else ():
                    asked = {"measure": "run", "program": program, "engine": engine, "times": TIMES[engine]}
                    yield Case("run", f"{engine} {task} {size}", asked, (task, size))
            if task == GRANDPARENT:
                yield Case("run", f"explain {task}", {"measure": "explain", "program": program}, (task, 10_000))
                yield Case("run", f"prove {task}", {"measure": "prove", "program": program, "task": task, "objects": 5})


def main() -> None:
    """Measure what is missing, then write the page."""
    asked = parser(__doc__, (*ILP, *RL), ("auto", "search", "gradient", "ppo"))
    asked.add_argument("trees", nargs=2, type=Path, metavar="TREE", help="the old and the new one")
    asked.add_argument("--benchmarks", nargs="+", choices=BENCHMARKS, default=BENCHMARKS, help="only these")
    asked.add_argument("--only", default="", help="only cases whose name starts like this, such as 'bits'")
    asked.add_argument("--time-limit", type=float, help="seconds of learning, instead of the benchmark's")
    chosen = asked.parse_args()
    trees = {side: tree.resolve() for side, tree in zip(SIDES, chosen.trees, strict=True)}
    commits = {side: commit(tree, "src") for side, tree in trees.items()}
    records = Records(chosen.out / "compare.json")

    def is_known(key: str, side: str) -> bool:
        record = records.get(f"{key} {side}", {"error": ""})
        return not chosen.fresh and "error" not in record and record["commit"] == commits[side]

    with tempfile.TemporaryDirectory(prefix="dlm-compare-") as folder:
        for number, seed in enumerate(() if chosen.page else chosen.seeds or range(5)):
            for case in (case for case in cases(chosen) if case.name.startswith(chosen.only)):
                key = f"{case.benchmark} {case.name} {seed}"
                if all(is_known(key, side) for side in SIDES):
                    continue
                for side in SIDES[:: -1 if number % 2 else 1]:  # neither tree always comes first
                    found = _measure(case, seed, trees[side], trees["old"], Path(folder))
                    about = {"benchmark": case.benchmark, "case": case.name, "seed": seed, "side": side}
                    records.keep(f"{key} {side}", {**found, **about, "commit": commits[side], **machine()})
                    print(f"{key} {side}: {_outcome(found)}", flush=True)
    (chosen.out / "compare.md").write_text(page(records))


def _outcome(found: Record) -> str:
    if "error" in found:
        return f"ERROR {found['error']}"
    return f"{found['cpu_seconds']:.4g} s of CPU{'' if found.get('right', True) else ', FAILED'}"


def _measure(case: Case, seed: int, tree: Path, first: Path, folder: Path) -> Record:
    """Measure a case in one tree, on the instance that the first tree has drawn."""
    if case.benchmark == "step":
        module = "dlm.bench.step" if (tree / "src" / "dlm" / "bench").exists() else "benchmarks.step"
        found = _call(tree, ["-m", module, "--measure", case.name, "fast", "40"])
        return found if "error" in found else {"cpu_seconds": found["seconds"], "megabytes": found["megabytes"]}
    asked = {**case.asked, "seed": seed} if case.asked["measure"] == "learn" else case.asked
    if case.instance is not None:
        task, objects = case.instance
        drawn = folder / f"{task.replace('/', '-')}-{objects}"
        if not drawn.exists():
            drawing = {"measure": "draw", "task": task, "objects": objects, "folder": str(drawn)}
            _call(first, ["-P", str(PROBE), json.dumps(drawing)])
        asked = {**asked, "folder": str(drawn)}
    found = _call(tree, ["-P", str(PROBE), json.dumps(asked)], timeout=asked.get("limit", 0) + PATIENCE)
    if not Path(found.pop("dlm", tree / "src")).is_relative_to(tree / "src"):
        raise RuntimeError(f"what was measured is not in {tree}")
    return found


def _call(tree: Path, arguments: list[str], timeout: float = PATIENCE) -> Record:
    """What a process with the tree on its path prints as JSON; an error is a result too."""
    environment = {**os.environ, **ONE_THREAD, "PYTHONPATH": os.pathsep.join((str(tree / "src"), str(tree)))}
    command = [sys.executable, *arguments]
    try:
        done = subprocess.run(
            command, cwd=tree, env=environment, capture_output=True, text=True, check=False, timeout=timeout
        )
    except subprocess.TimeoutExpired:
        return {"error": f"did not end in {timeout:.0f} s"}
    if done.returncode:
        return {"error": done.stderr.strip()[-500:] or f"exit code {done.returncode}"}
    found: Record = json.loads(done.stdout.splitlines()[-1])
    return found


def page(records: dict[str, Record]) -> str:
    """The page of all pairs of which both sides are there."""
    done = {key: record for key, record in records.items() if "error" not in record}
    pairs: dict[str, dict[str, list[tuple[Record, Record]]]] = {benchmark: {} for benchmark in BENCHMARKS}
    for key, new in done.items():
        if new["side"] == "new" and (old := done.get(f"{key.removesuffix('new')}old")) is not None:
            pairs[new["benchmark"]].setdefault(new["case"], []).append((old, new))
    tables = {name: [_row(case, both) for case, both in found.items()] for name, found in pairs.items() if found}
    return render(
        "compare",
        {
            "commits": {side: [run for run in done.values() if run["side"] == side] for side in SIDES},
            "machine": next(iter(done.values()), machine()),
            "tables": tables,
            "ratios": {name: statistics.geometric_mean(row["ratio"] for row in rows) for name, rows in tables.items()},
            "limit": SLOWER,
            "slower": [(name, row) for name, rows in tables.items() for row in rows if row["ratio"] > SLOWER],
            "errors": {key: record["error"] for key, record in records.items() if "error" in record},
        },
    )


def _row(case: str, pairs: list[tuple[Record, Record]]) -> Record:
    """Medians over the pairs of a case, old and new; None for what is not measured."""
    sides = list(zip(*pairs, strict=True))
    row: Record = {"case": case, "pairs": len(pairs)}
    for name in ("cpu_seconds", "seconds", "literals"):
        row[name] = [statistics.median(run[name] for run in runs) if name in runs[0] else None for runs in sides]
    row["right"] = [sum(run["right"] for run in runs) if "right" in runs[0] else None for runs in sides]
    old, new = row["cpu_seconds"]
    return {**row, "ratio": new / old}


if __name__ == "__main__":
    main()
