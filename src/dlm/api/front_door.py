"""The front door: `learn` for whatever can be learned, `learn_policy` for worlds, `resume` and `load` for run folders.

One's own data go one way (`dlm.api.data`), tasks and worlds another (`dlm.api.learn`); a run loads only its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dlm.errors import SettingsError

if TYPE_CHECKING:
    from dlm.api.summary import AnyResult
    from dlm.envs.domain import AnyDomain
    from dlm.policies.imitation.teachers import TeacherSource
    from dlm.policies.policy import Policy
    from dlm.policies.settings import PolicyLearnerName
    from dlm.runs.observer import Callback
    from dlm.runs.tensorboard import LogName
    from dlm.tasks import Task

__all__ = ["learn", "learn_policy", "load", "resume"]


def learn(
    problem: str | Task | AnyDomain | object,
    *,
    out: str | Path | bool | None = None,
    progress: bool | None = None,
    verbose: bool = False,
    log: LogName | None = None,
    callbacks: Sequence[Callback] = (),
    **settings: Any,
) -> AnyResult:
    """Learn whatever can be learned and return its program with what was verified: a `Result`, of a world a `Policy`.

    The learner `nlm` has no programs and gives a `SoftResult`.

    `problem` is the name of a task (`dlm.task_names()`), a `dlm.Task`, a world to act in as in `learn_policy`, a
    reference ``"module:attribute"`` to any of these, or one's own data: a path, or what `dlm.Problem` makes of tables.
    These give a `DataResult`; their settings are `seed`, `time_limit`, `folds`, and those of `dlm.read_problem`.

    Settings are those of the run (`seed`, `learner`, `schedule`, `time_limit`, `incremental`, `device`, `jobs`), of
    training (`noise`, `noise_decay`, `dropout`, `diversity`, `hardening`, `shorten`: changes of the schedule), of
    the machine (`depth`, `breadth`, ... as in `dlm.MachineSettings`), and of worlds (`keep_soft`, `teacher`,
    `repair`, `model`, `rollouts`, `action`, `arity`, `encode`, `sizes`, `limit`).

    Files are written only if a folder `out` is given; True makes a new one under ``./runs``. `progress` shows how the
    run goes; by default it does so in a terminal or notebook. `verbose` shows every better program, anywhere.
    `log="tensorboard"` writes the figures of all reports into the folder `tensorboard` of the run folder. `callbacks`
    are called with a `dlm.Progress` after each report of a learner; one that returns True ends the run with the best
    program so far. Ctrl-C does the same.
    """
    if is_data(problem):
        from dlm.api.data import learn_own_data

        return learn_own_data(problem, out, settings, progress=progress, verbose=verbose, callbacks=callbacks)
    from dlm.api.learn import learn_problem

    return learn_problem(problem, out, settings, progress=progress, verbose=verbose, log=log, callbacks=callbacks)


def learn_policy(
    env: str | AnyDomain | Callable[[int], object] | object,
    action: str | None = None,
    *,
    learner: PolicyLearnerName = "auto",
    teacher: TeacherSource | None = None,
    **options: Any,
) -> Policy:
    """Learn a policy and return it with what its program earned on fresh episodes.

    `env` is a task such as ``"rl/unstack"``, a `dlm.envs.Domain`, a Gymnasium environment or its id, or a function from
    a size to an environment. An environment that is not one of ours shows structures, can be copied, and needs the name
    of the predicate whose atoms are its actions; `arity`, `encode`, `sizes` and `limit` are for it alone
    (`dlm.envs.probe.domain_of` describes them). `teacher` is for the learners "imitation" and "dlm-incr-sl": a
    program, the name of a hand-written one, a program file or run folder, or a function from a structure to the
    arguments of good actions; by default the program written for the task. With `incremental`, machines in phases
    invent predicates for "imitation". All other options are those of `learn`.
    """
    from dlm.policies.policy import Policy
    from dlm.tasks import Task

    if isinstance(env, Task):
        raise SettingsError(f"{env.name} is nothing to act in: learn it with dlm.learn")
    given: dict[str, Any] = {"action": action, "teacher": teacher, "learner": learner}
    result = learn(env, **{name: value for name, value in given.items() if value is not None}, **options)
    if not isinstance(result, Policy):
        raise SettingsError(f"{result.task} is nothing to act in: learn it with dlm.learn({result.task!r})")
    return result


def resume(
    run: str | Path,
    *,
    time_limit: float | None = None,
    problem: object = None,
    trust: bool = False,
    progress: bool | None = None,
    verbose: bool = False,
    log: LogName | None = None,
    callbacks: Sequence[Callback] = (),
    **world: Any,
) -> AnyResult:
    """Go on with the run in a folder from its last checkpoint.

    A verified result is only read back, unless the run of a policy was cut short and has time left. `time_limit`
    replaces that of the run. The seconds already spent count. A run that learned a problem of one's own finds it by its
    reference; `problem` gives it again, and `trust` allows to open one that was saved by value, which executes code.
    """
    if _is_data_run(run):
        from dlm.api.data import resume_own_data

        return resume_own_data(run, time_limit, problem, progress)
    from dlm.api.learn import resume_problem

    shown: dict[str, Any] = {"progress": progress, "verbose": verbose, "log": log, "callbacks": callbacks}
    return resume_problem(run, time_limit, problem, world, trust=trust, **shown)


def load(run: str | Path, *, problem: object = None, trust: bool = False, **world: Any) -> AnyResult:
    """The result of a run, from its folder. `problem` and `trust` are those of `resume`."""
    if _is_data_run(run):
        from dlm.api.data import load_own_data

        return load_own_data(run)
    from dlm.api.learn import load_problem

    return load_problem(run, problem, world, trust=trust)


def is_data(problem: object) -> bool:
    """Whether something is a problem of one's own data, or a path to some."""
    from dlm.data.problem import DataProblem

    if isinstance(problem, DataProblem | Path):
        return True
    if not isinstance(problem, str):
        return False
    if problem.startswith((".", "/", "~")):
        return True
    if not Path(problem).exists():
        return False
    from dlm.problems import problem_names

    return problem not in problem_names()


def _is_data_run(run: str | Path) -> bool:
    from dlm.learning.rules.result import DataRunSettings
    from dlm.runs.folder import RunFolder

    return RunFolder.open(Path(run)).read_json("settings.json").get("kind") == DataRunSettings.kind
