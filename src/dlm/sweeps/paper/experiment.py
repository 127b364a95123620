"""What an experiment of the paper is: which runs it needs, what their figures are, and how they are drawn."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, Literal

from dlm.errors import SettingsError, did_you_mean
from dlm.runs.settings import ScheduleName
from dlm.sweeps.executors import Executor
from dlm.sweeps.grid import check_settings
from dlm.sweeps.job import Job, Record
from dlm.sweeps.records import Records
from dlm.sweeps.sweep import Watcher, run_missing

__all__ = ["ExperimentName", "Experiment", "Method", "Wanted"]

ExperimentName = Literal["ilp", "rl", "ablation", "critic", "cost"]


@dataclass(frozen=True)
class Method:
    """A row of a table: a learner with settings, and the paper's column beside it."""

    name: str
    learner: str = ""
    settings: Mapping[str, object] = field(default_factory=dict)
    column: str | None = None
    words: str = ""
    """What it is, where the name does not say it."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What a user wants of an experiment; what is empty or None is what the experiment has."""

    tasks: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    seeds: tuple[int, ...] = ()
    schedule: ScheduleName | None = None
    limit: float | None = None
    """Seconds of learning of a run."""
    shorten: float | None = None
    """The factor by which the ablation's schedule is shortened."""


OPTIONS = {"seeds": "--seeds", "limit": "--time-limit", "shorten": "--shorten"}
"""What experiments can be told beside tasks, methods and a schedule, and what a user calls it."""


class Experiment(ABC):
    """A table or a figure of the paper."""

    name: ClassVar[ExperimentName]
    tasks: tuple[str, ...]
    usual: tuple[str, ...]
    """The methods that are run unless others are asked for."""
    seeds: tuple[int, ...] = tuple(range(5))
    schedules: tuple[ScheduleName, ...] = ("paper",)
    """Those that make sense; the first one is the default."""
    options: tuple[str, ...] = ("seeds", "limit")
    """Which of `OPTIONS` it can be told."""

    @property
    @abstractmethod
    def methods(self) -> Mapping[str, Method]:
        """All methods that can be asked for."""

    @abstractmethod
    def planned(self, wanted: Wanted) -> list[Job]:
        """The runs that it takes, also those that could not begin."""

    @abstractmethod
    def figures(self, records: Sequence[Record], wanted: Wanted) -> Record:
        """What is shown of the runs that have ended, as JSON; the template of that name makes a page of it."""

    @abstractmethod
    def draw(self, figures: Record, path: Path) -> None:
        """Draw the figures."""

    def includes(self, run: Record, wanted: Wanted) -> bool:
        """Whether a run is one that the experiment takes, with any seed and time limit."""
        if run["asked"] not in self.methods or run["task"] not in self.tasks:
            return False
        same = replace(wanted, tasks=(run["task"],), methods=(run["asked"],), seeds=(run["seed"],))
        return any(job.settings == run.get("settings", {}) for job in self.planned(same))

    def stem(self, wanted: Wanted) -> str:
        """What the file of its runs is called."""
        schedule = self.schedule(wanted)
        return f"paper-{self.name}" + ("" if schedule == self.schedules[0] else f"-{schedule}")

    def page_stem(self, wanted: Wanted) -> str:
        """What its page is called."""
        return self.stem(wanted)

    def command(self, wanted: Wanted, methods: Collection[str]) -> str:
        """What a user calls to have the page of these methods."""
        words = ["dlm", "reproduce", self.name]
        if self.schedule(wanted) != self.schedules[0]:
            words += ["--schedule", self.schedule(wanted)]
        named = [name for name in self.methods if name in methods]
        return " ".join(words + (["--methods", *named] if set(named) != set(self.usual) else []))

    def schedule(self, wanted: Wanted) -> ScheduleName:
        return wanted.schedule or self.schedules[0]

    def check(self, wanted: Wanted) -> None:
        """Refuse what the experiment does not have."""
        if self.schedule(wanted) not in self.schedules:
            offered = " or ".join(self.schedules)
            raise SettingsError(f"`reproduce {self.name}` has the schedule {offered}, not {wanted.schedule}")
        for kind, given, known in (("task", wanted.tasks, self.tasks), ("method", wanted.methods, self.methods)):
            for name in given:
                if name not in known:
                    raise SettingsError(
                        f"`reproduce {self.name}` has no {kind} {name!r}.{did_you_mean(name, known)} "
                        f"It has {', '.join(known)}"
                    )
        for name, option in OPTIONS.items():
            if getattr(wanted, name) not in ((), None) and name not in self.options:
                raise SettingsError(f"`reproduce {self.name}` takes no {option}: leave it out")

    def jobs(self, wanted: Wanted) -> list[Job]:
        """The runs that it takes. What a method cannot do is left out, unless its tasks were asked for by name."""
        planned = self.planned(wanted)
        refused = {} if wanted.tasks else self._refusals(planned)
        return [job for job in planned if job.key not in refused] or planned

    def left_out(self, wanted: Wanted) -> list[str]:
        """Which methods have fewer tasks than they could be asked for, and why the first of them is left out."""
        planned, kept = self.planned(wanted), {job.key for job in self.jobs(wanted)}
        refused = self._refusals([job for job in planned if job.key not in kept])
        methods: dict[str, dict[str, str]] = {}
        for job in planned:
            if job.key in refused:
                methods.setdefault(job.asked or job.learner, {})[job.problem] = refused[job.key]
        return [f"no {name} of {', '.join(tasks)}: {next(iter(tasks.values()))}" for name, tasks in methods.items()]

    def check_runs(self, wanted: Wanted) -> None:
        """Refuse runs that could not begin."""
        for reason in self._refusals(self.jobs(wanted)).values():
            raise SettingsError(reason)

    def refusal(self, job: Job) -> str | None:
        """Why a run could not begin."""
        limit = {} if job.limit is None else {"time_limit": job.limit}
        try:
            check_settings(job.problem, [{"learner": job.learner, **limit, **job.settings}])
        except SettingsError as error:
            return str(error)
        return None

    def _refusals(self, jobs: Sequence[Job]) -> dict[str, str]:
        """Why some of these could not begin, by their keys; the seed makes no difference."""
        known: dict[str, str | None] = {}
        for job in jobs:
            anyone = replace(job, seed=0)
            if anyone.key not in known:
                known[anyone.key] = self.refusal(anyone)
        reasons = {job.key: known[replace(job, seed=0).key] for job in jobs}
        return {key: reason for key, reason in reasons.items() if reason is not None}

    def run(self, wanted: Wanted, records: Records, executor: Executor, folder: Path, watch: Watcher) -> None:
        """Run what is missing."""
        run_missing(self.jobs(wanted), records, executor, folder, watch)

    def chosen_methods(self, wanted: Wanted) -> list[Method]:
        return [self.methods[name] for name in wanted.methods or self.usual]

    def chosen_tasks(self, wanted: Wanted) -> tuple[str, ...]:
        return tuple(task for task in self.tasks if task in (wanted.tasks or self.tasks))

    def chosen_jobs(self, wanted: Wanted, limit: float | None, settings: Mapping[str, object]) -> list[Job]:
        """All tasks and methods of a seed before those of the next, so that all are seen early."""
        limit = limit if wanted.limit is None else wanted.limit
        return [
            Job(task, method.learner, seed, limit, {**settings, **method.settings}, method.name)
            for seed in wanted.seeds or self.seeds
            for task in self.chosen_tasks(wanted)
            for method in self.chosen_methods(wanted)
        ]
