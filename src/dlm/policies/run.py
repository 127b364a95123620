"""Learn a policy: learners one after the other under one time limit, until a program is verified.

The return that is reported is the program's, measured by `dlm.envs.evaluate` on fresh episodes; `policies/verify.py`
says when that counts as verified. A resumed run goes on with the learner that had its turn, from its last checkpoint,
and counts the seconds that were spent. If all learners had ended without a verified program it makes another attempt:
they start again, with randomness that the seed and the number of the attempt decide, and the best program so far is
replaced only by a better one.
"""

from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from dlm import seeds
from dlm.envs.domain import AnyDomain
from dlm.envs.from_gymnasium import EnvDomain
from dlm.errors import RunError, SettingsError
from dlm.logic.syntax import Program
from dlm.policies.build import build_policy_learner
from dlm.policies.gradient.soft import SOFT, SoftPolicy, load_soft, save_soft
from dlm.policies.imitation.teachers import TeacherSource, find_teacher
from dlm.policies.learner import AnyPolicyLearner
from dlm.policies.policy import Policy
from dlm.policies.settings import NLRL_WORLDS, TAUGHT, PolicyRunSettings
from dlm.policies.verify import SOFT_EPISODES, Tested, play_program, try_trials
from dlm.programs import read_program
from dlm.runs.codec import decode
from dlm.runs.extras import check_learner, missing_torch
from dlm.runs.folder import CHECKPOINT_SECONDS, RunFolder
from dlm.runs.learner import Candidate
from dlm.runs.observer import Observer, Silence, StopRun
from dlm.runs.result import Ending
from dlm.runs.session import Session
from dlm.runs.settings import RunSettings
from dlm.seeds import Stream, derive_seed

__all__ = ["check_policy_task", "learn_policy_task", "resume_policy_task"]


def check_policy_task(domain: AnyDomain, settings: RunSettings, teacher: TeacherSource | None = None) -> None:
    """Refuse what cannot be learned, before anything is written."""
    assert isinstance(settings, PolicyRunSettings)
    if settings.learner == "nlrl" and domain.name not in NLRL_WORLDS:
        raise SettingsError(
            f"the learner 'nlrl' has templates for {', '.join(NLRL_WORLDS)}, not for {domain.name}; use search or ppo"
        )
    if settings.model == "joined" and not (domain.copies and domain.action_arity == 2):
        raise SettingsError(
            f"--model joined is for worlds whose objects have copies, such as rl/blocksworld; {domain.name} has none"
        )
    for learner in settings.turns:
        check_learner(learner, settings.device)
    if settings.learner in TAUGHT:
        find_teacher(domain, settings.teacher if teacher is None else teacher)


def learn_policy_task(
    domain: AnyDomain,
    settings: RunSettings,
    folder: RunFolder | None,
    observer: Observer | None = None,
    teacher: TeacherSource | None = None,
) -> Policy:
    """Learn a policy for a domain from scratch. Without a folder nothing is written to disk.

    `teacher` stands for the one that the settings name, if a name is not enough.
    """
    assert isinstance(settings, PolicyRunSettings)
    return _Turns(domain, settings, Session(settings, folder, observer or Silence()), teacher).run()


def resume_policy_task(
    domain: AnyDomain, settings: RunSettings, folder: RunFolder, observer: Observer | None = None
) -> Policy:
    """Go on with a run that was cut short, or make another attempt in its folder."""
    assert isinstance(settings, PolicyRunSettings)
    turns = _Turns(domain, settings, Session(settings, folder, observer or Silence()), None)
    turns.recall(folder)
    folder.write_json("settings.json", settings.to_json())  # the time limit may be another one
    return turns.run()


TESTING, LEAST_TESTING = 0.5, 10.0
"""The share of the time spent that tests may take which can be left out, and the seconds they have in any case."""


@dataclass(frozen=True)
class _Candidate:
    """A program and what it earned. `place` is the attempt and the turn that it comes from."""

    learner: str
    program: Program
    tested: Tested
    soft_tested: Tested | None
    restarts: int
    place: tuple[int, int]

    @property
    def rank(self) -> tuple[bool, int, float]:
        """Verified ones first, then by the number of tests passed: those that a failure leaves out have no mean."""
        tested = self.soft_tested or self.tested
        means = [test.mean for test in tested.tests]
        return tested.passed, sum(test.passed for test in tested.tests), sum(means) / len(means)


@dataclass(frozen=True)
class _BestPolicy:
    """What `best.json` says of the program beside it."""

    learner: str
    restarts: int
    place: tuple[int, int]
    tested: bool


@dataclass
class _Whereabouts:
    """Where a run is: what `progress.json` says beside the seconds."""

    attempt: int = 0
    turn: int = 0
    sitting: int = 0
    earlier_steps: int = 0  # of learners that have ended


class _Turns:
    """Learners that have their turns, one after the other."""

    def __init__(
        self, domain: AnyDomain, settings: PolicyRunSettings, session: Session, teacher: TeacherSource | None
    ) -> None:
        self.teacher = settings.teacher if teacher is None else teacher
        self.domain, self.settings, self.session = domain, settings, session
        self.at = _Whereabouts()
        self.steps = self.restarts = 0
        self.best: _Candidate | None = None
        self.refuted: Program | None = None
        self.refutations = 0
        self.doubted: RunFolder | None = None  # until a learner has worked from its checkpoint
        self.learn_until = settings.time_limit
        # States of an environment hold the environment itself, which no file can, nor a teacher that is a function:
        # learners start again there.
        own_teacher = teacher is not None and not isinstance(teacher, str | Path)
        self.checkpoints = None if isinstance(domain, EnvDomain) or own_teacher else session.folder

    @property
    def place(self) -> tuple[int, int]:
        return self.at.attempt, self.at.turn

    @property
    def is_verified(self) -> bool:
        return self.best is not None and self.best.rank[0]

    def recall(self, folder: RunFolder) -> None:
        """What earlier sittings have left."""
        counts = self.session.recall()
        self.at = _Whereabouts(**{part.name: counts.get(part.name, 0) for part in fields(_Whereabouts)})
        self.at.sitting += 1
        self.steps = self.at.earlier_steps
        # A program that is saved on the way to a soft policy says nothing about that policy.
        if folder.has(SOFT if self.settings.keep_soft else "best.json"):
            self.best = self._recall_best(folder)
        turns = self.settings.turns
        if self.best is not None and self.is_verified and self.best.place != self.place:
            self.at.turn = len(turns)  # it passes the tests by now, and whoever made it has ended
        elif self.at.turn >= len(turns):
            for learner in turns:
                folder.forget(learner)
            self.at.attempt, self.at.turn = self.at.attempt + 1, 0
            self.session.note(f"attempt {self.at.attempt + 1}: learners start again with fresh randomness")

    def _recall_best(self, folder: RunFolder) -> _Candidate | None:
        """The best program that was saved, and the soft policy if that is what matters, tested on fresh episodes.

        None if it is a draft of the learner that has its turn, which has it too, or will find it again.
        """
        try:
            best = decode(folder.read_json("best.json"), _BestPolicy)
        except (LookupError, TypeError, ValueError) as error:
            raise RunError(f"{folder.path}/best.json is damaged: {error}; delete it to go on without") from None
        if not best.tested and best.place == self.place and self.checkpoints is not None:
            return None
        program = read_program(folder.path)
        soft_tested = self._test_soft(load_soft(folder, self.domain)) if self.settings.keep_soft else None
        return _Candidate(best.learner, program, self._test(program), soft_tested, best.restarts, best.place)

    # ------------------------------------------------------------------ the loop

    def run(self) -> Policy:
        ended: Ending = "finished"
        if self.settings.learner == "auto" and (missing := missing_torch("ppo")):
            self.session.note(f"auto learns without gradients: {missing}")
        while self.at.turn < len(self.settings.turns):
            name, last = self.settings.turns[self.at.turn], self.at.turn == len(self.settings.turns) - 1
            learner = self._open(name, last=last)
            if learner is not None:
                ended = self._learn(learner)
                if ended != "finished":
                    break
                if not last and not self.is_verified:
                    self.session.note(f"{name} ends without a verified program, going on with the next learner")
            self._end_turn(name)
        return self._finish(ended)

    def _open(self, name: str, *, last: bool) -> AnyPolicyLearner | None:
        """A learner, from its last checkpoint if there is one; None if it cannot learn this domain and another may."""
        seed = (
            derive_seed(self.settings.seed, Stream.ATTEMPT, self.at.attempt) if self.at.attempt else self.settings.seed
        )
        try:
            learner = build_policy_learner(
                name, self.domain, seed, self.settings, lambda: self.session.seconds >= self.learn_until, self.teacher
            )
        except SettingsError as error:
            if last:
                raise
            self.session.note(f"{name} does not fit: {error}")
            return None
        if self.at.sitting and self.checkpoints is not None and self.checkpoints.restore(learner, name):
            self.session.note(f"{name} goes on from its last checkpoint")
            self.doubted = self.checkpoints
        return learner

    def _learn(self, learner: AnyPolicyLearner) -> Ending:
        """Let a learner work and test its program; starts from which it fails go back to it, if it has an answer."""
        while True:
            ended = self._train(learner)
            found = self._judge(learner, ended)
            if ended != "finished" or found.rank[0] or not self._refute(learner, found):
                return ended

    def _refute(self, learner: AnyPolicyLearner, found: _Candidate) -> bool:
        """Whether a learner goes on because its program failed; what comes next is tested by other episodes."""
        same = found.program == self.refuted
        if self.session.seconds >= self.learn_until or same or not learner.refute(found.tested.failed):
            return False
        self.refuted, self.refutations = found.program, self.refutations + 1
        self.session.note(f"the program fails at size {found.tested.sizes[-1]}: {learner.name} goes on from there")
        return True

    def _train(self, learner: AnyPolicyLearner) -> Ending:
        """Let a learner work until it is done or the time is over; at least one step, so that there is something."""
        if self.session.folder is not None:
            self.session.folder.remove("result.json")  # it will be out of date
        limit, saved = self.settings.time_limit, time.monotonic()
        try:
            while True:
                self.learn_until = min(learner.share * limit, max(limit / 2, limit - learner.testing))
                with nullcontext() if self.doubted is None else self.doubted.doubting(learner.name):
                    report = learner.advance()
                self.doubted = None
                self.steps, self.restarts = self.at.earlier_steps + report.steps, report.restarts
                over, due = self.session.seconds >= self.learn_until, time.monotonic() - saved > CHECKPOINT_SECONDS
                if self.checkpoints is not None and not learner.done and (over or due):
                    self.checkpoints.checkpoint(learner, learner.name)
                    saved = time.monotonic()
                if report.candidate is not None:
                    self._save_draft(report.candidate, report.restarts)
                self._save_progress()
                self.session.show(report)
                if learner.done:
                    return "finished"
                if over:
                    return "time limit"
        except KeyboardInterrupt:  # perhaps in the middle of a step: the last checkpoint stays
            return "interrupted"
        except StopRun:
            return "stopped"

    def _end_turn(self, learner: str) -> None:
        """Nothing of a learner that has ended is gone on with."""
        self.at.earlier_steps = self.steps
        self.at.turn = len(self.settings.turns) if self.is_verified else self.at.turn + 1
        self._save_progress(now=True)
        if self.checkpoints is not None:
            self.checkpoints.forget(learner)

    def _judge(self, learner: AnyPolicyLearner, ended: Ending) -> _Candidate:
        """Run the learner's program on fresh episodes, and keep it if it is the best so far."""
        why = "" if ended == "finished" else f"{ended}: "
        self.session.note(f"{why}running the program of {learner.name} on fresh episodes")
        at_once = ended in ("interrupted", "stopped")
        left = self.settings.time_limit - learner.testing - self.session.seconds
        program, soft = learner.program(0.0 if at_once else max(0.0, left)), learner.soft()
        soft_tested = None if soft is None else self._test_soft(soft)
        candidate = _Candidate(learner.made_by, program, self._test(program), soft_tested, self.restarts, self.place)
        if self.best is None or candidate.rank > self.best.rank:
            self.best = candidate
            if self.session.folder is not None and soft is not None:
                save_soft(self.session.folder, soft)
        best = self.best
        facts = {"learner": best.learner, "restarts": best.restarts, "place": list(best.place), "tested": True}
        self.session.save_best(best.program, facts)
        self._save_progress(now=True)
        return candidate

    @property
    def _test_seconds(self) -> float:
        """How long tests may take that can be left out: a share of the time spent."""
        return max(LEAST_TESTING, TESTING * self.session.seconds)

    def _test(self, program: Program) -> Tested:
        """Fresh episodes, the same ones for all programs of a sitting until one is refuted by them."""
        rng = seeds.rng(self.settings.seed, Stream.POLICY_TEST, self.at.sitting, self.refutations)
        return try_trials(play_program(program, self.domain), self.domain, rng, seconds=self._test_seconds)

    def _test_soft(self, soft: SoftPolicy) -> Tested:
        """The soft policy in fresh episodes."""
        rng = seeds.rng(self.settings.seed, Stream.SOFT_TEST, self.at.sitting)
        return try_trials(soft.run, self.domain, rng, large=SOFT_EPISODES, seconds=self._test_seconds)

    def _finish(self, ended: Ending) -> Policy:
        best, folder = self.best, self.session.folder
        assert best is not None
        result = Policy(
            domain=self.domain,
            task=self.domain.name,
            seed=self.settings.seed,
            learner=best.learner,
            program=best.program,
            tests=best.tested.tests,
            soft_tests=best.soft_tested.tests if best.soft_tested else (),
            left_out=(best.soft_tested or best.tested).left_out,
            steps=self.steps,
            restarts=best.restarts,
            seconds=self.session.seconds,
            ended=ended,
            run_dir=None if folder is None else folder.path,
        )
        if folder is not None:
            folder.write_json("result.json", result.to_json())
        return result

    # ------------------------------------------------------------------ the folder

    def _save_draft(self, candidate: Candidate, restarts: int) -> None:
        """A learner's best program as it comes; once there is a tested one, only a better tested one replaces it."""
        if self.best is None:
            facts = {"learner": candidate.learner, "restarts": restarts, "place": list(self.place), "tested": False}
            self.session.save_best(candidate.program, facts)

    def _save_progress(self, *, now: bool = False) -> None:
        self.session.save_progress(asdict(self.at), now=now)
