"""Learn a task: learners side by side under one time limit, until one program is verified.

`learn` is the whole product in one function: it runs the learners, prunes and verifies what they
believe in, sends counterexamples back, keeps the best program so far, and writes the run folder.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import numpy as np

from dlm import seeds
from dlm.data.worlds import Examples
from dlm.errors import DlmError, ResourceError, RunError, SettingsError
from dlm.learning.lanes import Lane, Order, Suggestion, Worker
from dlm.learning.prune import Judge, prune
from dlm.learning.settings import LearnSettings
from dlm.learning.verify import Verification, verify, wrong_atoms
from dlm.logic.simplify import simplify
from dlm.logic.syntax import FALSE, Definition, Program
from dlm.logic.text import format_program
from dlm.runs.extras import check_installed, missing_torch
from dlm.runs.folder import CHECKPOINT_SECONDS, RunFolder, read_program
from dlm.runs.learner import Candidate, Report
from dlm.seeds import Stream
from dlm.tasks.task import Task

__all__ = ["Ending", "Observer", "Result", "learn", "resume"]

Ending = Literal["verified", "time limit", "interrupted"]

PRUNINGS = 3
"""How often a pruned program that failed verification is pruned again with the counterexamples."""


class Observer(Protocol):
    """Somebody who watches a run: the command line's progress display, or a test."""

    def on_report(self, report: Report, seconds: float, limit: float) -> None: ...

    def on_note(self, text: str) -> None: ...


class _Nobody:
    def on_report(self, report: Report, seconds: float, limit: float) -> None: ...

    def on_note(self, text: str) -> None: ...


@dataclass(frozen=True)
class Result:
    """What a run ended with. `program` is the verified one, or else the best so far."""

    task: str
    seed: int
    learner: str
    program: Program
    raw: Program
    verification: Verification
    seconds: float
    starts: int
    steps: int
    ended: Ending
    run_dir: Path | None

    @property
    def verified(self) -> bool:
        return self.verification.verified

    def to_json(self) -> dict[str, object]:
        """The result as one JSON object."""
        v = self.verification
        return {
            "task": self.task,
            "seed": self.seed,
            "verified": self.verified,
            "learner": self.learner,
            "success_rate_train_size": v.train.success_rate,
            "success_rate_large": v.large.success_rate,
            "success_rate_spread": v.spread.success_rate,
            "trials": [
                {"sizes": list(t.sizes), "instances": t.instances, "right": t.right, "success_rate": t.success_rate}
                for t in v.trials
            ],
            "seconds": round(self.seconds, 3),
            "starts": self.starts,
            "steps": self.steps,
            "program": format_program(self.program),
            "definitions": len(self.program.definitions),
            "literals": self.program.literals,
            "raw_definitions": len(self.raw.definitions),
            "raw_literals": self.raw.literals,
            "ended": self.ended,
            "run_dir": None if self.run_dir is None else str(self.run_dir),
        }

    def __str__(self) -> str:
        state = "verified" if self.verified else "not verified"
        return f"# {self.task}: {state}, by {self.learner} in {self.seconds:.1f} s\n{self.program}"


def learn(
    task: Task,
    settings: LearnSettings,
    *,
    out: Path | None = None,
    save: bool = True,
    observer: Observer | None = None,
) -> Result:
    """Learn a task from scratch. Without `save` nothing is written to disk."""
    settings.machine.check(task.inputs, task.target_arity)
    _check_breadth(task, settings)
    check_installed(settings.learner)  # before a folder is made
    folder = RunFolder.create(out, task.name, settings.seed) if save else None
    if folder is not None:
        folder.write_json("settings.json", settings.to_json())
        if observer is not None:
            observer.on_note(f"run folder {folder.path}")
    return _Session(task, settings, folder, observer or _Nobody(), resumed=False).run()


def resume(task: Task, settings: LearnSettings, folder: RunFolder, *, observer: Observer | None = None) -> Result:
    """Go on with a run from its last checkpoint. The time limit counts the seconds already spent."""
    session = _Session(task, settings, folder, observer or _Nobody(), resumed=True)
    folder.remove("result.json")  # it will be out of date
    return session.run()


@dataclass(frozen=True)
class Proof:
    """A pruned program that passed verification."""

    program: Program
    verification: Verification


class _Session:
    """One run under way."""

    def __init__(
        self, task: Task, settings: LearnSettings, folder: RunFolder | None, observer: Observer, *, resumed: bool
    ) -> None:
        self.task = task
        self.settings = settings
        self.folder = folder
        self.observer = observer
        self.resumed = resumed
        self.spent = 0.0
        self.attempts = 0
        self.best: Candidate | None = None
        self.reports: dict[str, Report] = {}
        if resumed and folder is not None and folder.has("progress.json"):
            progress = folder.read_json("progress.json")
            try:
                self.spent, self.attempts = float(str(progress["seconds"])), int(str(progress["attempts"]))
            except (KeyError, ValueError) as error:
                raise RunError(f"{folder.path}/progress.json is damaged: {error!r}") from None
            if self.spent >= settings.time_limit:
                raise SettingsError(
                    f"this run has used its {settings.time_limit:.0f} s; give a larger --time-limit to go on"
                )
        if resumed and folder is not None and folder.has("best.json"):
            self.best = _read_best(folder)
        self.started = time.monotonic()
        self._progress_saved = self.started

    @property
    def seconds(self) -> float:
        return self.spent + time.monotonic() - self.started

    # ------------------------------------------------------------------ the loop

    def run(self) -> Result:
        lanes: list[Lane | Worker] = []
        try:
            try:
                lanes = self._open_lanes()
                return self._loop(lanes)
            except KeyboardInterrupt:
                return self._give_up("interrupted", lanes)
        except (ResourceError, MemoryError) as error:
            raise ResourceError(self._last_words(error)) from None
        finally:
            for lane in lanes:
                lane.close()

    def _open_lanes(self) -> list[Lane | Worker]:
        """The learners asked for: one here, or for `auto` search here and gradient beside it."""
        folder = None if self.folder is None else self.folder.path

        def order(learner: str) -> Order:
            return Order(self.task, self.settings, learner, folder, self.resumed)

        if self.settings.learner != "auto":
            return [Lane(order(self.settings.learner))]
        if missing := missing_torch("gradient descent"):
            self.observer.on_note(f"auto learns by search alone: {missing}")
        beside = [] if missing or _cores() == 1 else [Worker(order("gradient"))]
        return [Lane(order("search")), *beside]

    def _loop(self, lanes: list[Lane | Worker]) -> Result:
        while self.seconds < self.settings.time_limit:
            for lane in list(lanes):
                try:
                    messages = lane.poll()
                except DlmError as error:
                    if isinstance(lane, Lane):
                        raise
                    self.observer.on_note(f"the gradient learner stopped: {error}")
                    lanes.remove(lane)
                    lane.close()
                    continue
                for message in messages:
                    if isinstance(message, Suggestion):
                        for other in lanes:
                            if isinstance(other, Lane):
                                other.suggest(message)
                        continue
                    result = self._consider(message, lane)
                    if result is not None:
                        return result
            self._save_progress()
        return self._give_up("time limit", lanes)

    def _consider(self, report: Report, lane: Lane | Worker) -> Result | None:
        """Show a report; prune and verify its candidate if the learner believes in it."""
        self.reports[report.learner] = report
        self.observer.on_report(report, self.seconds, self.settings.time_limit)
        self._log(report)
        candidate = report.candidate
        if candidate is None:
            return None
        if not candidate.believed:
            if self.best is None or candidate.accuracy > self.best.accuracy:
                self._keep(candidate)
            return None
        self._keep(candidate)
        self.observer.on_note(f"{candidate.learner} found a program, pruning and verifying it")
        self.attempts += 1
        proof = self._prove(candidate.program)
        if isinstance(proof, Proof):
            return self._finish(candidate, proof.program, proof.verification, "verified")
        self.observer.on_note("refuted by a fresh instance, going on")
        # A larger counterexample tells that the program is wrong, but training may not look at it.
        lane.refute([batch for batch in proof if batch.size <= self.task.train_size])
        return None

    def _prove(self, raw: Program) -> Proof | tuple[Examples, ...]:
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
                return Proof(pruned, verification)
            if _is_wrong(program, verification.counterexamples):
                return verification.counterexamples
            judge.add(verification.counterexamples)  # the program was right, its pruning was not
        verification = verify(program, self.task, verifier)
        return Proof(program, verification) if verification.verified else verification.counterexamples

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
    ) -> Result:
        report = self.reports.get(candidate.learner.split("+")[-1])
        result = Result(
            self.task.name,
            self.settings.seed,
            candidate.learner,
            program,
            candidate.program,
            verification,
            self.seconds,
            report.starts if report else 0,
            report.steps if report else 0,
            ended,
            None if self.folder is None else self.folder.path,
        )
        if self.folder is not None:
            self.folder.write_program("program.dlm", program)
            self.folder.write_program("raw.dlm", candidate.program)
            self.folder.write_json("result.json", result.to_json())
        return result

    def _give_up(self, ended: Literal["time limit", "interrupted"], lanes: list[Lane | Worker]) -> Result:
        """The best program so far, with its errors, and a checkpoint to go on from."""
        self.observer.on_note(f"{ended}: saving, and counting the errors of the best program so far")
        for lane in lanes:
            if isinstance(lane, Lane):
                lane.checkpoint()
        self._save_progress(now=True)
        if self.best is None:
            constant = _constant_program(self.task)
            self.best = Candidate(constant, "none", 0.0, believed=False)
        program = simplify(self.best.program)
        return self._finish(self.best, program, verify(program, self.task, self._rng(Stream.BEST_SO_FAR)), ended)

    def _last_words(self, error: BaseException) -> str:
        """Nothing is lost: an error that ends the run carries the best program."""
        reason = "out of memory; use a smaller machine or fewer objects" if isinstance(error, MemoryError) else error
        if self.best is None:
            return str(reason)
        return f"{reason}\nThe best program so far:\n{format_program(simplify(self.best.program))}"

    # ------------------------------------------------------------------ the folder

    def _keep(self, candidate: Candidate) -> None:
        self.best = candidate
        if self.folder is not None:
            self.folder.write_program("program.dlm", simplify(candidate.program))
            self.folder.write_program("raw.dlm", candidate.program)
            self.folder.write_json("best.json", {"learner": candidate.learner, "accuracy": candidate.accuracy})

    def _log(self, report: Report) -> None:
        if self.folder is not None:
            self.folder.append_metrics(
                {
                    "seconds": round(self.seconds, 3),
                    "learner": report.learner,
                    "steps": report.steps,
                    "starts": report.starts,
                    "loss": report.loss,
                    "accuracy": report.accuracy,
                    "temperature": report.temperature,
                }
            )

    def _save_progress(self, *, now: bool = False) -> None:
        if self.folder is None or not (now or time.monotonic() - self._progress_saved > CHECKPOINT_SECONDS):
            return
        self.folder.write_json("progress.json", {"seconds": self.seconds, "attempts": self.attempts})
        self._progress_saved = time.monotonic()


def _check_breadth(task: Task, settings: LearnSettings) -> None:
    """Refuse a machine in which an input has no arity of its own, though quantifiers might still reach it."""
    breadth = max(settings.machine.breadth_at(layer) for layer in range(1, settings.machine.depth))
    for name, arity in task.inputs.items():
        if arity > breadth:
            raise SettingsError(
                f"the input {name!r} has {arity} arguments, but breadth is {breadth}; set breadth to {arity} or more"
            )


def _read_best(folder: RunFolder) -> Candidate:
    """The best program that a run had saved, so that going on never replaces it by a worse one."""
    saved = folder.read_json("best.json")
    try:
        learner, accuracy = str(saved["learner"]), float(str(saved["accuracy"]))
    except (KeyError, ValueError) as error:
        raise RunError(f"{folder.path}/best.json is damaged: {error!r}; delete it to go on without") from None
    return Candidate(read_program(folder.path / "raw.dlm"), learner, accuracy, believed=False)


def _is_wrong(program: Program, batches: tuple[Examples, ...]) -> bool:
    return any(wrong_atoms(program, batch).any() for batch in batches)


def _constant_program(task: Task) -> Program:
    parameters = tuple(f"x{index + 1}" for index in range(task.target_arity))
    return Program((Definition(task.target, parameters, FALSE),))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
