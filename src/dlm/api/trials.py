"""Trying what was learned: `test` on fresh instances or episodes, `play` for one episode step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track

from dlm import seeds
from dlm.api.facts import AnyProgram, as_program
from dlm.api.learn import read_settings
from dlm.data.structure import Structure
from dlm.envs.domain import AnyDomain, Domain, State
from dlm.envs.evaluate import Mode
from dlm.errors import SettingsError
from dlm.learning.settings import SOFT_LEARNERS, LearnSettings
from dlm.learning.soft import load_model
from dlm.learning.verify import INSTANCES, TrialResult, check_signature, try_answers, try_program
from dlm.logic.syntax import Program
from dlm.policies.episode import Move, play_episode
from dlm.policies.gradient.soft import load_soft
from dlm.policies.verify import Earned, Play, Tested, play_program, try_size, try_trials
from dlm.problems import AnyProblem, WorldOptions
from dlm.runs.folder import RunFolder
from dlm.runs.problem import find_given, reopen
from dlm.seeds import Stream
from dlm.tasks import Task

__all__ = ["EPISODES", "Episode", "Test", "fresh_structure", "play", "test"]

EPISODES = 100
"""Of a test at a size of one's own."""

PIECE_BYTES = 1 << 27
"""Memory that the instances drawn at a time take."""


@dataclass(frozen=True)
class Test:
    """How a program did on fresh instances: of a task one trial, of a policy the returns of each test."""

    __test__ = False  # pytest takes it for one of its own

    task: str
    seed: int
    trial: TrialResult | None
    tested: Tested | None = None
    mode: Mode = "sampled"

    def to_json(self) -> dict[str, object]:
        """The test as one JSON object."""
        common: dict[str, object] = {"task": self.task, "seed": self.seed, "passed": self.passed}
        if self.trial is None:
            sizes = self.tested.sizes_json() if self.tested else {}
            return {**common, "mode": self.mode, "returns": [test.to_json() for test in self.returns], **sizes}
        return {
            **common,
            "objects": self.trial.sizes[0],
            "instances": self.trial.instances,
            "right": self.trial.right,
            "success_rate": self.trial.success_rate,
            "recall": self.trial.fit.recall,
            "precision": self.trial.fit.precision,
        }

    @property
    def passed(self) -> bool:
        """Whether the program was right everywhere."""
        done = self.trial or self.tested
        assert done is not None
        return done.passed

    @property
    def returns(self) -> tuple[Earned, ...]:
        """What a policy earned in each test."""
        return self.tested.tests if self.tested else ()


@dataclass(frozen=True)
class Episode:
    """One episode of a policy. Going through it plays it; the same seed gives the same moves."""

    domain: AnyDomain
    program: Program
    start: State
    mode: Mode
    seed: int

    def __iter__(self) -> Iterator[Move]:
        rng = seeds.rng(self.seed, Stream.PLAY, 1)
        return play_episode(self.program, self.domain, rng, self.start, mode=self.mode)


def test(
    source: AnyProgram,
    problem: object = None,
    *,
    size: int | None = None,
    instances: int | None = None,
    episodes: int | None = None,
    mode: Mode | None = None,
    soft: bool = False,
    optimum: bool = True,
    seed: int = 0,
    progress: bool = False,
    trust: bool = False,
    **world: Any,
) -> Test:
    """Try a program, or what a run folder holds, on fresh instances that no run has drawn.

    `problem` is by default that of the run. A task's program is tried on `instances` of a `size` (the task's large size
    by default), a policy in `episodes` of a size or in all of its tests. `soft` tries the soft policy of a run. What a
    run of `nlm` holds is a soft model, which answers by itself.
    """
    known = problem_of(source, problem, WorldOptions(**world), size, trust=trust)
    if isinstance(known, Domain):
        if instances is not None:
            raise SettingsError(f"a policy for {known.name} is tried in episodes: give episodes, not instances")
        rng, how = seeds.rng(seed, Stream.LATER_TEST), mode or "sampled"
        act = _soft_play(source, known, how) if soft else play_program(as_program(source), known, how)
        if size is None:
            tested = try_trials(act, known, rng, episodes, optimum=optimum)
        else:
            tested = Tested((try_size(act, known, rng, size, episodes or EPISODES, optimum=optimum),))
        return Test(known.name, seed, None, tested, how)
    if episodes is not None or mode is not None or soft:
        raise SettingsError(
            f"{known.name} has no episodes and no decisions: leave out episodes, greedy, sampled and soft; "
            "instances says how many instances"
        )
    wanted = known.large_size if size is None else size
    return Test(known.name, seed, _try(_answerer(source, known), known, wanted, instances or INSTANCES, seed, progress))


def play(
    source: AnyProgram,
    problem: object = None,
    *,
    size: int | None = None,
    trial: str | None = None,
    mode: Mode = "sampled",
    seed: int = 0,
    trust: bool = False,
    **world: Any,
) -> Episode:
    """One episode of a policy: a program for a `problem`, or that of a run folder.

    It starts at a `size`, or as the test called `trial` does; by default as the first test.
    """
    domain = problem_of(source, problem, WorldOptions(**world), size, trust=trust)
    if not isinstance(domain, Domain):
        raise SettingsError(f"{domain.name} is nothing to act in; `dlm test` tries its programs. Play rl/... tasks.")
    rng, trials = seeds.rng(seed, Stream.PLAY), {each.name: each for each in domain.trials()}
    if trial is not None and size is not None:
        raise SettingsError(f"the test {trial!r} has its own size: leave out the size")
    if trial is not None and trial not in trials:
        raise SettingsError(f"{domain.name} has no test {trial!r}; it has {', '.join(map(repr, trials))}")
    if trial is not None:
        start: State = trials[trial].start(rng, 1)
    else:
        start = domain.reset(rng, 1, domain.trials()[0].size if size is None else size)
    return Episode(domain, as_program(source), start, mode, seed)


def fresh_structure(
    source: AnyProgram,
    problem: object = None,
    *,
    size: int | None = None,
    seed: int = 0,
    trust: bool = False,
    **world: Any,
) -> tuple[str, Structure]:
    """The name of a program's problem and something to ask the program about: a fresh instance, or a start state.

    A world starts as in `play`. By default a task's instance has as many objects as in training.
    """
    known = problem_of(source, problem, WorldOptions(**world), size, trust=trust)
    if isinstance(known, Domain):
        start = play(source, known, size=size, seed=seed, trust=trust).start
        return known.name, known.structure(start, 0)
    rng = seeds.rng(seed, Stream.LATER_TEST)
    drawn = known.sample(rng, 1, known.train_size if size is None else size)
    return known.name, drawn.worlds.structure(0)


def problem_of(
    source: AnyProgram, given: object, options: WorldOptions, size: int | None = None, *, trust: bool
) -> AnyProblem:
    """What a program is for: what is given, or else the problem of its run folder."""
    path = None if isinstance(source, Program) else Path(source)
    if path is not None and path.is_dir():
        folder = RunFolder.open(path)
        return reopen(path, read_settings(folder).task, given, options, trust=trust)
    if given is None:
        raise SettingsError(f"say which task the program {source} is for (--task); `dlm tasks` lists them")
    # The actions of an environment are atoms of the predicate that the program defines.
    known = WorldOptions(action=as_program(source).target.name, sizes=None if size is None else (size,))
    return find_given(given, options, known)


def _soft_play(source: AnyProgram, domain: AnyDomain, mode: Mode) -> Play:
    """Episodes by the soft policy of a run. It is the actor itself that plays: there is no program to evaluate."""
    if isinstance(source, Program):
        raise SettingsError("a soft policy is in a run folder, not in a program")
    policy = load_soft(RunFolder.open(Path(source)), domain)
    return lambda start, rng: policy.run(start, rng, mode)


Tester = Callable[[np.random.Generator, list[tuple[int, int]]], TrialResult]
"""Tries something on fresh instances, a plan of sizes and how many of each."""


def _answerer(source: AnyProgram, task: Task) -> Tester:
    """What tries a program, or the soft model of a run whose learner has no programs."""
    if not isinstance(source, Program) and Path(source).is_dir():
        folder = RunFolder.open(Path(source))
        settings = read_settings(folder)
        if isinstance(settings, LearnSettings) and settings.learner in SOFT_LEARNERS:
            model = load_model(folder, settings, task)
            return lambda rng, plan: try_answers(model.answers, task, rng, plan)[0]
    program = as_program(source)
    check_signature(program, task)
    return lambda rng, plan: try_program(program, task, rng, plan)[0]


def _try(tester: Tester, task: Task, size: int, instances: int, seed: int, progress: bool) -> TrialResult:
    """Try it piece by piece, so that memory depends on the size alone."""
    rng = seeds.rng(seed, Stream.LATER_TEST)
    piece = max(1, min(PIECE_BYTES // max(task.estimate_bytes(1, size), 1), -(-instances // 20)))
    counts = [min(piece, instances - start) for start in range(0, instances, piece)]
    err = Console(stderr=True)
    bar = track(counts, "testing", console=err, transient=True, disable=not progress or not err.is_terminal)
    return TrialResult.join([tester(rng, [(size, count)]) for count in bar])
