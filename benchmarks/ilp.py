"""The table of inductive logic programming: ten tasks, three learners, fresh seeds.

Run as ``python -m benchmarks.ilp`` (``make bench-ilp``). Every run is one ``dlm learn --json`` in a process
of its own, so its seconds count from the start of the process to the printed program. Runs of `auto`
have the machine to themselves; runs of one learner use one core and go side by side. Finished runs are
kept in ``docs/benchmarks/ilp.json`` as they come and not repeated; ``--fresh`` starts over.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dlm.tasks import task_names

__all__ = ["main"]

OUT = Path("docs/benchmarks")

SEEDS = {"auto": range(10), "search": range(10), "gradient": range(5)}
LIMIT = {"auto": 180, "search": 180, "gradient": 600}

LITERALS = {
    # atoms in the paper's own definition of each target
    "family/has-father": 1,
    "family/has-sister": 3,
    "family/is-grandparent": 4,
    "family/is-uncle": 8,
    "family/is-mguncle": 10,
    "graph/adjacent-to-red": 2,
    "graph/4-connectivity": 8,
    "graph/6-connectivity": 13,
    "graph/1-outdegree": 2,
    "graph/2-outdegree": 3,
}

PAPER = {
    # success rates at m and M and percentage of successful seeds: dNL-ILP; dILP (seeds not published); NLM; DLM
    "family/has-father": "100 / 100 / 100 | 100 / 100 | 100 / 100 / 100 | 100 / 100 / 100",
    "family/has-sister": "100 / 100 / 40 | 100 / 100 | 100 / 100 / 100 | 100 / 100 / 100",
    "family/is-grandparent": "100 / 100 / 80 | 100 / 100 | 100 / 100 / 100 | 100 / 100 / 100",
    "family/is-uncle": "97.32 / 96.77 / 0 | 100 / 100 | 100 / 100 / 90 | 100 / 100 / 100",
    "family/is-mguncle": "99.09 / N/A / 0 | 100 / 100 | 100 / 100 / 20 | 100 / 100 / 70",
    "graph/adjacent-to-red": "100 / 100 / 100 | 100 / 100 | 100 / 100 / 90 | 100 / 100 / 90",
    "graph/4-connectivity": "91.36 / 85.30 / 0 | 100 / 100 | 100 / 100 / 100 | 100 / 100 / 100",
    "graph/6-connectivity": "92.80 / N/A / 0 | 100 / 100 | 100 / 100 / 60 | 100 / 100 / 90",
    "graph/1-outdegree": "82.00 / 78.44 / 0 | 100 / 100 | 100 / 100 / 100 | 100 / 100 / 100",
    "graph/2-outdegree": "83.39 / 8.24 / 0 | N/A / N/A | 100 / 100 / 100 | 100 / 100 / 100",
}

INTRODUCTION = f"""
Written by `make bench-ilp` from `ilp.json`, which holds every run. Settings are the defaults of the
commit named with each table, frozen before its seeds were run; a later commit may have other defaults.
Seconds are wall time from the start of the process to the printed,
pruned, verified program, on a machine with 2 cores: `auto` uses both, `search` and `gradient` use one each and
were run two at a time. The limit is {LIMIT["auto"]} s, for `gradient` {LIMIT["gradient"]} s.

*m*, *M*: mean share of right atoms over 250 fresh instances of the training and the large size, averaged over
seeds. *PSS*: percentage of seeds with a verified program within the limit; *first*: by the first start of the
learner alone. *raw*, *final*: median literals of the program as extracted and after pruning (in brackets the
largest); *paper's*: literals of the paper's own definition. *defs*: median (largest) number of definitions.
"""

Record = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """One run of the table."""

    learner: str
    task: str
    seed: int

    @property
    def key(self) -> str:
        return f"{self.learner} {self.task} {self.seed}"

    def run(self) -> Record:
        command = [sys.executable, "-m", "dlm", "learn", self.task, "--learner", self.learner, "--json"]
        command += ["--seed", str(self.seed), "--time-limit", str(LIMIT[self.learner]), "--out", str(self.folder)]
        threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        start = time.monotonic()
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **threads}, check=False)
        seconds = time.monotonic() - start
        if done.returncode not in (0, 3):
            raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
        record = {**json.loads(done.stdout), "asked": self.learner, "wall_seconds": round(seconds, 2)}
        return {**record, "commit": _commit()}

    @property
    def folder(self) -> Path:
        return Path("runs") / f"bench-{self.learner}-{self.task.replace('/', '-')}-{self.seed}-{int(time.time())}"


def main() -> None:
    """Run what is missing, then write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--learner", choices=sorted(SEEDS), action="append", help="only these learners")
    parser.add_argument("--task", choices=task_names(), action="append", help="only these tasks")
    parser.add_argument("--seeds", type=int, help="only the first so many seeds")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs side by side, but for auto")
    parser.add_argument("--fresh", action="store_true", help="forget earlier runs")
    options = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    path = OUT / "ilp.json"
    records: dict[str, Record] = {}
    if path.exists() and not options.fresh:
        records = json.loads(path.read_text())
    for learner in options.learner or SEEDS:
        jobs = [
            Job(learner, task, seed)
            for seed in list(SEEDS[learner])[: options.seeds]
            for task in options.task or task_names()
        ]
        jobs = [job for job in jobs if job.key not in records]
        with ThreadPoolExecutor(1 if learner == "auto" else options.jobs) as pool:
            running = {pool.submit(job.run): job for job in jobs}
            for done in as_completed(running):
                key, record = running[done].key, done.result()
                records[key] = record
                state = "verified" if record["verified"] else "FAILED"
                print(f"{key}: {state} by {record['learner']} in {record['wall_seconds']} s", flush=True)
                path.write_text(json.dumps(records, indent=1, sort_keys=True) + "\n")
    (OUT / "ilp.md").write_text("\n".join(_page(records)) + "\n")


def _commit() -> str:
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip() or "unknown"


def _page(records: dict[str, Record]) -> Iterator[str]:
    yield "# Ten tasks, three learners"
    yield INTRODUCTION
    for learner in SEEDS:
        rows = [record for record in records.values() if record["asked"] == learner]
        if rows:
            commits = sorted({row["commit"] for row in rows})
            yield f"## {learner}\n\nRun on commit {', '.join(commits)}.\n"
            yield from _table(rows)
            yield ""
    yield "## The paper\n"
    yield "| task | dNL-ILP m / M / PSS | dILP m / M | NLM m / M / PSS | DLM m / M / PSS |"
    yield "|---|---|---|---|---|"
    yield from (f"| {task} | {PAPER[task]} |" for task in task_names())
    failed = [key for key, record in records.items() if not record["verified"]]
    yield f"\nRuns here that were not verified: {', '.join(sorted(failed)) or 'none'}."
    made = Counter(record["learner"] for record in records.values() if record["asked"] == "auto")
    yield f"\nWho made the programs of `auto`: {', '.join(f'{name} {count}' for name, count in made.most_common())}."
    yield "\n## Programs of `auto`, seed 0\n\n```"
    for task in task_names():
        record = records.get(f"auto {task} 0")
        if record is not None:
            yield f"# {task}\n{record['program']}"
    yield "```"


def _table(rows: list[Record]) -> Iterator[str]:
    yield "| task | seeds | m % | M % | PSS | first | median s | worst s | raw | final | paper's | defs |"
    yield "|---|---|---|---|---|---|---|---|---|---|---|---|"
    for task in task_names():
        runs = [row for row in rows if row["task"] == task]
        if not runs:
            continue
        seconds = [run["wall_seconds"] for run in runs]
        literals = [run["literals"] for run in runs]
        definitions = [run["definitions"] for run in runs]
        cells = [
            task,
            len(runs),
            f"{100 * statistics.mean(run['success_rate_train_size'] for run in runs):.6g}",
            f"{100 * statistics.mean(run['success_rate_large'] for run in runs):.6g}",
            f"{100 * statistics.mean(run['verified'] for run in runs):.0f}",
            f"{100 * statistics.mean(run['verified'] and run['starts'] == 1 for run in runs):.0f}",
            f"{statistics.median(seconds):.1f}",
            f"{max(seconds):.1f}",
            f"{statistics.median(run['raw_literals'] for run in runs):g}",
            f"{statistics.median(literals):g} ({max(literals)})",
            LITERALS[task],
            f"{statistics.median(definitions):g} ({max(definitions)})",
        ]
        yield "| " + " | ".join(map(str, cells)) + " |"


if __name__ == "__main__":
    main()
