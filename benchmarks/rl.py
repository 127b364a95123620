"""The tables of policies: six tasks, four learners, fresh seeds, and learning curves.

Run as ``make bench-rl``, or choose: ``python -m benchmarks.rl --parts auto --tasks rl/on rl/path --seeds 0-4``. Runs of
`auto` go one at a time, the others side by side. Finished runs are kept in ``docs/benchmarks/rl.json`` as they come,
with their learning curves, and not repeated, unless ``--fresh`` asks for it. ``--page`` runs nothing and draws anew.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.pages import Record, render
from benchmarks.rl_curves import AGAINST, ALL_TASKS, draw_curves
from benchmarks.rl_parts import MEAN, PAPER, PAPER_HEAD, PARTS, Part
from benchmarks.sweep import Records, by_task, options, sweep
from dlm.policies.verify import Earned, all_passed

__all__ = ["main", "page"]

NOTES = "rl-notes.md"


def main() -> None:
    """Run what is missing, then write the page and draw the curves."""
    chosen = options(__doc__, PARTS)
    records = Records(chosen.out / "rl.json")
    sweep(PARTS, records, chosen, _outcome)
    draw_curves(list(records.values()), chosen.out)
    (chosen.out / "rl.md").write_text(page(records, chosen.out))


def _outcome(record: Record) -> str:
    part = PARTS[record["part"]]
    returns = ", ".join(f"{test.mean:.3f}" for test in part.returns(record))
    state = "reached" if part.is_reached(record) else "verified" if record["verified"] else "FAILED"
    return f"{state} by {record['learner']} in {record['wall_seconds']} s, returns {returns}"


def page(records: dict[str, Record], folder: Path) -> str:
    """The page of these runs. Pictures and notes are those that are in the folder."""
    done = {key: record for key, record in records.items() if "error" not in record}
    missed = {
        key: (run, PARTS[run["part"]].returns(run))
        for key, run in sorted(done.items())
        if run["part"] != "curves" and not PARTS[run["part"]].is_reached(run)
    }
    return render(
        "rl",
        {
            "tables": list(_tables(list(done.values()))),
            "against": AGAINST,
            "all_tasks": ALL_TASKS if (folder / ALL_TASKS).exists() else None,
            "paper_head": PAPER_HEAD,
            "paper": PAPER,
            "done": done,
            "missed": missed,
            "errors": {key: record["error"] for key, record in records.items() if "error" in record},
            "notes": (folder / NOTES).read_text().strip() if (folder / NOTES).exists() else None,
        },
    )


def _tables(done: Sequence[Record]) -> Iterator[Record]:
    """What there is to say of the parts that have runs."""
    for part in PARTS.values():
        runs = [run for run in done if run["part"] == part.name]
        groups = by_task(part.tasks, runs)
        if part.name == "curves":
            rows = [row for group in groups.values() for row in _learners(group, part)]
        else:
            rows = [_effort(task, group, part) for task, group in groups.items()]
        if runs:
            tests = [row for task, group in groups.items() for row in _tests(task, group, part)]
            yield {"part": part, "runs": runs, "rows": rows, "tests": tests}


def _effort(task: str, group: Sequence[Record], part: Part) -> Record:
    """How many runs of a task came how far, and what they took."""
    tests = [part.returns(run) for run in group]
    reached = [run for run in group if part.is_reached(run)]
    return {
        "task": task,
        "runs": group,
        "verified": sum(map(all_passed, tests)),
        "optimal": sum(all(test.optimal for test in each) for each in tests),
        "reached": len(reached),
        "in_time": sum(run["wall_seconds"] <= part.asked[task] for run in reached),
    }


def _tests(task: str, group: Sequence[Record], part: Part) -> Iterator[Record]:
    """Each test of a task over all runs; for more than two tests their mean first."""
    runs = [part.returns(run) for run in group]
    best = max(runs, key=lambda tests: sum(test.mean for test in tests))
    names = [(MEAN, slice(None))] * (len(best) > 2)
    for name, chosen in names + [(test.name, slice(place, place + 1)) for place, test in enumerate(best)]:
        tests: list[Earned] = [test for run in runs for test in run[chosen]]
        mean, lost = statistics.mean(test.mean for test in tests), statistics.mean(test.lost for test in tests)
        half = _half_width(tests)
        yield {
            "task": task,
            "name": name,
            "mean": mean,
            "interval": (mean - half, mean + half),
            "best": statistics.mean(test.mean for test in best[chosen]),
            "exact": all(test.exact for test in tests),
            "optimum": mean + lost,
            "lost": lost,
            "success": statistics.mean(test.success for test in tests),
            "paper": PAPER[task, name][PAPER_HEAD.index(part.paper)] if (task, name) in PAPER else "",
        }


def _half_width(tests: Sequence[Earned]) -> float:
    """Of the interval of a mean over independent tests with intervals of their own."""
    squares = [((test.interval[1] - test.interval[0]) / 2) ** 2 for test in tests]
    return float(sum(squares) ** 0.5 / len(tests))


def _learners(group: Sequence[Record], part: Part) -> Iterator[Record]:
    """What each learner's runs of a task earned at the training start."""
    for learner in part.learners:
        runs = [run for run in group if run["asked"] == learner]
        if runs:
            yield {"learner": learner, "runs": runs, "first": [part.returns(run)[0] for run in runs]}


if __name__ == "__main__":
    main()
