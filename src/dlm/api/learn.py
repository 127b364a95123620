"""Runs on tasks and worlds: their settings, their folders, and who watches them.

What learns policies is loaded when there is a world to act in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dlm.errors import RunError, SettingsError, did_you_mean
from dlm.learning.baselines.architectures import nlm_machine
from dlm.learning.incremental import phase_machine
from dlm.learning.portfolio import check_task
from dlm.learning.portfolio import learn as learn_task
from dlm.learning.portfolio import resume as resume_task
from dlm.learning.result import Result, SoftResult, read_result
from dlm.learning.settings import LEARNERS, SOFT_LEARNERS, TEMPLATED, TRAINING, LearnSettings
from dlm.learning.soft import learn_soft, resume_soft
from dlm.policies.settings import POLICY_LEARNERS, STACKED, PolicyRunSettings
from dlm.problems import AnyProblem, WorldOptions, find_problem
from dlm.runs.folder import RunFolder
from dlm.runs.observer import Callback, Observer, with_callbacks
from dlm.runs.problem import reopen, save_problem
from dlm.runs.progress import open_watch
from dlm.runs.settings import RunSettings
from dlm.runs.tensorboard import LogName, TensorBoardLog, check_log
from dlm.space.settings import MachineSettings, as_published
from dlm.tasks import Task

if TYPE_CHECKING:
    from dlm.policies.policy import Policy

__all__ = [
    "SETTINGS",
    "build_settings",
    "check_problem",
    "learn_problem",
    "load_problem",
    "read_settings",
    "resume_problem",
]

MACHINE = tuple(field.name for field in fields(MachineSettings))
WORLD = tuple(field.name for field in fields(WorldOptions))
RUN = ("seed", "learner", "schedule", "time_limit", "incremental", "device")
OF_TASKS = ("jobs", *TRAINING)
POLICY = ("keep_soft", "teacher", "repair", "model", "rollouts")
SETTINGS = (*RUN, *OF_TASKS, *MACHINE, *POLICY)
"""The names of all settings of runs."""


def learn_problem(
    problem: object,
    out: str | Path | bool | None,
    given: Mapping[str, Any],
    *,
    progress: bool | None,
    verbose: bool,
    log: LogName | None,
    callbacks: Sequence[Callback],
) -> Result | SoftResult | Policy:
    """Learn a task, or to act in a world."""
    settings = dict(given)
    world = WorldOptions(**{name: settings.pop(name) for name in WORLD if name in settings})
    known = find_problem(problem, world)
    check_log(log, has_folder=bool(out))
    teacher = settings.get("teacher")
    asked = check_problem(known, settings)
    title = f"{known.name}: {known.question}" if isinstance(known, Task) else f"a policy for {known.name}"
    folder = _open_folder(out, asked, problem, world, known)
    with _watching(f"Learning {title}", progress, verbose, callbacks, log, folder) as observer:
        if folder is not None:
            observer.on_note(f"run folder {folder.path}")
        if isinstance(known, Task):
            assert isinstance(asked, LearnSettings)
            return (learn_soft if asked.learner in SOFT_LEARNERS else learn_task)(known, asked, folder, observer)
        from dlm.policies.run import learn_policy_task

        return learn_policy_task(known, asked, folder, observer, teacher)


def check_problem(known: AnyProblem, given: Mapping[str, Any]) -> LearnSettings | PolicyRunSettings:
    """The settings of a run; one that could not begin is refused."""
    asked = build_settings(known, given)
    if isinstance(known, Task):
        check_task(known, asked)
    else:
        from dlm.policies.run import check_policy_task

        check_policy_task(known, asked, given.get("teacher"))
    return asked


def resume_problem(
    run: str | Path,
    time_limit: float | None,
    problem: object,
    world: Mapping[str, Any],
    *,
    trust: bool,
    progress: bool | None,
    verbose: bool,
    log: LogName | None,
    callbacks: Sequence[Callback],
) -> Result | SoftResult | Policy:
    """Go on with a run on a task or world."""
    folder = RunFolder.open(Path(run))
    check_log(log, has_folder=True)
    settings = read_settings(folder)
    known = reopen(folder.path, settings.task, problem, WorldOptions(**world), trust=trust)
    before, done = settings.time_limit, _read(folder, known, settings)
    if time_limit is not None:
        settings = replace(settings, time_limit=time_limit)
    if done is not None and done.verified:
        more = not isinstance(known, Task) and done.ended != "finished" and done.seconds < settings.time_limit
        if not more or (done.ended == "time limit" and settings.time_limit <= before):
            return done
    with _watching(f"Resuming {run}", progress, verbose, callbacks, log, folder) as observer:
        if isinstance(known, Task):
            assert isinstance(settings, LearnSettings)
            return (resume_soft if settings.learner in SOFT_LEARNERS else resume_task)(
                known, settings, folder, observer
            )
        from dlm.policies.run import resume_policy_task

        assert isinstance(settings, PolicyRunSettings)
        return resume_policy_task(known, settings, folder, observer)


def load_problem(
    run: str | Path, problem: object, world: Mapping[str, Any], *, trust: bool
) -> Result | SoftResult | Policy:
    """The result of a run on a task or world."""
    folder = RunFolder.open(Path(run))
    settings = read_settings(folder)
    known = reopen(folder.path, settings.task, problem, WorldOptions(**world), trust=trust)
    result = _read(folder, known, settings)
    if result is None:
        raise RunError(f"the run {run} has not ended; go on with it: dlm.resume({str(run)!r})")
    return result


@contextmanager
def _watching(
    title: str,
    progress: bool | None,
    verbose: bool,
    callbacks: Sequence[Callback],
    log: LogName | None,
    folder: RunFolder | None,
) -> Iterator[Observer]:
    """All who watch a run. A log is opened first, which takes a moment: the clock that is shown starts with the run."""
    with ExitStack() as opened:
        logged = None if log is None or folder is None else opened.enter_context(TensorBoardLog(folder.path / log))
        watch = opened.enter_context(open_watch(title, show=progress, verbose=verbose))
        observer = with_callbacks(watch, callbacks)
        yield observer if logged is None else logged.before(observer)


# ---------------------------------------------------------------------- settings


def build_settings(problem: AnyProblem, given: Mapping[str, Any]) -> LearnSettings | PolicyRunSettings:
    """The settings of a run: those that are given, the problem's own, and defaults."""
    to_act = not isinstance(problem, Task)
    for name in given:
        if name not in SETTINGS:
            raise SettingsError(f"there is no setting {name!r}.{did_you_mean(name, (*SETTINGS, *WORLD))}")
    wrong = [name for name in POLICY if given.get(name) is not None and not to_act]
    if wrong:
        raise SettingsError(f"{problem.name} is nothing to act in: leave out {', '.join(wrong)}")
    wrong = [name for name in OF_TASKS if given.get(name) is not None and to_act]
    if wrong:
        raise SettingsError(f"{problem.name} is a world to act in: {', '.join(wrong)} can be set for tasks only")
    learner, learners = given.get("learner") or "auto", POLICY_LEARNERS if to_act else LEARNERS
    if learner not in learners and learner in (*LEARNERS, *POLICY_LEARNERS):
        kind = "learns no policies" if to_act else "learns to act"
        hint = " (of a neural logic machine: --learner ppo --model nlm --keep-soft)" if learner == "nlm" else ""
        raise SettingsError(f"{learner} {kind}; for {problem.name} use the learner {' or '.join(learners)}{hint}")
    common = {name: given[name] for name in RUN if given.get(name) is not None}
    machine = {name: given[name] for name in MACHINE if given.get(name) is not None}
    if machine and learner in TEMPLATED:
        raise SettingsError(f"the learner {learner!r} trains no machine: leave out {', '.join(machine)}")
    if isinstance(problem, Task):
        shape = phase_machine(problem.settings) if given.get("incremental") else problem.settings
        if learner == "nlm":
            shape = nlm_machine(problem)
        distinct = machine.get("distinct", shape.distinct)
        shape = replace(shape, distinct=distinct, repeats=shape.repeats or not distinct)
        if learner == "gradient":
            shape = as_published(shape)
        own = {name: given[name] for name in OF_TASKS if given.get(name) is not None}
        return LearnSettings(task=problem.name, machine=replace(shape, **machine), **common, **own)
    from dlm.policies.gradient.settings import machine_settings
    from dlm.policies.imitation.teachers import name_of

    own = {name: given[name] for name in POLICY if given.get(name) is not None}
    if "teacher" in own:
        own["teacher"] = name_of(own["teacher"])
    if machine:
        shape = machine_settings(problem, common.get("schedule", "fast"), incremental=learner in STACKED)
        common["machine"] = replace(shape, **machine)
    return PolicyRunSettings(task=problem.name, **common, **own)


def read_settings(folder: RunFolder) -> LearnSettings | PolicyRunSettings:
    """The settings of a run, of either kind."""
    saved = folder.read_json("settings.json")
    kinds: dict[object, type[LearnSettings] | type[PolicyRunSettings]] = {
        LearnSettings.kind: LearnSettings,
        PolicyRunSettings.kind: PolicyRunSettings,
    }
    kind = saved.get("kind")
    return kinds.get(kind if isinstance(kind, str) else None, LearnSettings).from_json(saved)


def _read(folder: RunFolder, problem: AnyProblem, settings: RunSettings) -> Result | SoftResult | Policy | None:
    if problem.name != settings.task:
        raise SettingsError(
            f"the run in {folder.path} learns {settings.task}, not {problem.name}; leave the problem out to open it"
        )
    if isinstance(problem, Task) != isinstance(settings, LearnSettings):
        raise RunError(f"the run {folder.path} learns a {settings.kind}, and {problem.name} is another kind of problem")
    if isinstance(problem, Task):
        return read_result(folder)
    from dlm.policies.policy import read_policy

    return read_policy(folder, problem)


def _open_folder(
    out: str | Path | bool | None, settings: RunSettings, source: object, world: WorldOptions, problem: AnyProblem
) -> RunFolder | None:
    """The new folder of a run, if there is to be one, with what is needed to go on with it."""
    if not out:
        return None
    folder = RunFolder.create(None if out is True else Path(out), problem.name, settings.seed)
    folder.write_json("settings.json", settings.to_json())
    save_problem(folder.path, source, world, problem)
    return folder
