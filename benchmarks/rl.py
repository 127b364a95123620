"""The tables of policies: six tasks, four learners, fresh seeds, and learning curves.

Run as ``python -m benchmarks.rl`` (``make bench-rl``), or table by table with ``--part``. Every run is one ``dlm learn
--json`` in a process of its own, so its seconds count from the start of the process to the tested program. Runs of
`auto` have the machine to themselves; the others use one thread each and go side by side. Finished runs are kept in
``docs/benchmarks/rl.json`` as they come, with their learning curves, and not repeated; ``--fresh`` repeats the chosen
ones. A run that ends in an error is shown and tried again the next time. ``--page`` runs nothing and draws anew.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from benchmarks.rl_curves import draw_curves, read_curve
from benchmarks.rl_page import page
from benchmarks.rl_parts import PARTS, Record, is_reached
from dlm.envs import domain_names

__all__ = ["main"]

OUT = Path("docs/benchmarks")
RUNS = Path("runs")
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
PATIENCE = 600
"""Seconds beyond its limit after which a run is taken for lost."""
LEARNED = (0, 3)
"""Exit codes of `dlm learn` that come with a program."""


@dataclass(frozen=True)
class Job:
    """One run of a table."""

    part: str
    learner: str
    task: str
    seed: int
    limit: float

    @property
    def key(self) -> str:
        return f"{self.part} {self.learner} {self.task} {self.seed}"

    def run(self, folder: Path) -> Record:
        """Learn; an error is a result too."""
        part, out = PARTS[self.part], folder / f"{self.key.replace(' ', '-').replace('/', '-')}-{time.time_ns()}"
        command = [sys.executable, "-m", "dlm", "learn", self.task, "--learner", self.learner, "--json"]
        command += ["--seed", str(self.seed), "--time-limit", str(self.limit), "--out", str(out)]
        command += ["--keep-soft"] if part.keep_soft else []
        about = {"part": self.part, "asked": self.learner, "task": self.task, "seed": self.seed, "limit": self.limit}
        environment = os.environ if part.alone else {**os.environ, **ONE_THREAD}
        start = time.monotonic()
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, env=environment, check=False, timeout=self.limit + PATIENCE
            )
        except subprocess.TimeoutExpired:
            return {**about, "commit": _commit(), "error": f"did not end {PATIENCE} s after its time limit"}
        about |= {"wall_seconds": round(time.monotonic() - start, 2), "commit": _commit()}
        if done.returncode not in LEARNED:
            return {**about, "error": done.stderr.strip()[-500:] or f"exit code {done.returncode}"}
        return {**json.loads(done.stdout), **about, "curve": read_curve(out)}


def main() -> None:
    """Run what is missing, then write the page and draw the curves."""
    options = _options()
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / "rl.json"
    records: dict[str, Record] = json.loads(path.read_text()) if path.exists() else {}
    for name in () if options.page else options.part or PARTS:
        jobs = [job for job in _jobs(name, options) if options.fresh or "error" in records.get(job.key, {"error": ""})]
        with ThreadPoolExecutor(1 if PARTS[name].alone else options.jobs) as pool:
            running = {pool.submit(job.run, options.runs): job for job in jobs}
            for done in as_completed(running):
                key, record = running[done].key, done.result()
                records[key] = record
                print(f"{key}: {_outcome(record)}", flush=True)
                _save(path, records)
    draw_curves(list(records.values()), options.out)
    (options.out / "rl.md").write_text("\n".join(page(records, options.out)) + "\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--part", choices=sorted(PARTS), action="append", help="only these tables")
    parser.add_argument("--learner", action="append", help="only these learners")
    parser.add_argument("--task", choices=domain_names(), action="append", help="only these tasks")
    parser.add_argument("--seeds", type=int, help="only the first so many seeds")
    parser.add_argument("--first-seed", type=int, default=0, help="for trials that are no part of a table")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs side by side, but for auto")
    parser.add_argument("--time-limit", type=float, help="seconds of learning, instead of the table's")
    parser.add_argument("--out", type=Path, default=OUT, help="where rl.md, rl.json and the pictures go")
    parser.add_argument("--runs", type=Path, default=RUNS, help="where run folders go")
    parser.add_argument("--page", action="store_true", help="run nothing, write the page from rl.json")
    parser.add_argument("--fresh", action="store_true", help="repeat the chosen runs")
    return parser.parse_args()


def _jobs(name: str, options: argparse.Namespace) -> Iterator[Job]:
    """The chosen runs of a table, so that all tasks are seen early."""
    part = PARTS[name]
    seeds = part.seeds if options.seeds is None else min(part.seeds, options.seeds)
    for seed in range(options.first_seed, options.first_seed + seeds):
        for task in part.tasks:
            for learner in part.learners:
                chosen = (not options.task or task in options.task) and (
                    not options.learner or learner in options.learner
                )
                if chosen:
                    yield Job(name, learner, task, seed, options.time_limit or part.limits[task])


def _outcome(record: Record) -> str:
    if "error" in record:
        return f"ERROR {record['error']}"
    part = PARTS[record["part"]]
    returns = ", ".join(f"{test['mean']:.3f}" for test in record["soft_returns" if part.keep_soft else "returns"])
    state = "reached" if is_reached(record, part) else "verified" if record["verified"] else "FAILED"
    return f"{state} by {record['learner']} in {record['wall_seconds']} s, returns {returns}"


def _save(path: Path, records: dict[str, Record]) -> None:
    """One line a run."""
    lines = (f"{json.dumps(key)}: {json.dumps(records[key], sort_keys=True)}" for key in sorted(records))
    draft = path.with_suffix(".draft")
    draft.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    draft.replace(path)


def _commit() -> str:
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip() or "unknown"


if __name__ == "__main__":
    main()
