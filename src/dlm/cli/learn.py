"""`dlm learn`: from a task to a verified program. Policies are in `learn_policy.py`."""

from __future__ import annotations

import json as json_text
from dataclasses import fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import dlm
from dlm.cli.display import print_result
from dlm.cli.learn_policy import learn_policy_run, resume_policy_run
from dlm.cli.policy_options import problem_of
from dlm.cli.progress import open_watch
from dlm.envs import Domain
from dlm.envs.problems import get_problem
from dlm.errors import SettingsError
from dlm.learning.incremental import phase_machine
from dlm.learning.portfolio import learn as learn_task
from dlm.learning.settings import LEARNERS, SCHEDULES, LearnSettings, ScheduleName
from dlm.policies.settings import PolicyRunSettings
from dlm.runs.folder import RunFolder
from dlm.space.settings import MachineSettings
from dlm.tasks import Task

__all__ = ["learn"]

NOT_VERIFIED = 3
AnyLearnerName = Literal["auto", "gradient", "search", "ppo", "reinforce", "imitation"]
LEARNER_HELP = (
    "Who learns: auto, gradient or search; of rl/... tasks: auto (search, then ppo if need be), search (planning and "
    "rule search), ppo, reinforce or imitation (of a teacher). Default: auto."
)
TEACHER_HELP = (
    "Of rl/... tasks, for --learner imitation: a program file, the run folder of a policy (its soft policy if it was "
    "kept), or a hand-written program by name. Default: the one written for the task."
)
KEEP_SOFT_HELP = "train the soft policy alone, as the paper's nIDLM, and report its returns."
MACHINE = "Machine settings (default: the task's)"


def _setting(owner: type[LearnSettings | MachineSettings], name: str, *flags: str, **more: Any) -> Any:
    """An option whose help is that of the setting it sets."""
    field = next(field for field in fields(owner) if field.name == name)
    text = field.metadata["help"]
    if owner is MachineSettings:
        more["rich_help_panel"] = MACHINE
    else:
        default = f"{field.default:g}" if isinstance(field.default, float) else field.default
        text += f" Default: {default}."
    return typer.Option(*flags, help=text, **{"metavar": "N", **more})


def learn(
    task: Annotated[str | None, typer.Argument(metavar="TASK", help="Name of a task; `dlm tasks` lists them.")] = None,
    seed: Annotated[int | None, _setting(LearnSettings, "seed")] = None,
    time_limit: Annotated[float | None, _setting(LearnSettings, "time_limit", metavar="SECONDS")] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Run folder to make. Default: a new one under ./runs.")
    ] = None,
    resume: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Go on with the run in this folder, with its settings.")
    ] = None,
    learner: Annotated[AnyLearnerName | None, typer.Option(metavar="NAME", help=LEARNER_HELP)] = None,
    schedule: Annotated[ScheduleName | None, _setting(LearnSettings, "schedule", metavar="|".join(SCHEDULES))] = None,
    keep_soft: Annotated[
        bool, typer.Option("--keep-soft", metavar="", help=f"Of rl/... tasks: {KEEP_SOFT_HELP}")
    ] = False,
    incremental: Annotated[bool, _setting(LearnSettings, "incremental", "--incremental", metavar="")] = False,
    teacher: Annotated[str | None, typer.Option(metavar="TEACHER", help=TEACHER_HELP)] = None,
    json: Annotated[bool, typer.Option("--json", metavar="", help="Print one JSON object and nothing else.")] = False,
    depth: Annotated[int | None, _setting(MachineSettings, "depth")] = None,
    breadth: Annotated[str | None, _setting(MachineSettings, "breadth", metavar="N[,N...]")] = None,
    outputs: Annotated[int | None, _setting(MachineSettings, "outputs")] = None,
    unit_outputs: Annotated[str | None, _setting(MachineSettings, "unit_outputs", metavar="L:B:N,...")] = None,
    atoms: Annotated[int | None, _setting(MachineSettings, "atoms")] = None,
    negation: Annotated[
        bool | None, _setting(MachineSettings, "negation", "--negation/--no-negation", metavar="")
    ] = None,
    quantifiers: Annotated[str | None, _setting(MachineSettings, "quantifiers", metavar="NAMES|none")] = None,
    distinct: Annotated[bool | None, _setting(MachineSettings, "distinct", "--distinct/--plain", metavar="")] = None,
    residual: Annotated[
        bool | None, _setting(MachineSettings, "residual", "--residual/--no-residual", metavar="")
    ] = None,
) -> None:
    """Learn a task and print the program with what was verified.

    Exit code 0 for a verified program, 3 for the best so far, which is printed and saved all the same. A task
    to act in (rl/...) gives a policy: verified if in every published test all fresh episodes reach the goal, or the
    mean return is as good as the optimum.
    """
    run = _given(seed=seed, learner=learner, incremental=incremental or None)
    machine = _given(
        depth=depth,
        breadth=None if breadth is None else _read_breadth(breadth),
        outputs=outputs,
        unit_outputs=None if unit_outputs is None else _read_unit_outputs(unit_outputs),
        atoms=atoms,
        negation=negation,
        quantifiers=None if quantifiers is None else _read_quantifiers(quantifiers),
        distinct=distinct,
        residual=residual,
    )
    supervised = {**machine, **_given(schedule=schedule)}
    if resume is not None:
        _check_resume(
            resume, task, {**run, **supervised, **_given(out=out, keep_soft=keep_soft or None, teacher=teacher)}
        )
        if isinstance(problem_of(resume, None), Domain):
            raise typer.Exit(resume_policy_run(resume, time_limit, json=json))
        with open_watch(f"Resuming {resume}", quiet=json) as watch:
            result = dlm.resume(resume, time_limit=time_limit, observer=watch)
    else:
        if task is None:
            raise SettingsError("say which task to learn, such as `dlm learn family/has-father`; `dlm tasks` lists all")
        known = get_problem(task)
        if isinstance(known, Domain):
            _refuse(supervised, f"{known.name} is a task to act in and has no such setting")
            asked = PolicyRunSettings(
                known.name, **run, **_given(time_limit=time_limit), keep_soft=keep_soft, teacher=teacher
            )
            raise typer.Exit(learn_policy_run(known, asked, out, json=json))
        _refuse(_given(keep_soft=keep_soft or None, teacher=teacher), f"{known.name} is nothing to act in")
        _check_learner(learner, known)
        settings = LearnSettings(
            known.name,
            replace(phase_machine(known.settings) if incremental else known.settings, **machine),
            **run,
            **_given(schedule=schedule, time_limit=time_limit),
        )
        with open_watch(f"Learning {known.name}: {known.question}", quiet=json) as watch:
            result = learn_task(known, settings, out=out, observer=watch)
    if json:
        print(json_text.dumps(result.to_json()))
    else:
        print_result(result)
    raise typer.Exit(0 if result.verified else NOT_VERIFIED)


def _given(**options: Any) -> dict[str, Any]:
    """The options that were given."""
    return {name: value for name, value in options.items() if value is not None}


def _check_resume(run: Path, task: str | None, given: dict[str, Any]) -> None:
    """With --resume everything but the time limit comes from the folder."""
    if given:
        raise SettingsError(
            f"a resumed run keeps its settings; leave out {_options(given)} or start a new run without --resume"
        )
    learned = RunFolder.open(run).read_json("settings.json").get("task")
    if task is not None and task != learned:
        raise SettingsError(f"the run in {run} learns {learned}, not {task}; leave the task out to resume it")


def _check_learner(learner: str | None, task: Task) -> None:
    if learner is not None and learner not in LEARNERS:
        raise SettingsError(f"{learner} learns to act; for {task.name} give --learner {' or '.join(LEARNERS)}")


def _refuse(given: dict[str, Any], reason: str) -> None:
    if given:
        raise SettingsError(f"{reason}: leave out {_options(given)}")


def _options(given: dict[str, Any]) -> str:
    return ", ".join("--" + name.replace("_", "-") for name in given)


def _read_breadth(text: str) -> int | tuple[int, ...]:
    numbers = _read_numbers("breadth", text, ",")
    return numbers[0] if len(numbers) == 1 else numbers


def _read_unit_outputs(text: str) -> tuple[tuple[int, ...], ...]:
    triples = tuple(_read_numbers("unit-outputs", part, ":") for part in text.split(","))
    if any(len(triple) != 3 for triple in triples):
        raise SettingsError(f"--unit-outputs takes LAYER:ARITY:N triples such as 1:2:16,2:2:4. Got {text!r} instead.")
    return triples


def _read_numbers(option: str, text: str, separator: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(separator))
    except ValueError:
        message = f"--{option} takes whole numbers with {separator!r} between them. Got {text!r} instead."
        raise SettingsError(message) from None


def _read_quantifiers(text: str) -> tuple[str, ...]:
    return () if text == "none" else tuple(part.strip() for part in text.split(","))
