"""The table of inductive logic programming: ten tasks, three learners, fresh seeds.

Run as ``make bench-ilp``, or ``python -m benchmarks.ilp --learners auto search --tasks family/is-uncle --seeds 0-9``.
Runs of `auto` have the machine to themselves; runs of one learner use one core and go side by side. Finished runs are
kept in ``docs/benchmarks/ilp.json`` as they come and not repeated, unless ``--fresh`` asks for it.
"""

from __future__ import annotations

from benchmarks.pages import Record, render
from benchmarks.sweep import Plan, Records, by_task, options, sweep
from dlm.tasks import task_names

__all__ = ["PLANS", "main", "page"]

PLANS = {
    "auto": Plan(learners=("auto",), limits=dict.fromkeys(task_names(), 180), seeds=10, alone=True),
    "search": Plan(learners=("search",), limits=dict.fromkeys(task_names(), 180), seeds=10),
    "gradient": Plan(learners=("gradient",), limits=dict.fromkeys(task_names(), 600)),
}

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


def main() -> None:
    """Run what is missing, then write the table."""
    chosen = options(__doc__, PLANS)
    records = Records(chosen.out / "ilp.json")
    sweep(PLANS, records, chosen, _outcome)
    (chosen.out / "ilp.md").write_text(page(records))


def _outcome(record: Record) -> str:
    state = "verified" if record["verified"] else "FAILED"
    return f"{state} by {record['learner']} in {record['wall_seconds']} s"


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
            "failed": sorted(key for key, record in done.items() if not record["verified"]),
            "made": [record["learner"] for record in of["auto"]],
            "shown": {task: done[key]["program"] for task in task_names() if (key := f"auto {task} 0") in done},
            "errors": {key: record["error"] for key, record in records.items() if "error" in record},
        },
    )


if __name__ == "__main__":
    main()
