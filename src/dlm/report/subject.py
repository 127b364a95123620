"""What a report is about: a program, and whatever is known of it. What is missing is noted, and is no error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from dlm.api.data import problem_again
from dlm.api.facts import AnyFacts, as_facts
from dlm.api.front_door import load
from dlm.api.learn import read_settings
from dlm.api.summary import AnyResult
from dlm.data.examples import Labels, read_labels
from dlm.data.facts import Facts
from dlm.data.problem import DataProblem
from dlm.data.signatures import signatures_of
from dlm.envs.domain import AnyDomain, Domain
from dlm.errors import DlmError, SettingsError
from dlm.learning.result import SoftResult
from dlm.learning.rules.result import DataResult, DataRunSettings
from dlm.logic.syntax import Program
from dlm.policies.policy import Policy
from dlm.problems import AnyProblem, WorldOptions, find_problem
from dlm.programs import read_program
from dlm.runs.folder import RunFolder
from dlm.runs.problem import can_reopen, find_given, reopen
from dlm.tasks import Task

__all__ = ["AnySource", "Subject", "subject_of"]

AnySource = Program | AnyResult | str | Path
"""A program, a result, or the path of a program file or run folder."""


@dataclass(frozen=True)
class Subject:
    """A program and what there is to say of it. Each part may be missing; `notes` say why, and what to do."""

    name: str
    program: Program | None
    result: AnyResult | None = None
    folder: RunFolder | None = None
    settings: Mapping[str, object] = field(default_factory=dict)
    task: Task | None = None
    domain: AnyDomain | None = None
    problem: DataProblem | None = None
    facts: Facts | None = None
    labels: Labels | None = None
    notes: tuple[str, ...] = ()

    def note(self, text: str) -> Subject:
        return replace(self, notes=(*self.notes, text))


def subject_of(
    source: AnySource,
    *,
    facts: AnyFacts | None = None,
    examples: Labels | str | Path | None = None,
    problem: object = None,
    trust: bool = False,
) -> Subject:
    """What can be found out about a program, a result or a run folder; `problem` and `trust` are those of `load`."""
    if isinstance(source, Program):
        subject = Subject(source.target.name, source)
    elif isinstance(source, str | Path):
        path = Path(source)
        subject = _of_run(path, problem, trust=trust) if path.is_dir() else _of_file(path)
    else:
        subject = _of_result(source)
    if problem is not None and subject.task is None and subject.domain is None and subject.problem is None:
        subject = _about(subject, problem)
    if facts is not None:
        subject = replace(subject, facts=as_facts(facts), problem=None, task=None)
    elif examples is not None:
        raise SettingsError("examples are about the objects of some facts: give the facts too (--facts)")
    return subject if examples is None else _with_labels(subject, examples)


def _of_file(path: Path) -> Subject:
    subject = Subject(path.stem, read_program(path))
    return subject.note("This is a program without a run: how it was found is not known.")


def _about(subject: Subject, problem: object) -> Subject:
    """The subject with the problem that a program is said to be for."""
    if isinstance(problem, DataProblem):
        return replace(subject, problem=problem, facts=problem.facts)
    options = WorldOptions() if subject.program is None else WorldOptions(action=subject.program.target.name)
    return _with_known(subject, find_given(problem, WorldOptions(), options))


def _with_known(subject: Subject, known: AnyProblem) -> Subject:
    return replace(subject, domain=known) if isinstance(known, Domain) else replace(subject, task=known)


def _with_labels(subject: Subject, examples: Labels | str | Path) -> Subject:
    program, facts = subject.program, subject.facts
    if program is None or facts is None:
        raise SettingsError("there is no program whose answers could be compared with the examples")
    if isinstance(examples, Labels):
        return replace(subject, labels=examples)
    types = signatures_of(program, facts).get(program.target.name)
    return replace(subject, labels=read_labels(examples, facts, program.target.name, program.target.arity, types))


def _of_result(result: AnyResult) -> Subject:
    """A result in memory: its folder, if it has one, knows more."""
    program = None if isinstance(result, SoftResult) else result.program
    subject = Subject(result.task, program, result)
    if isinstance(result, Policy):
        subject = replace(subject, domain=result.domain)
    if result.run_dir is None:
        subject = subject.note("The run has no folder: its settings and its training were not kept (out=...).")
        if isinstance(result, DataResult):
            return replace(subject, facts=result.facts)
        return subject if isinstance(result, Policy) else _found_again(subject, None, trust=False)
    return _with_folder(subject, RunFolder.open(result.run_dir), None, trust=False)


def _of_run(path: Path, problem: object, *, trust: bool) -> Subject:
    folder = RunFolder.open(path)
    if not folder.has("result.json"):
        program = read_program(path)
        name = str(folder.read_json("settings.json").get("task", path.name))
        subject = Subject(name, program).note(f"The run has not ended. Go on with it: dlm learn --resume {path}")
        return _with_folder(subject, folder, problem, trust=trust)
    try:
        result = load(path, problem=problem, trust=trust)
    except DlmError as error:
        saved = folder.read_json("settings.json")
        subject = Subject(str(saved.get("task", path.name)), read_program(path), None, folder, saved)
        return subject.note(f"The result could not be opened, and what needs its problem is left out: {error}")
    learned = None if isinstance(result, SoftResult) else result.program
    subject = Subject(result.task, learned, result, domain=result.domain if isinstance(result, Policy) else None)
    return _with_folder(subject, folder, problem, trust=trust)


def _with_folder(subject: Subject, folder: RunFolder, problem: object, *, trust: bool) -> Subject:
    """The settings of a run, and its problem if it can be found."""
    known = replace(subject, folder=folder, settings=folder.read_json("settings.json"))
    if known.settings.get("kind") != DataRunSettings.kind:
        return known if known.domain is not None else _found_again(known, problem, trust=trust)
    try:
        data = (
            problem
            if isinstance(problem, DataProblem)
            else problem_again(folder, DataRunSettings.from_json(known.settings))
        )
    except DlmError as error:
        return known.note(f"The data could not be read again, and what needs them is left out: {error}")
    return replace(known, problem=data, facts=data.facts)


def _found_again(subject: Subject, problem: object, *, trust: bool) -> Subject:
    """The task or world of a run."""
    folder = subject.folder
    try:
        if folder is None:
            return _with_known(subject, find_problem(problem or subject.name, WorldOptions()))
        name = read_settings(folder).task
        if problem is None and not trust and can_reopen(folder.path) != (True, False):
            return subject.note("The problem is not in the run folder: give it again to see examples (--task, --env).")
        return _with_known(subject, reopen(folder.path, name, problem, WorldOptions(), trust=trust))
    except DlmError as error:
        return subject.note(f"The problem was not found, and what needs it is left out: {error}")
