"""The table of policies (table 1 of the paper): mean returns of the best seed, and of all seeds beside it."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from dlm.envs import domain_names
from dlm.policies.settings import METHODS as WORDS
from dlm.policies.settings import POLICY_LEARNERS
from dlm.policies.verify import Earned
from dlm.sweeps.job import Job, Record
from dlm.sweeps.paper.drawing import PAPER, draw_beside, save_figure
from dlm.sweeps.paper.experiment import Experiment, Method, Wanted
from dlm.sweeps.paper.figures import FIVE_STARTS, RL, RL_COLUMNS, Published
from dlm.sweeps.paper.outcomes import limits_of, spread

__all__ = ["RlTable", "earned"]

COLUMNS = {
    "nlrl": "NLRL",
    "dlm-incr-rl": "DLM+incr",
    "dlm-incr-sl": "DLM+incr (SL)",
    "imitation": "DLM+incr (SL)",
}
"""The paper's column of a learner."""
REPAIRED = Method("ppo+repair", "ppo", {}, "DLM", "PPO, and a local search that may mend or complete its program")
VARIANTS = (
    Method("ppo", "ppo", {"repair": False}, "DLM", "the program that PPO alone ends in"),
    Method(
        "ppo-list",
        "ppo",
        {"repair": False, "model": "list"},
        "DLM+incr",
        "the program of a list of machines that PPO alone ends in, three at a time before the best so far",
    ),
    REPAIRED,
    Method("ppo-soft", "ppo", {"keep_soft": True}, "nIDLM", "the soft policy of PPO, which is no program"),
    Method(
        "ppo-soft-broad",
        "ppo",
        {"keep_soft": True, "breadth": 3, "residual": False},
        "nIDLM",
        "the same by a machine of breadth 3 without residual, the paper's for Path",
    ),
    Method(
        "ppo-soft-unviewed",
        "ppo",
        {"keep_soft": True, "model": "unviewed"},
        "nIDLM",
        "the same on the paper's observation: Blocksworld's blocks and their copies are objects of their own",
    ),
    Method(
        "ppo-soft-joined",
        "ppo",
        {"keep_soft": True, "model": "joined"},
        "nIDLM",
        "the same, with the two copies of a block joined at the output: the paper's model for Blocksworld",
    ),
    Method(
        "ppo-soft+rollouts",
        "ppo",
        {"keep_soft": True, "rollouts": True, "constants": "published", "repeats": False},
        "nIDLM",
        "the published program's machine, by PPO until it succeeds, and then by policy iteration with rollouts",
    ),
    Method("nlm", "ppo", {"keep_soft": True, "model": "nlm"}, "NLM", "the soft policy of a neural logic machine"),
)
"""Rows that are learners with settings; all other learners are rows of their own names."""
LIMITS = {"fast": 590.0, "paper": 36_000.0}


class RlTable(Experiment):
    """Six worlds to act in."""

    name = "rl"
    tasks = domain_names()
    usual = ("ppo", "ppo-soft")
    schedules = ("fast", "paper")

    @property
    def methods(self) -> Mapping[str, Method]:
        learners = {
            name: Method(name, name, column=COLUMNS.get(name), words=WORDS.get(name, "")) for name in POLICY_LEARNERS
        }
        return {**learners, **{method.name: method for method in VARIANTS}}

    def planned(self, wanted: Wanted) -> list[Job]:
        schedule = self.schedule(wanted)
        return self.chosen_jobs(wanted, LIMITS[schedule], {} if schedule == "fast" else {"schedule": schedule})

    def refusal(self, job: Job) -> str | None:
        if job.asked == REPAIRED.name and job.settings.get("schedule") == "paper":
            return f"the paper's schedule repairs no programs: {REPAIRED.name} has the schedule fast"
        return super().refusal(job)

    def figures(self, records: Sequence[Record], wanted: Wanted) -> Record:
        rows = [
            row
            for method in self.methods.values()
            for task in self.tasks
            if (runs := [run for run in records if (run["asked"], run["task"]) == (method.name, task)])
            for row in _rows(task, method, runs)
        ]
        return {
            "schedule": self.schedule(wanted),
            "tasks": {task: [test for known, test in RL if known == task] for task in self.tasks},
            "overview": _overview(list(self.methods.values()), records, self.tasks),
            "rows": rows,
            "methods": {row["method"]: self.methods[row["method"]].words for row in rows},
            "columns": RL_COLUMNS,
            "paper": [[task, test, *map(_published, figures)] for (task, test), figures in RL.items()],
            "commits": sorted({run["commit"] for run in records}),
            "hours": sum(run.get("cpu_seconds") or 0 for run in records) / 3600,
        }

    def draw(self, figures: Record, path: Path) -> None:
        """The best seed of each test beside the paper's."""
        rows = [row for row in figures["rows"] if row["paper"] is not None]
        run = {row["task"] for row in rows}
        shown: dict[str, dict[str, dict[str, float | None]]] = {
            column: {
                PAPER: {
                    _short(task, test): known[RL_COLUMNS.index(column)].get("mean")
                    for task, test, *known in figures["paper"]
                    if task in run
                }
            }
            for column in dict.fromkeys(row["column"] for row in rows)
        }
        for row in rows:
            shown[row["column"]].setdefault(row["method"], {})[_short(row["task"], row["test"])] = row["best"]
        save_figure(draw_beside(shown, "mean return of the best seed"), path)


def _short(task: str, test: str) -> str:
    """A test in few words."""
    return f"{task.partition('/')[2]}, {test if test != FIVE_STARTS else '5 starts'}"


def earned(run: Record) -> list[Earned]:
    """What the policy that was asked for earned: the program, or the soft policy."""
    return [Earned.from_json(test) for test in run.get("soft_returns") or run["returns"]]


def _literals(runs: Sequence[Record]) -> float | None:
    """The median size of the programs that were tested; a soft policy is none."""
    sizes = [run["literals"] for run in runs if not run.get("soft_returns")]
    return statistics.median(sizes) if sizes else None


def _published(figure: Published | str) -> Record:
    return {"sign": figure} if isinstance(figure, str) else asdict(figure)


def _overview(methods: Sequence[Method], records: Sequence[Record], tasks: Sequence[str]) -> list[Record]:
    """A row for each column of the paper and one for each method beside it; a cell for each task."""
    tests = {task: [test for known, test in RL if known == task] for task in tasks}
    found: list[Record] = []
    for column in (*RL_COLUMNS, None):
        rows = []
        for method in methods:
            runs: dict[str, list[Record]] = {task: [] for task in tasks}
            for run in records if method.column == column else ():
                if run["asked"] == method.name:
                    runs[run["task"]].append(run)
            if any(runs.values()):
                cells = [_cell(task, method, runs[task], tests[task]) for task in tasks]
                rows.append({"method": method.name, "column": column, "cells": cells})
        if rows and column is not None:
            at = RL_COLUMNS.index(column)
            published = [{"best": [_published(RL[task, test][at]) for test in tests[task]]} for task in tasks]
            found.append({"method": None, "column": column, "cells": published})
        found += rows
    return found


def _cell(task: str, method: Method, runs: Sequence[Record], tests: Sequence[str]) -> Record | None:
    """What the best seed earns in the tests that the paper has, and how many seeds earn the optimum in all tests."""
    if not runs:
        return None
    by_test = {row["test"]: row["best"] for row in _rows(task, method, runs)}
    optimal = sum(all(test.optimal for test in earned(run)) for run in runs)
    return {"best": [{"mean": by_test[test]} for test in tests], "optimal": optimal, "runs": len(runs)}


def _rows(task: str, method: Method, runs: Sequence[Record]) -> list[Record]:
    """A row for each test of a task, and for several starts of one world their mean."""
    tests = [earned(run) for run in runs]
    best = max(tests, key=lambda each: sum(test.mean for test in each))
    named = [(test.name, slice(place, place + 1)) for place, test in enumerate(best)]
    rows = []
    for name, which in ([(FIVE_STARTS, slice(None))] if len(named) > 2 else []) + named:
        means = [statistics.mean(test.mean for test in each[which]) for each in tests]
        optima = [test.optimum for each in tests for test in each[which]]
        known = RL.get((task, name)) if method.column else None
        rows.append(
            {
                "method": method.name,
                "task": task,
                "test": name,
                "column": method.column,
                "runs": len(runs),
                "verified": sum(run["verified"] for run in runs),
                "optimal": sum(all(test.optimal for test in each[which]) for each in tests),
                "made_by": [run["learner"] for run in runs],
                "best": statistics.mean(test.mean for test in best[which]),
                "mean": statistics.mean(means),
                "spread": spread(means),
                "success": statistics.mean(test.success for each in tests for test in each[which]),
                "optimum": None if None in optima else statistics.mean(value for value in optima if value is not None),
                "seconds": statistics.median(run["wall_seconds"] for run in runs),
                "cpu_seconds": statistics.median(run["cpu_seconds"] for run in runs),
                "limits": limits_of(runs),
                "literals": _literals(runs),
                "paper": None if known is None else _published(known[RL_COLUMNS.index(method.column or "")]),
            }
        )
    return rows
