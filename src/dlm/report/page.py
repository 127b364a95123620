"""The page: what is known of a subject, gathered section by section, and put into a template.

The page is one file that asks for nothing else. Its security policy allows one script and one style sheet, by their
hashes, and pictures that are in the page; so no name of a user's can become code, even if it were not escaped.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar

from dlm.api.summary import fit_table, headline, percent, return_table, trial_table
from dlm.api.tables import TextTable
from dlm.data.draft import draft
from dlm.errors import DlmError, ResourceError
from dlm.export import TARGETS, export_program
from dlm.export.javascript import javascript_name
from dlm.export.json import export_json
from dlm.export.prose import Prose
from dlm.export.templates import open_templates
from dlm.learning.result import Result, SoftResult
from dlm.learning.rules.result import DataResult
from dlm.logic.attributes import attribute_kinds, comparisons_of, tables_of
from dlm.logic.comparison import Comparison
from dlm.logic.syntax import Program
from dlm.policies.policy import Policy
from dlm.report.answers import AnswerSample, sample_answers
from dlm.report.charts import front_chart, line_chart
from dlm.report.episode import show_episode
from dlm.report.film import read_film
from dlm.report.rules import cover_rules
from dlm.report.subject import Subject
from dlm.report.training import command_of, read_curves, settings_rows
from dlm.report.typeset import typeset_program
from dlm.report.world import SmallWorld, small_world
from dlm.runs.version import code_version
from dlm.runs.views import RuleTable

__all__ = ["render_page", "write_page"]

T = TypeVar("T")

TEMPLATES = Path(__file__).with_name("templates")

EXPORTS = ("text", "prolog", "sql", "asp", "datalog", "python", "javascript", "latex", "json")

LARGE = 400
"""Literals of a program that is too large for a playground."""


class _Code(NamedTuple):
    """The program in another language, or why it is not."""

    name: str
    about: str
    text: str


class _FrontItem(NamedTuple):
    size: int
    errors: str
    chosen: bool
    text: str


def write_page(subject: Subject, path: Path, seed: int = 0) -> Path:
    """Write the page about a subject; the file appears whole or not at all."""
    text = render_page(subject, seed)
    with draft(path) as file:
        file.write_text(text, encoding="utf-8")
    return path


def render_page(subject: Subject, seed: int = 0) -> str:
    """The page as text."""
    templates = open_templates(TEMPLATES, html=True, extra="report", purpose="a report")
    notes = list(subject.notes)
    program = subject.program
    answers = _attempt(notes, "answers", lambda: sample_answers(subject, seed))
    world = _attempt(notes, "a playground", lambda: _playground(subject, seed, answers))
    script = _script(program, world) if program is not None and world is not None else _read("page.js")
    style = _read("page.css")
    templates.policies["json.dumps_kwargs"] = {"sort_keys": False}
    return templates.get_template("page.html.j2").render(
        policy=f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'",
        script=script,
        style=style,
        subject=subject,
        title=subject.name if program is None else Prose(program, str).title,
        headline=None if subject.result is None else headline(subject.result),
        program=None if program is None else typeset_program(program),
        prose=None if program is None else Prose(program, str),
        rules=_attempt(notes, "counts of rules", lambda: _rules(subject)),
        percent=percent,
        answers=answers,
        world=world,
        tables=_tables(subject),
        failure=subject.result.failure if isinstance(subject.result, DataResult) else None,
        front=_front(subject),
        curves=_curves(subject),
        film=_attempt(notes, "the machine", lambda: read_film(subject)),
        episode=_attempt(notes, "an episode", lambda: show_episode(subject, seed)),
        exports=[] if program is None else _exports(program),
        settings=settings_rows(subject.settings),
        command=command_of(subject),
        made_by=_made_by(subject),
        version=code_version(),
        notes=notes,
    )


def _attempt(notes: list[str], what: str, make: Callable[[], T | None]) -> T | None:
    """A part of the page; where it cannot be made, a note that says why."""
    try:
        return make()
    except DlmError as error:
        notes.append(f"The page is without {what}: {error}")
        return None


# ---------------------------------------------------------------------- sections


def _rules(subject: Subject) -> RuleTable | None:
    has_data = subject.facts is not None or subject.task is not None or subject.domain is not None
    return cover_rules(subject) if has_data and subject.program is not None else None


def _tables(subject: Subject) -> list[tuple[str, TextTable]]:
    """What was tested, and how it went."""
    match subject.result:
        case Result() as result:
            return [("Fresh instances", trial_table(result.verification.trials))]
        case SoftResult() as result:
            return [("Fresh instances, answered by the soft model", trial_table(result.trials))]
        case Policy() as result:
            soft = [("The soft policy", return_table(result.soft_tests))] if result.soft_tests else []
            return [*soft, ("Fresh episodes", return_table(result.tests))]
        case DataResult() as result:
            return [("Labelled atoms", fit_table(result))]
    return []


@dataclass(frozen=True)
class _ShownFront:
    chart: str
    points: list[_FrontItem]


def _front(subject: Subject) -> _ShownFront | None:
    result = subject.result
    if not isinstance(result, DataResult) or not result.front:
        return None
    places = [place for place, point in enumerate(result.front) if point.program == result.program]
    chosen = places[0] if places else None
    items = [
        _FrontItem(point.size, f"{point.errors:g}", place == chosen, str(point.program).strip())
        for place, point in enumerate(result.front)
    ]
    points = [(float(point.size), point.errors) for point in result.front]
    return _ShownFront(front_chart(points, chosen), items)


def _curves(subject: Subject) -> list[tuple[str, str]]:
    """A chart for each figure of the run's reports."""
    found = {} if subject.folder is None else read_curves(subject.folder)
    return [(name, line_chart(name, lines, "seconds")) for name, lines in found.items()]


def _exports(program: Program) -> list[_Code]:
    found = []
    for name in EXPORTS:
        try:
            text = export_program(program, name)
        except DlmError as error:
            text = f"not possible: {error}"
        found.append(_Code(name, TARGETS[name], text))
    return found


def _made_by(subject: Subject) -> str | None:
    """The version of dlm that began the run."""
    folder = subject.folder
    if folder is None or not folder.has("made_by.json"):
        return None
    return str(folder.read_json("made_by.json").get("version", "unknown"))


# ---------------------------------------------------------------------- scripts


def _playground(subject: Subject, seed: int, answers: AnswerSample | None) -> SmallWorld | None:
    program = subject.program
    if program is None:
        return None
    if program.literals > LARGE:
        raise ResourceError(f"it has {program.literals} literals, more than the {LARGE} that a page can play with")
    return small_world(subject, seed, None if answers is None else answers.rows)


def _script(program: Program, world: SmallWorld) -> str:
    """The page's script, with the program as a function and the world that it is shown on."""
    kinds = attribute_kinds(program.inputs)
    tables = [
        {"name": name, "arity": arity, "kind": kinds.get(name)} for name, arity in tables_of(program.inputs).items()
    ]
    known = {
        "program": json.loads(export_json(program)),
        "tables": tables,
        "comparisons": {name: _comparison(found) for name, found in comparisons_of(program.inputs).items()},
        "world": world.to_json(),
    }
    made = f"(() => {{\n{export_program(program, 'javascript')}\nreturn {javascript_name(program)};\n}})()"
    return f"const PLAY = {_json(known)};\nPLAY.run = {made};\n{_read('page.js')}"


def _comparison(found: Comparison) -> dict[str, object]:
    constant = found.constant
    value = str(constant) if constant is not None and not isinstance(constant, int | float) else constant
    text = found.text(("?1", "?2")[: found.arity])
    return {
        "attribute": found.attribute,
        "operator": found.operator,
        "constant": value,
        "other": found.other,
        "text": text,
    }


def _json(value: object) -> str:
    """JSON that may stand in a script."""
    return re.sub(r"[<>&\u2028\u2029]", lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False))


def _read(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """What a security policy calls a text."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
