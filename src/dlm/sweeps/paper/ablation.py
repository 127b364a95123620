"""The ablation (table 2 of the paper): what noise, its decay, its distribution and dropout are good for."""

from __future__ import annotations

import statistics
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from dlm.sweeps.job import Job, Record
from dlm.sweeps.paper.drawing import draw_bars, save_figure
from dlm.sweeps.paper.experiment import Experiment, Method, Wanted
from dlm.sweeps.paper.figures import ABLATION
from dlm.sweeps.paper.outcomes import OWN_TRAINING, is_cut_short, spread, successful, tests_of
from dlm.sweeps.wording import counted
from dlm.tasks import task_names

__all__ = ["SHORTEN", "AblationTable"]

SHORTEN = 8.0
"""By how much the paper's schedule is shortened, in all rows alike: fewer and longer steps an epoch, as many epochs."""

ROWS = {
    "softmax": Method("softmax", "gradient", {"noise": "none", "dropout": 0}, words="softmax without noise"),
    "constant-noise": Method("constant-noise", "gradient", {"noise_decay": 1}, words="constant beta with dropout"),
    "no-dropout": Method("no-dropout", "gradient", {"dropout": 0}, words="without dropout"),
    "gaussian": Method("gaussian", "gradient", {"noise": "gaussian"}, words="Gaussian noise"),
    "dlm": Method("dlm", "gradient", words="all of it"),
}


class AblationTable(Experiment):
    """Five rows, ten tasks, five seeds, one start a seed."""

    name = "ablation"
    tasks = task_names()
    usual = tuple(ROWS)
    options = ("seeds", "limit", "shorten")

    @property
    def methods(self) -> Mapping[str, Method]:
        return ROWS

    def planned(self, wanted: Wanted) -> list[Job]:
        return self.chosen_jobs(wanted, OWN_TRAINING, {"schedule": "paper", "shorten": _factor(wanted)})

    def page_stem(self, wanted: Wanted) -> str:
        """A page for each factor; the runs of all are in one file."""
        factor = _factor(wanted)
        return self.stem(wanted) + ("" if factor == SHORTEN else f"-shorten-{factor:g}")

    def command(self, wanted: Wanted, methods: Collection[str]) -> str:
        return f"{super().command(wanted, methods)} --shorten {_factor(wanted):g}"

    def figures(self, records: Sequence[Record], wanted: Wanted) -> Record:
        factor, runs = _factor(wanted), records
        compared = _compared(runs)
        rows = [
            _row(method, mine)
            for method in ROWS.values()
            if (mine := [run for run in compared if run["asked"] == method.name])
        ]
        return {
            "shorten": factor,
            "rows": rows,
            "tasks": list(dict.fromkeys(run["task"] for run in compared)),
            "seeds": sorted({run["seed"] for run in compared}),
            "left_out": len(runs) - len(compared),
            "commits": sorted({run["commit"] for run in runs}),
            "hours": sum(run.get("cpu_seconds") or 0 for run in runs) / 3600,
        }

    def draw(self, figures: Record, path: Path) -> None:
        paper: dict[str, float | None] = {name: ABLATION[name][0] for name in ROWS}
        ours: dict[str, float | None] = {row["method"]: row["successful"] for row in figures["rows"]}
        tasks, seeds = (counted(len(figures[name]), name[:-1]) for name in ("tasks", "seeds"))
        shown = {"paper, 10 tasks, 5 seeds": paper, f"here, {tasks}, {seeds}": ours}
        save_figure(draw_bars(shown, "average PSS, %", end=105), path)


def _factor(wanted: Wanted) -> float:
    return SHORTEN if wanted.shorten is None else wanted.shorten


def _compared(runs: Sequence[Record]) -> list[Record]:
    """Those of tasks and seeds that all rows have run: an easy task that only one has would flatter that row."""
    by_row: dict[str, set[tuple[str, int]]] = {}
    for run in runs:
        by_row.setdefault(run["asked"], set()).add((run["task"], run["seed"]))
    shared = set[tuple[str, int]].intersection(*by_row.values()) if by_row else set()
    return [run for run in runs if (run["task"], run["seed"]) in shared]


def _row(method: Method, runs: Sequence[Record]) -> Record:
    by_task: dict[str, list[Record]] = {}
    for run in runs:
        by_task.setdefault(run["task"], []).append(run)
    seeds = {task: 100 * statistics.mean(successful(run) for run in group) for task, group in by_task.items()}
    rates = [100 * tests_of(run)[0]["success_rate"] for run in runs]
    return {
        "method": method.name,
        "words": method.words,
        "runs": len(runs),
        "cut_short": sum(map(is_cut_short, runs)),
        "successful": statistics.mean(seeds.values()),
        "by_task": seeds,
        "rate": statistics.mean(rates),
        "rate_spread": spread(rates),
        "paper": ABLATION[method.name],
    }
