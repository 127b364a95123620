"""The experiments by name, and what becomes of one: runs, and a page with the paper's figures beside ours."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from dlm.data.draft import draft, make_folder
from dlm.errors import DlmError, require_packages
from dlm.sweeps.executors import Executor
from dlm.sweeps.pages import open_pages
from dlm.sweeps.paper.ablation import AblationTable
from dlm.sweeps.paper.cost import CostStudy
from dlm.sweeps.paper.critic import CriticFigure
from dlm.sweeps.paper.experiment import Experiment, ExperimentName, Wanted
from dlm.sweeps.paper.ilp import IlpTable
from dlm.sweeps.paper.rl import RlTable
from dlm.sweeps.records import Records, read_records
from dlm.sweeps.sweep import Watcher

__all__ = ["EXPERIMENTS", "open_records", "reproduce", "write_page"]

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


def open_records(experiment: Experiment, wanted: Wanted, out: Path, taken: Path | None = None) -> Records:
    """The records of an experiment, and those that were made elsewhere."""
    require_packages("jinja2", "matplotlib", extra="reproduce", purpose="writing pages with figures")
    elsewhere = () if taken is None else read_records(taken)
    make_folder(out)
    records = Records(out / f"{experiment.stem(wanted)}.jsonl")
    records.take(elsewhere)
    return records


def write_page(experiment: Experiment, wanted: Wanted, records: Records, out: Path) -> Path:
    """Write the page of all records: Markdown, the figures in it as JSON, and drawn."""
    stem = experiment.stem(wanted)
    figures = experiment.figures(records.done, wanted)
    pages = open_pages(Path(__file__).parent / "templates")
    text = pages.get_template(f"{experiment.name}.md.j2").render(**figures, stem=stem, errors=records.errors)
    make_folder(out)
    with draft(out / f"{stem}.json") as path:
        path.write_text(json.dumps(figures, indent=1) + "\n")
    experiment.draw(figures, out / f"{stem}.png")
    with draft(out / f"{stem}.md") as path:
        path.write_text(text)
    return out / f"{stem}.md"
