"""Learn a task: learners side by side under one time limit, until one program is verified.

`learn` is the whole product in one function: it runs the learners, prunes and verifies what they
believe in, sends counterexamples back, keeps the best program so far, and writes the run folder.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from dlm import seeds
from dlm.data.worlds import Examples
from dlm.errors import DlmError, ResourceError, RunError, SettingsError
from dlm.learning.lanes import Lane, Note, Order, Suggestion, Worker
from dlm.learning.prune import Judge, prune
from dlm.learning.result import NOBODY, Result, ScheduleEnd, enough_for
from dlm.learning.rules.learner import can_learn_rules
from dlm.learning.settings import LearnSettings
from dlm.learning.verify import Verification, verify, wrong_atoms
from dlm.logic.simplify import simplify
from dlm.logic.syntax import FALSE, Definition, Program
from dlm.logic.text import format_program
from dlm.programs import read_program
from dlm.runs.codec import decode
from dlm.runs.extras import check_learner, missing_torch
from dlm.runs.folder import RunFolder
from dlm.runs.learner import Candidate, Report
from dlm.runs.observer import Observer, Silence, StopRun
from dlm.runs.result import Ending
from dlm.runs.session import Session
from dlm.runs.settings import RunSettings
from dlm.seeds import Stream
from dlm.space.wiring import wire
from dlm.tasks.task import Task

__all__ = ["check_task", "learn", "resume"]

PRUNINGS = 3
"""How often a pruned program that failed verification is pruned again with the counterexamples."""


HEAD_START = 6.0
"""Seconds of work after which `auto` runs all of its learners, even if the quick ones are still quick. They are the
processor's: on a busy machine the others would come in too early, and take from the quick ones what is left of it."""

TIMED = 2.0
"""Seconds after which the length of a whole schedule is extrapolated from its first steps."""


def check_task(task: Task, settings: RunSettings) -> None:
    """Refuse what cannot be learned, before anything is written."""
    assert isinstance(settings, LearnSettings)
    check_learner(settings.learner, settings.device)
    wiring = wire(settings.machine, task.inputs, task.target, task.target_arity)
    if not settings.incremental:  # later phases have predicates of other arities among their inputs
        wiring.check_reached()
    _check_breadth(task, settings)


def learn(task: Task, settings: RunSettings, folder: RunFolder | None, observer: Observer | None = None) -> Result:
    """Learn a task from scratch. Without a folder nothing is written to disk."""
    assert isinstance(settings, LearnSettings)
    return _Portfolio(task, Session(settings, folder, observer or Silence()), settings, resumed=False).run()


def resume(task: Task, settings: RunSettings, folder: RunFolder, observer: Observer | None = None) -> Result:
    """Go on with a run from its last checkpoint. The time limit counts the seconds already spent."""
    assert isinstance(settings, LearnSettings)
    portfolio = _Portfolio(task, Session(settings, folder, observer or Silence()), settings, resumed=True)
    folder.write_json("settings.json", settings.to_json())  # the time limit may be another one
    folder.remove("result.json")  # it will be out of date
    return portfolio.run()


@dataclass(frozen=True)
class VerifiedProgram:
    """A pruned program that passed verification."""

    program: Program
    verification: Verification


class _Portfolio:
    """Learners at work on one task."""

    def __init__(self, task: Task, session: Session, settings: LearnSettings, *, resumed: bool) -> None:
        self.task, self.session, self.settings, self.resumed = task, session, settings, resumed
        self.attempts = 0
        self.verified_at = 0  # the steps at which a program was first verified on the way to a schedule's end
        self.best: Candidate | None = None
        self.reports: dict[str, Report] = {}
        self._forecast = False
        self._waiting: list[Callable[[], Lane | Worker]] = []
        folder = session.folder
        if resumed and folder is not None:
            counts = session.recall()
            self.attempts, self.verified_at = counts.get("attempts", 0), counts.get("verified_at", 0)
            self.best = _read_best(folder) if folder.has("best.json") else None

    # ------------------------------------------------------------------ the loop

    def run(self) -> Result:
        lanes: list[Lane | Worker] = []
        try:
            try:
                lanes = self._open_lanes()
                return self._loop(lanes)
            except KeyboardInterrupt:
                return self._give_up("interrupted", lanes)
            except StopRun:
                return self._give_up("stopped", lanes)
        except (ResourceError, MemoryError) as error:
            raise ResourceError(self._last_words(error)) from None
        finally:
            for lane in lanes:
                lane.close()

    def _open_lanes(self) -> list[Lane | Worker]:
        """The learners asked for: one here, perhaps with more of its kind beside it; for `auto` rules and search here
        and gradient beside them.

        Most tasks are learned by rules in a moment; the others wait as long as that may be so.
        """
        folder = None if self.session.folder is None else self.session.folder.path

        def order(learner: str) -> Order:
            return Order(self.task, self.settings, learner, folder, self.resumed)

        if self.settings.learner != "auto":
            first = order(self.settings.learner)
            more = [Worker(Order.beside(first, number)) for number in range(2, self.settings.jobs + 1)]
            return [*more, Lane(first)]
        self._waiting = [lambda: Lane(order("search"))]
        if missing := missing_torch("gradient descent"):
            self.session.note(f"auto learns without gradients: {missing}")
        elif _cores() > 1:
            self._waiting.append(lambda: Worker(order("gradient")))
        quick = can_learn_rules(self.task) and not self.settings.incremental and self.settings.schedule == "fast"
        return [Lane(order("rules+search"))] if quick else self._open_waiting()

    def _open_waiting(self) -> list[Lane | Worker]:
        """The learners that were to wait until those that need a moment only have had it."""
        opened = [open_lane() for open_lane in self._waiting]
        self._waiting = []
        return opened

    def _loop(self, lanes: list[Lane | Worker]) -> Result:
        begun = time.process_time()
        while not self.session.out_of_time:
            worked = time.process_time() - begun
            if not any(isinstance(lane, Lane) and lane.quick for lane in lanes) or worked > HEAD_START:
                lanes += self._open_waiting()
            for lane in list(lanes):
                try:
                    messages = lane.poll()
                except DlmError as error:
                    if isinstance(lane, Lane):
                        raise
                    self.session.note(f"the {lane.order.name} learner stopped: {error}")
                    lanes.remove(lane)
                    lane.close()
                    continue
                for message in messages:
                    if isinstance(message, Note):
                        self.session.note(message.text)
                        continue
                    if isinstance(message, Suggestion):
                        for other in lanes:
                            if isinstance(other, Lane):
                                other.suggest(message)
                        continue
                    result = self._consider(message, lane)
                    if result is not None:
                        return result
                    if message.done:
                        lanes.remove(lane)
                        lane.close()
                        if not lanes and message.candidate is not None:
                            return self._end_wrong(message.candidate)
                        break
            self.session.save_progress(self._counts)
            self._forecast_end(lanes)
        return self._give_up("time limit", lanes)

    @property
    def _counts(self) -> dict[str, int]:
        return {"attempts": self.attempts, "verified_at": self.verified_at}

    def _forecast_end(self, lanes: list[Lane | Worker]) -> None:
        """Say early that the time limit is shorter than the schedule, by extrapolation from its first steps."""
        if self._forecast or self.session.seconds < TIMED:
            return
        limit, needed = self.settings.time_limit, self._seconds_needed(lanes)
        if needed is not None:
            self._forecast = True
            if needed > limit:
                self.session.note(
                    f"the schedule takes about {needed:.0f} s, and the time limit is {limit:.0f} s: the run will end "
                    f"with the best program so far. A limit of {enough_for(needed)} s would let it end itself"
                )

    def _seconds_needed(self, lanes: list[Lane | Worker]) -> float | None:
        """When the schedule will be at its end; None if it has none, or no steps yet to extrapolate from."""
        for lane in lanes:
            left = lane.seconds_left() if isinstance(lane, Lane) else None
            if left is not None:
                return round(self.session.seconds + left, 1)
        return None

    def _consider(self, report: Report, lane: Lane | Worker) -> Result | None:
        """Show a report; prune and verify its candidate if the learner believes in it."""
        shown = replace(report, learner=lane.order.name) if lane.order.number > 1 else report
        self.reports[shown.learner] = shown
        candidate = report.candidate
        if candidate is not None and not self.verified_at and self._is_better(candidate):
            self._keep(candidate)
        self.session.show(shown)
        if candidate is None:
            return None
        if candidate.believed and not candidate.ends:
            self._verify_early(candidate, report.steps)
        elif candidate.believed:
            self.session.note(f"{candidate.learner} found a program, pruning and verifying it")
            self.attempts += 1
            found = self._prune_and_verify(candidate.program)
            if isinstance(found, VerifiedProgram):
                end = ScheduleEnd(self.verified_at or report.steps, found.verification.trials) if report.done else None
                if isinstance(lane, Worker) and self.session.folder is not None:
                    lane.hand_over(self.session.folder)
                return self._finish(candidate, found.program, found.verification, "finished", end)
            self.session.note("refuted by a fresh instance" + ("" if report.done else ", going on"))
            # A larger counterexample refutes the program, but is not trained on.
            lane.refute([batch for batch in found if batch.size <= self.task.train_size])
        return None

    def _is_better(self, candidate: Candidate) -> bool:
        return candidate.believed or self.best is None or candidate.score > self.best.score

    def _verify_early(self, candidate: Candidate, steps: int) -> None:
        """Note when a program was first right on the way to a schedule's end. The schedule goes on."""
        if self.verified_at:
            return
        self.attempts += 1
        if verify(simplify(candidate.program), self.task, self._rng(Stream.VERIFICATION)).verified:
            self.verified_at = steps
            self.session.note(f"the program of step {steps} is verified; the schedule goes on to its end")
            self.session.save_progress(self._counts, now=True)

    def _end_wrong(self, last: Candidate) -> Result:
        """A schedule has ended with a program that is wrong; one that was right on the way is the better result."""
        self.attempts += 1
        program = simplify(last.program)
        verification = verify(program, self.task, self._rng(Stream.VERIFICATION))
        end = ScheduleEnd(self.verified_at or None, verification.trials)
        if self.verified_at and self.best is not None:
            program = simplify(self.best.program)
            verification = verify(program, self.task, self._rng(Stream.BEST_SO_FAR))
            last = self.best
        return self._finish(last, program, verification, "finished", end)

    def _prune_and_verify(self, raw: Program) -> VerifiedProgram | tuple[Examples, ...]:
        """Prune a program and verify what is left, on instances used for nothing else; or counterexamples."""
        judge = Judge(self.task, self._rng(Stream.PRUNING))
        verifier = self._rng(Stream.VERIFICATION)
        program = simplify(raw)
        objection = judge.objection(program)
        if objection is not None:
            return (objection,)
        for _ in range(PRUNINGS):
            pruned = prune(program, dict(self.task.inputs), judge)
            verification = verify(pruned, self.task, verifier)
            if verification.verified:
                return VerifiedProgram(pruned, verification)
            if _is_wrong(program, verification.counterexamples):
                return verification.counterexamples
            judge.add(verification.counterexamples)  # pruning has overfitted to the judge
        verification = verify(program, self.task, verifier)
        return VerifiedProgram(program, verification) if verification.verified else verification.counterexamples

    def _rng(self, stream: Stream) -> np.random.Generator:
        """A generator that no learner draws from, another one for each stream and attempt."""
        return seeds.rng(self.settings.seed, stream, self.attempts)

    # ------------------------------------------------------------------ ends

    def _finish(
        self,
        candidate: Candidate,
        program: Program,
        verification: Verification,
        ended: Ending,
        schedule: ScheduleEnd | None = None,
        needed: float | None = None,
    ) -> Result:
        maker, repairer = candidate.learner, candidate.learner.split("+")[-1]
        reports = self._reports_of(maker) or self._reports_of(repairer) or [*self.reports.values()]
        folder = self.session.folder
        result = Result(
            task=self.task.name,
            seed=self.settings.seed,
            learner=candidate.learner,
            program=program,
            raw=candidate.program,
            verification=verification,
            schedule=schedule,
            seconds_needed=needed,
            seconds=self.session.seconds,
            restarts=sum(report.restarts for report in reports),
            steps=sum(report.steps for report in reports),
            ended=ended,
            run_dir=None if folder is None else folder.path,
        )
        if folder is not None:
            folder.write_program("program.dlm", program)
            folder.write_program("raw.dlm", candidate.program)
            folder.write_json("result.json", result.to_json())
        return result

    def _reports_of(self, learner: str) -> list[Report]:
        """The last reports of a learner, one for each of its lanes."""
        return [report for name, report in self.reports.items() if name.split(" ")[0] == learner]

    def _give_up(self, ended: Ending, lanes: list[Lane | Worker]) -> Result:
        """The best program so far, with its errors, and a checkpoint to go on from."""
        self.session.note(f"{ended}: saving, and counting the errors of the best program so far")
        needed = self._seconds_needed(lanes)
        for lane in lanes:
            if isinstance(lane, Lane):
                for note in lane.checkpoint():
                    self.session.note(note.text)
        self.session.save_progress(self._counts, now=True)
        if self.best is None:
            self.best = Candidate(_constant_program(self.task), NOBODY, 0.0)
        program = simplify(self.best.program)
        verification = verify(program, self.task, self._rng(Stream.BEST_SO_FAR))
        return self._finish(self.best, program, verification, ended, needed=needed)

    def _last_words(self, error: BaseException) -> str:
        """Nothing is lost: an error that ends the run carries the best program."""
        reason = "out of memory; use a smaller machine or fewer objects" if isinstance(error, MemoryError) else error
        if self.best is None:
            return str(reason)
        return f"{reason}\nThe best program so far:\n{format_program(simplify(self.best.program))}"

    def _keep(self, candidate: Candidate) -> None:
        self.best = candidate
        facts = {"learner": candidate.learner, "score": candidate.score}
        self.session.save_best(simplify(candidate.program), facts, raw=candidate.program)


def _check_breadth(task: Task, settings: LearnSettings) -> None:
    """Refuse a machine in which an input has no arity of its own, though quantifiers might still reach it."""
    breadth = max(settings.machine.breadth_at(layer) for layer in range(1, settings.machine.depth))
    for name, arity in task.inputs.items():
        if arity > breadth:
            raise SettingsError(
                f"the input {name!r} has {arity} arguments, but breadth is {breadth}; set breadth to {arity} or more"
            )


@dataclass(frozen=True)
class _BestOfTask:
    learner: str
    score: float


def _read_best(folder: RunFolder) -> Candidate:
    """The best program that a run had saved, so that going on never replaces it by a worse one."""
    saved = folder.read_json("best.json")
    try:
        known = decode(saved, _BestOfTask)
    except (LookupError, TypeError, ValueError) as error:
        raise RunError(f"{folder.path}/best.json is damaged: {error}; delete it to go on without") from None
    return Candidate(read_program(folder.path / "raw.dlm"), known.learner, known.score)


def _is_wrong(program: Program, batches: tuple[Examples, ...]) -> bool:
    return any(wrong_atoms(program, batch).any() for batch in batches)


def _constant_program(task: Task) -> Program:
    parameters = tuple(f"x{index + 1}" for index in range(task.target_arity))
    return Program((Definition(task.target, parameters, FALSE),))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
