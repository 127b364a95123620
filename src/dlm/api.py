"""The library in one call: `learn`, or `resume` for a run that was cut short, and `learn_policy` for worlds to act in;
`run`, `explain` and `check` for what was learned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dlm.data.examples import Labels, read_labels
from dlm.data.facts import Facts
from dlm.data.lookup import FactLookups
from dlm.data.readers import read_facts
from dlm.data.structure import Structure
from dlm.engines.answers import Answers
from dlm.engines.check import Check, check_program
from dlm.engines.choose import run_program
from dlm.engines.engine import Missing, require_inputs
from dlm.envs import Domain, get_domain
from dlm.envs.find import find_domain
from dlm.envs.from_gymnasium import Encode
from dlm.learning.incremental import phase_machine
from dlm.learning.portfolio import Observer, Result
from dlm.learning.portfolio import learn as learn_task
from dlm.learning.portfolio import resume as resume_task
from dlm.learning.result import read_result
from dlm.learning.settings import LearnerName, LearnSettings, ScheduleName
from dlm.logic.explain.explain import Explanation
from dlm.logic.explain.explain import explain as explain_atom
from dlm.logic.syntax import Program
from dlm.policies.imitation.teachers import TeacherSource, name_of
from dlm.policies.outcome import read_policy_run
from dlm.policies.policy import Policy
from dlm.policies.run import PolicyObserver, learn_policy_task, resume_policy_task
from dlm.policies.settings import PolicyLearnerName, PolicyRunSettings
from dlm.runs.folder import RunFolder
from dlm.tasks import Task, get_task

__all__ = ["check", "explain", "learn", "learn_policy", "resume", "run"]


def learn(
    task: str | Task,
    *,
    seed: int = 0,
    learner: LearnerName = "auto",
    schedule: ScheduleName = "fast",
    time_limit: float = 600.0,
    incremental: bool = False,
    out: str | Path | None = None,
    observer: Observer | None = None,
    **machine: Any,
) -> Result:
    """Learn a task and return its program with what was verified.

    `machine` overrides settings of the task's machine, such as ``depth=6``. With `incremental` shallow machines are
    trained in phases, and what one invents is an input of the next. Files are written only if a folder `out` is given.
    """
    known = get_task(task) if isinstance(task, str) else task
    settings = LearnSettings(
        task=known.name,
        machine=replace(phase_machine(known.settings) if incremental else known.settings, **machine),
        seed=seed,
        learner=learner,
        schedule=schedule,
        time_limit=time_limit,
        incremental=incremental,
    )
    folder = None if out is None else Path(out)
    return learn_task(known, settings, out=folder, save=folder is not None, observer=observer)


def learn_policy(
    env: str | Domain[Any] | Callable[[int], Any] | Any,
    action: str | None = None,
    *,
    seed: int = 0,
    learner: PolicyLearnerName = "auto",
    time_limit: float = 900.0,
    keep_soft: bool = False,
    incremental: bool = False,
    teacher: TeacherSource | None = None,
    out: str | Path | None = None,
    observer: PolicyObserver | None = None,
    arity: int | None = None,
    encode: Encode | None = None,
    sizes: Sequence[int] | None = None,
    limit: int | None = None,
) -> Policy:
    """Learn a policy and return it with what its program earned on fresh episodes.

    `env` is a task such as ``"rl/unstack"``, a `dlm.envs.Domain`, a Gymnasium environment or its id, or a function from
    a size to an environment. An environment that is not one of ours shows structures, can be copied, and needs the name
    of the predicate whose atoms are its actions; `arity`, `encode`, `sizes` and `limit` are for it alone
    (`dlm.envs.probe.domain_of` describes them). `teacher` is for the learner "imitation": a program, the name of
    a hand-written one, a program file or run folder, or a function from a structure to the arguments of good actions;
    by default the program written for the task. With `incremental`, machines in phases invent predicates for it.
    Files are written only if a folder `out` is given.
    """
    domain = find_domain(env, action, arity=arity, encode=encode, sizes=sizes, limit=limit)
    settings = PolicyRunSettings(
        domain.name, seed, learner, time_limit, keep_soft, incremental, None if teacher is None else name_of(teacher)
    )
    folder = None if out is None else Path(out)
    run = learn_policy_task(domain, settings, out=folder, save=folder is not None, observer=observer, teacher=teacher)
    return Policy(domain, run)


def resume(run: str | Path, *, time_limit: float | None = None, observer: Observer | None = None) -> Result:
    """Go on with the run in a folder from its last checkpoint; a verified one is only read back.

    `time_limit` replaces that of the run. The seconds already spent count.
    """
    folder = RunFolder.open(Path(run))
    settings = LearnSettings.from_json(folder.read_json("settings.json"))
    task = get_task(str(settings.task))
    done = read_result(folder)
    if done is not None and done.verified:
        return done
    if time_limit is not None:
        settings = replace(settings, time_limit=time_limit)
        folder.write_json("settings.json", settings.to_json())
    return resume_task(task, settings, folder, observer=observer)


def resume_policy(
    run: str | Path, *, time_limit: float | None = None, observer: PolicyObserver | None = None
) -> Policy:
    """Go on with the run of a policy in a folder from its last checkpoint.

    A verified result is only read back, unless the run was cut short and has time left. `time_limit` replaces that of
    the run. The seconds already spent count.
    """
    folder = RunFolder.open(Path(run))
    settings = PolicyRunSettings.from_json(folder.read_json("settings.json"))
    domain, limit = get_domain(settings.task), settings.time_limit
    if time_limit is not None:
        settings = replace(settings, time_limit=time_limit)
    done = read_policy_run(folder)
    if done is not None and done.verified:
        ended = done.ended == "finished" or (done.ended == "time limit" and settings.time_limit <= limit)
        if ended or done.seconds >= settings.time_limit:
            return Policy(domain, done)
    return Policy(domain, resume_policy_task(domain, settings, folder, observer=observer))


def run(program: Program, facts: Facts | str | Path, engine: str = "auto", *, missing: Missing = "error") -> Answers:
    """The tuples of a program's target on some facts, or on those that `read_facts` finds at a path.

    Engines are "bits", "duckdb" and "spark"; "auto" picks one by an estimate, and ``reason`` of the answers says why.
    """
    given = facts if isinstance(facts, Facts) else read_facts(facts)
    return run_program(program, given, engine, missing=missing)


def explain(
    program: Program, facts: Facts | Structure | str | Path, atom: str, *, missing: Missing = "error"
) -> Explanation:
    """Why an atom such as ``"is_grandparent(ann, amelia)"`` is true on some facts, or why not.

    Its predicate is one of the program's or of the facts'; odd names stand in single quotes. `str` of the explanation
    gives the words, `to_json` the same for programs.
    """
    known = require_inputs(program, _facts(facts), missing)
    return explain_atom(program, FactLookups(known), atom)


def check(
    program: Program,
    facts: Facts | Structure | str | Path,
    examples: Labels | str | Path,
    engine: str = "auto",
    *,
    missing: Missing = "error",
    show: int = 10,
) -> Check:
    """How a program's answers on some facts compare with the true ones, with explanations of up to `show` wrong ones.

    `examples` is a CSV or Parquet table of all that is true, or a Prolog file of ``pos(...)`` and ``neg(...)``.
    """
    known = _facts(facts)
    target = program.target
    labels = examples if isinstance(examples, Labels) else read_labels(examples, known, target.name, target.arity)
    return check_program(program, known, labels, engine, missing=missing, show=show)


def _facts(given: Facts | Structure | str | Path) -> Facts:
    if isinstance(given, Structure):
        return Facts.from_structure(given)
    return given if isinstance(given, Facts) else read_facts(given)
