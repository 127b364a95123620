"""Results in a notebook: what came out in a sentence, the program, and the tables that `dlm learn` prints too."""

from __future__ import annotations

from html import escape

from dlm.api.summary import AnyResult, fit_table, headline, return_table, trial_table
from dlm.api.tables import TextTable, inspection_tables
from dlm.data.sources.inspection import Inspection
from dlm.export.notebook import fragment, table_html
from dlm.learning.result import Result, SoftResult
from dlm.learning.rules.result import DataResult, Front
from dlm.logic.display import html_of, latex_of
from dlm.logic.syntax import Program
from dlm.policies.policy import Policy
from dlm.runs.result import ProgramResult

__all__: list[str] = []


@html_of.register
def _(result: Result) -> str:
    return fragment([_opening(result), html_of(result.program), _table(trial_table(result.verification.trials))])


@html_of.register
def _(result: SoftResult) -> str:
    return fragment([_opening(result), _table(trial_table(result.trials))])


@html_of.register
def _(result: Policy) -> str:
    soft = ["<p>The soft policy:</p>", _table(return_table(result.soft_tests))] if result.soft_tests else []
    return fragment([_opening(result), html_of(result.program), *soft, _table(return_table(result.tests))])


@html_of.register
def _(result: DataResult) -> str:
    front = _front_html(result.front, result.program)
    return fragment([_opening(result), html_of(result.program), _table(fit_table(result)), front])


@html_of.register
def _(front: Front) -> str:
    return fragment([_front_html(front, None)])


@html_of.register
def _(found: Inspection) -> str:
    return fragment([*map(_table, inspection_tables(found)), *(f"<p>{escape(note)}</p>" for note in found.notes)])


@latex_of.register
def _(result: ProgramResult) -> str | None:
    return latex_of(result.program)


def _opening(result: AnyResult) -> str:
    said = headline(result)
    return f"<p><b>{escape(result.task)}</b>: <b>{escape(said.state)}</b>{escape(said.rest)}</p>"


def _table(table: TextTable) -> str:
    foot = f"<p>{escape(table.foot)}</p>" if table.foot else ""
    return table_html([name.capitalize() for name in table.head], table.rows) + foot


def _front_html(front: Front, chosen: Program | None) -> str:
    """The programs by size; each is in the lists of the language, on one line or more."""
    rows = [(str(point.size), f"{point.errors:g}", str(point.program).strip()) for point in front]
    marked = next((place for place, point in enumerate(front) if point.program == chosen), None)
    return table_html(("Size", "Errors", "Program"), rows, marked)
