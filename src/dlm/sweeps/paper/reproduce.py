"""The experiments by name, and what becomes of one: runs, and a page with the paper's figures beside ours."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from dlm.data.draft import draft, make_folder
from dlm.errors import DlmError, RunError, require_packages
from dlm.sweeps.executors import Executor
from dlm.sweeps.job import Record
from dlm.sweeps.pages import open_pages
from dlm.sweeps.paper.ablation import AblationTable
from dlm.sweeps.paper.cost import CostStudy
from dlm.sweeps.paper.critic import CriticFigure
from dlm.sweeps.paper.experiment import Experiment, ExperimentName, Wanted
from dlm.sweeps.paper.ilp import IlpTable
from dlm.sweeps.paper.rl import RlTable
from dlm.sweeps.records import Records, read_records
from dlm.sweeps.sweep import Watcher
from dlm.sweeps.wording import counted, value_text

__all__ = ["EXPERIMENTS", "open_records", "reproduce", "take_records", "write_page"]

SHOWN = 6
"""Kinds of runs that an error names."""

EXPERIMENTS: dict[ExperimentName, Callable[[], Experiment]] = {
    "ilp": IlpTable,
    "rl": RlTable,
    "ablation": AblationTable,
    "critic": CriticFigure,
    "cost": CostStudy,
}


def reproduce(
    experiment: Experiment, wanted: Wanted, records: Records, executor: Executor | None, out: Path, watch: Watcher
) -> Path:
    """Run what is missing, unless there is no executor, and write the page, also if runs are cut short. The page."""
    try:
        if executor is not None:
            experiment.run(wanted, records, executor, out / "runs", watch)
    except BaseException:
        with suppress(DlmError):  # a full disk takes no page either; what ended the runs is what the user is told
            write_page(experiment, wanted, records, out)
        raise
    return write_page(experiment, wanted, records, out)


def open_records(experiment: Experiment, wanted: Wanted, out: Path) -> Records:
    """The records of an experiment."""
    require_packages("jinja2", "matplotlib", extra="reproduce", purpose="writing pages with figures")
    return Records(out / f"{experiment.stem(wanted)}.jsonl")


def take_records(experiment: Experiment, wanted: Wanted, records: Records, source: Path) -> str:
    """Add the runs of an experiment that were made elsewhere. How many they were, in words."""
    found = read_records(source)
    fitting = [record for record in found if experiment.includes(record, wanted)]
    if not fitting:
        what = experiment.command(wanted, experiment.usual)
        raise RunError(f"{source} has no run that `{what}` takes: it has {_kinds(found)}")
    new = records.take(fitting)
    known, other = len(fitting) - new, len(found) - len(fitting)
    left = [f"{known} there already or in error"] * bool(known) + [f"{other} of something else"] * bool(other)
    return f"{counted(new, 'run')} taken from {source}" + (f"; not taken: {', '.join(left)}" if left else "")


def write_page(experiment: Experiment, wanted: Wanted, records: Records, out: Path) -> Path:
    """Write the page of all records: Markdown, the figures in it as JSON, and drawn."""
    fitting = {key: record for key, record in records.items() if experiment.includes(record, wanted)}
    command = experiment.command(wanted, {record["asked"] for record in fitting.values()})
    if not fitting:
        raise RunError(
            f"there is no run for the page of `{experiment.command(wanted, experiment.usual)}`: {_what_is_in(records)}"
        )
    stem = experiment.page_stem(wanted)
    errors = {key: record["error"] for key, record in fitting.items() if "error" in record}
    figures = experiment.figures([record for record in fitting.values() if "error" not in record], wanted)
    page = open_pages(Path(__file__).parent / "templates").get_template(f"{experiment.name}.md.j2")
    text = page.render(**figures, stem=stem, records=records.path.name, command=command, errors=errors)
    make_folder(out)
    with draft(out / f"{stem}.json") as path:
        path.write_text(json.dumps(figures, indent=1) + "\n")
    experiment.draw(figures, out / f"{stem}.png")
    with draft(out / f"{stem}.md") as path:
        path.write_text(text)
    return out / f"{stem}.md"


def _what_is_in(records: Records) -> str:
    """What a file of runs has, or if there is none what is in its folder."""
    if records:
        return f"{records.path} has {_kinds(records.values())}"
    beside = sorted(path.name for path in records.path.parent.glob("paper-*.jsonl"))
    there = f"the folder has {', '.join(beside)}" if beside else "the folder has no records of `dlm reproduce`"
    return f"there are no runs in {records.path}; {there}"


def _kinds(runs: Iterable[Record]) -> str:
    """The kinds of some runs, the most frequent first: their methods with their settings."""
    kinds = Counter(
        " ".join(
            [run["asked"], *(f"{name}={value_text(value)}" for name, value in (run.get("settings") or {}).items())]
        )
        for run in runs
    )
    named = [f"{count} of {kind}" for kind, count in kinds.most_common(SHOWN)]
    return ", ".join(named + (["others"] if len(kinds) > SHOWN else [])) or "none"
