"""The table of inductive logic programming: ten tasks, two learners, fresh seeds.

Run as ``make bench-ilp``, or ``python -m benchmarks.ilp --learners auto search --tasks family/is-uncle --seeds 0-9``.
Runs of `auto` have the machine to themselves; runs of one learner use one core and go side by side. Finished runs are
kept in ``docs/benchmarks/ilp.json`` as they come and not repeated, unless ``--fresh`` asks for it.
"""

from __future__ import annotations

from benchmarks.pages import Record, render
from benchmarks.sweep import Plan, Records, by_task, options, sweep
from dlm.sweeps.paper.figures import ILP, ILP_COLUMNS, LITERALS
from dlm.tasks import task_names

__all__ = ["PLANS", "main", "page"]

PLANS = {
    "auto": Plan(learners=("auto",), limits=dict.fromkeys(task_names(), 180), seeds=10, alone=True),
    "search": Plan(learners=("search",), limits=dict.fromkeys(task_names(), 180), seeds=10),
}


def _papers(task: str) -> str:
    """Success rates at m and M and percentage of successful seeds: dNL-ILP; dILP (seeds not published); NLM; DLM."""
    cells = []
    for column, known in zip(ILP_COLUMNS, ILP[task], strict=True):
        rates = [
            "N/A" if rate is None else format(rate, "g" if rate == 100 else ".2f")
            for rate in (known.train, known.large)
        ]
        cells.append(" / ".join([*rates, *([] if column == "dILP" else [f"{known.seeds:g}"])]))
    return " | ".join(cells)


PAPER = {task: _papers(task) for task in ILP}


def main() -> None:
    """Run what is missing, then write the table."""
    chosen = options(__doc__, PLANS)
    records = Records(chosen.out / "ilp.json")
    sweep(PLANS, records, chosen, _outcome)
    (chosen.out / "ilp.md").write_text(page(records))


def _outcome(record: Record) -> str:
    state = "verified" if record["verified"] else "FAILED"
    return f"{state} by {record['learner']} in {record['wall_seconds']} s"


def _missing(runs: list[Record]) -> list[str]:
    """Tasks and seeds that others of a table have: a run that was stopped, perhaps since it took long, or not begun."""
    seeds = {run["seed"] for run in runs}
    missing = {task: seeds - {run["seed"] for run in runs if run["task"] == task} for task in task_names()}
    return [f"{task} (seeds {', '.join(map(str, sorted(rest)))})" for task, rest in missing.items() if rest]


def page(records: dict[str, Record]) -> str:
    """The page of these runs."""
    done = {key: record for key, record in records.items() if "error" not in record}
    of = {learner: [record for record in done.values() if record["asked"] == learner] for learner in PLANS}
    return render(
        "ilp",
        {
            "plans": PLANS,
            "tables": {learner: (runs, by_task(task_names(), runs)) for learner, runs in of.items() if runs},
            "literals": LITERALS,
            "paper": PAPER,
            "missing": {learner: _missing(runs) for learner, runs in of.items()},
            "failed": sorted(key for key, record in done.items() if not record["verified"]),
            "made": [record["learner"] for record in of["auto"]],
            "shown": {task: group[0]["program"] for task, group in by_task(task_names(), of["auto"]).items()},
            "errors": {key: record["error"] for key, record in records.items() if "error" in record},
        },
    )


if __name__ == "__main__":
    main()
