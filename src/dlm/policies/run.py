"""Learn a policy: learners one after the other under one time limit, until a program is verified.

The return that is reported is the program's, measured by `dlm.envs.evaluate` on fresh episodes; `policies/verify.py`
says when that counts as verified. The run folder is that of `runs/folder.py`. A resumed run goes on with the learner
that had its turn, from its last checkpoint, and counts the seconds that were spent. If all learners had ended without
a verified program it makes another attempt: they start again, with randomness that the seed and the number of the
attempt decide, and the best program so far is replaced only by a better one.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from dlm import seeds
from dlm.envs import Domain, domain_names, get_domain
from dlm.errors import RunError, SettingsError
from dlm.logic.syntax import Program
from dlm.policies.gradient.soft_file import load_soft, save_soft
from dlm.policies.imitation.teachers import TeacherSource, find_teacher
from dlm.policies.outcome import PolicyEnding, PolicyRun
from dlm.policies.settings import PolicyRunSettings
from dlm.policies.stages import PolicyReport, Stage, open_stage
from dlm.policies.verify import SOFT_EPISODES, Tested, play_program, try_trials
from dlm.runs.extras import check_installed, missing_torch
from dlm.runs.folder import CHECKPOINT_SECONDS, RunFolder, read_program
from dlm.seeds import Stream, derive_seed

if TYPE_CHECKING:
    from dlm.policies.gradient.soft import SoftPolicy

__all__ = ["PolicyObserver", "learn_policy_task", "resume_policy_task"]


TESTING, LEAST_TESTING = 0.5, 10.0
"""The share of the time spent that tests may take which can be left out, and the seconds they have in any case."""


class PolicyObserver(Protocol):
    """Somebody who watches a run: the command line's progress display, or a test."""

    def on_report(self, report: PolicyReport, seconds: float, limit: float) -> None: ...

    def on_note(self, text: str) -> None: ...


class _Nobody:
    def on_report(self, report: PolicyReport, seconds: float, limit: float) -> None: ...

    def on_note(self, text: str) -> None: ...


def learn_policy_task(
    domain: Domain[Any],
    settings: PolicyRunSettings,
    *,
    out: Path | None = None,
    save: bool = True,
    observer: PolicyObserver | None = None,
    teacher: TeacherSource | None = None,
) -> PolicyRun:
    """Learn a policy for a domain from scratch. Without `save` nothing is written to disk.

    `teacher` stands for the one that the settings name, if a name is not enough.
    """
    if settings.learner == "imitation":
        find_teacher(domain, settings.teacher if teacher is None else teacher)  # refused before a folder is made
    for learner in settings.stages:
        check_installed(learner)
    folder = RunFolder.create(out, domain.name, settings.seed) if save else None
    if folder is not None:
        folder.write_json("settings.json", settings.to_json())
        if observer is not None:
            observer.on_note(f"run folder {folder.path}")
    return _Session(domain, settings, folder, observer or _Nobody(), teacher).run()


def resume_policy_task(
    domain: Domain[Any], settings: PolicyRunSettings, folder: RunFolder, *, observer: PolicyObserver | None = None
) -> PolicyRun:
    """Go on with a run that was cut short, or make another attempt in its folder."""
    session = _Session(domain, settings, folder, observer or _Nobody())
    session.recall(folder)
    folder.write_json("settings.json", settings.to_json())  # the time limit may be another one
    return session.run()


@dataclass(frozen=True)
class _Candidate:
    """A program and what it earned."""

    learner: str
    program: Program
    tested: Tested
    soft_tested: Tested | None
    starts: int
    place: tuple[int, int]
    """The attempt and the turn that it comes from."""

    @property
    def rank(self) -> tuple[bool, int, float]:
        """Verified ones first, then by the number of tests passed: those that a failure leaves out have no mean."""
        tested = self.soft_tested or self.tested
        means = [test.mean for test in tested.tests]
        return tested.passed, sum(test.passed for test in tested.tests), sum(means) / len(means)


class _Session:
    """One run under way."""

    def __init__(
        self,
        domain: Domain[Any],
        settings: PolicyRunSettings,
        folder: RunFolder | None,
        observer: PolicyObserver,
        teacher: TeacherSource | None = None,
    ) -> None:
        self.teacher = settings.teacher if teacher is None else teacher
        self.domain = domain
        self.settings = settings
        self.folder = folder
        self.observer = observer
        self.attempt = self.turn = self.sitting = 0
        self.spent = 0.0
        self.earlier_steps = self.env_steps = 0
        # A world or a teacher of a user's own cannot be found again by what is in a folder.
        named = domain.name in domain_names() and get_domain(domain.name) is domain
        own_teacher = teacher is not None and not isinstance(teacher, str | Path)
        self.checkpoints = folder if named and not own_teacher else None
        self.best: _Candidate | None = None
        self.started = time.monotonic()
        self.learn_until = settings.time_limit

    @property
    def seconds(self) -> float:
        return self.spent + time.monotonic() - self.started

    @property
    def place(self) -> tuple[int, int]:
        return self.attempt, self.turn

    @property
    def out_of_time(self) -> bool:
        return self.seconds >= self.settings.time_limit

    def recall(self, folder: RunFolder) -> None:
        """What earlier attempts have left."""
        if folder.has("progress.json"):
            progress = folder.read_json("progress.json")
            try:
                self.spent, self.earlier_steps = float(str(progress["seconds"])), int(str(progress["earlier_steps"]))
                self.attempt, self.turn = int(str(progress["attempt"])), int(str(progress["turn"]))
                self.sitting = int(str(progress["sitting"])) + 1
            except (KeyError, ValueError) as error:
                raise RunError(f"{folder.path}/progress.json is damaged, or of an earlier version: {error!r}") from None
        if self.out_of_time:
            raise SettingsError(
                f"this run has used its {self.settings.time_limit:.0f} s; give a larger --time-limit to go on"
            )
        self.env_steps = self.earlier_steps
        # A program that is saved on the way to a soft policy says nothing about that policy.
        if folder.has("soft.npz" if self.settings.keep_soft else "best.json"):
            self.best = self._recall_best(folder)
        stages = self.settings.stages
        if self.best is not None and self.is_verified and self.best.place != self.place:
            self.turn = len(stages)  # it passes the tests by now, and whoever made it has ended
        elif self.turn == len(stages):
            for learner in stages:
                folder.remove(f"{learner}.npz")
            self.attempt, self.turn = self.attempt + 1, 0
            self.observer.on_note(f"attempt {self.attempt + 1}: learners start again with fresh randomness")

    def _recall_best(self, folder: RunFolder) -> _Candidate | None:
        """The best program that was saved, and the soft policy if that is what matters, tested on fresh episodes.

        None if it is a draft of the learner that has its turn, which has it too, or will find it again.
        """
        best: Mapping[str, Any] = folder.read_json("best.json")
        try:
            (attempt, turn), learner, starts = best["place"], str(best["learner"]), int(best["starts"])
            is_draft = not best["tested"] and (attempt, turn) == self.place
        except (KeyError, TypeError, ValueError) as error:
            raise RunError(f"{folder.path}/best.json is damaged: {error!r}; delete it to go on without") from None
        if is_draft:
            return None
        program = read_program(folder.path)
        soft_tested = self._test_soft(load_soft(folder, self.domain)) if self.settings.keep_soft else None
        return _Candidate(learner, program, self._test(program), soft_tested, starts, (attempt, turn))

    @property
    def is_verified(self) -> bool:
        return self.best is not None and self.best.rank[0]

    # ------------------------------------------------------------------ the loop

    def run(self) -> PolicyRun:
        ended: PolicyEnding = "finished"
        if self.settings.learner == "auto" and (missing := missing_torch("ppo")):
            self.observer.on_note(f"auto learns by search alone: {missing}")
        while self.turn < len(self.settings.stages):
            learner, last = self.settings.stages[self.turn], self.turn == len(self.settings.stages) - 1
            stage = self._open(learner, last=last)
            if stage is not None:
                ended = self._train(stage)
                self._judge(stage, ended)
                if ended != "finished":
                    break
                if not last and not self.is_verified:
                    self.observer.on_note(f"{learner} ends without a verified program, going on with the next learner")
            self._end_turn(learner)
        return self._finish(ended)

    def _open(self, learner: str, *, last: bool) -> Stage | None:
        """A learner, from its last checkpoint if there is one; None if it cannot learn this domain and another may."""
        try:
            stage = open_stage(
                learner,
                self.domain,
                self._seed(),
                keep_soft=self.settings.keep_soft,
                out_of_time=lambda: self.seconds >= self.learn_until,
                teacher=self.teacher,
                incremental=self.settings.incremental,
            )
        except SettingsError as error:
            if last:
                raise
            self.observer.on_note(f"{learner} does not fit: {error}")
            return None
        resumed = self.checkpoints if self.sitting else None
        if resumed is not None and resumed.restore(learner, stage.restore):
            self.observer.on_note(f"{learner} goes on from its last checkpoint")
        return stage

    def _train(self, stage: Stage) -> PolicyEnding:
        """Let a learner work until it is done or the time is over; at least one step, so that there is something."""
        if self.folder is not None:
            self.folder.remove("result.json")  # it will be out of date
        mark: object = None
        limit, saved = self.settings.time_limit, time.monotonic()
        try:
            while True:
                self.learn_until = min(stage.share * limit, max(limit / 2, limit - stage.testing))
                stage.advance()
                self.env_steps = self.earlier_steps + stage.env_steps
                over, due = self.seconds >= self.learn_until, time.monotonic() - saved > CHECKPOINT_SECONDS
                if self.checkpoints is not None and not stage.done and (over or due):
                    self.checkpoints.save_state(stage.learner, stage.state())
                    saved = time.monotonic()
                if stage.mark is not mark:
                    mark = stage.mark
                    self._save_draft(stage)
                self._report(stage)
                if stage.done:
                    return "finished"
                if over:
                    return "time limit"
        except KeyboardInterrupt:  # perhaps in the middle of a step: the last checkpoint stays
            self.env_steps = self.earlier_steps + stage.env_steps
            return "interrupted"

    def _end_turn(self, learner: str) -> None:
        """Nothing of a learner that has ended is gone on with."""
        self.earlier_steps = self.env_steps
        self.turn = len(self.settings.stages) if self.is_verified else self.turn + 1
        self._save_progress()
        if self.checkpoints is not None:
            self.checkpoints.remove(f"{learner}.npz")

    def _judge(self, stage: Stage, ended: PolicyEnding) -> None:
        """Run the learner's program on fresh episodes, and keep it if it is the best so far."""
        why = "" if ended == "finished" else f"{ended}: "
        self.observer.on_note(f"{why}running the program of {stage.learner} on fresh episodes")
        left = 0.0 if ended == "interrupted" else max(0.0, self.settings.time_limit - stage.testing - self.seconds)
        program, soft = stage.program(left), stage.soft()
        soft_tested = None if soft is None else self._test_soft(soft)
        candidate = _Candidate(stage.made_by, program, self._test(program), soft_tested, stage.starts, self.place)
        if self.best is None or candidate.rank > self.best.rank:
            self.best = candidate
            if self.folder is not None and soft is not None:
                save_soft(self.folder, soft)
        self._save(self.best)

    @property
    def _test_seconds(self) -> float:
        """How long tests may take that can be left out: a share of the time spent."""
        return min(self.settings.time_limit, max(LEAST_TESTING, TESTING * self.seconds))

    def _test(self, program: Program) -> Tested:
        """Fresh episodes, the same ones for all programs of a sitting, of a stream that no learner draws from."""
        rng = seeds.rng(self.settings.seed, Stream.POLICY_TEST, self.sitting)
        return try_trials(play_program(program, self.domain), self.domain, rng, seconds=self._test_seconds)

    def _test_soft(self, soft: SoftPolicy) -> Tested:
        """The soft policy in fresh episodes."""
        rng = seeds.rng(self.settings.seed, Stream.SOFT_TEST, self.sitting)
        return try_trials(soft.run, self.domain, rng, large=SOFT_EPISODES, seconds=self._test_seconds)

    def _seed(self) -> int:
        """The seed of an attempt: the run's own one at first, so that a learner alone gives the same program."""
        if not self.attempt:
            return self.settings.seed
        return derive_seed(self.settings.seed, Stream.ATTEMPT, self.attempt)

    def _finish(self, ended: PolicyEnding) -> PolicyRun:
        best = self.best
        assert best is not None
        result = PolicyRun(
            task=self.domain.name,
            seed=self.settings.seed,
            learner=best.learner,
            program=best.program,
            tests=best.tested.tests,
            soft_tests=best.soft_tested.tests if best.soft_tested else (),
            env_steps=self.env_steps,
            starts=best.starts,
            seconds=self.seconds,
            ended=ended,
            run_dir=None if self.folder is None else self.folder.path,
            left_out=(best.soft_tested or best.tested).left_out,
        )
        if self.folder is not None:
            self.folder.write_json("result.json", result.to_json())
        return result

    # ------------------------------------------------------------------ the folder

    def _report(self, stage: Stage) -> None:
        report = stage.report(self.seconds)
        if self.folder is not None:
            figures = {name: value if math.isfinite(value) else None for name, value in report.figures.items()}
            self.folder.append_metrics({"seconds": round(self.seconds, 3), "learner": report.learner, **figures})
            self._save_progress()
        self.observer.on_report(report, self.seconds, self.settings.time_limit)

    def _save_draft(self, stage: Stage) -> None:
        """The learner's best program as it comes; once there is a tested one, only a better tested one replaces it."""
        if self.folder is not None and self.best is None:
            self._write_best(stage.program(0.0), stage.made_by, stage.starts, self.place, tested=False)

    def _save(self, best: _Candidate) -> None:
        if self.folder is not None:
            self._write_best(best.program, best.learner, best.starts, best.place, tested=True)
            self._save_progress()

    def _write_best(self, program: Program, learner: str, starts: int, place: tuple[int, int], *, tested: bool) -> None:
        assert self.folder is not None
        self.folder.write_program("program.dlm", program)
        best = {"learner": learner, "starts": starts, "place": place, "tested": tested}
        self.folder.write_json("best.json", best)

    def _save_progress(self) -> None:
        if self.folder is not None:
            progress = {
                "seconds": self.seconds,
                "sitting": self.sitting,
                "attempt": self.attempt,
                "turn": self.turn,
                "earlier_steps": self.earlier_steps,
            }
            self.folder.write_json("progress.json", progress)
