"""What a run on one's own data is asked for, and what it ends with."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import ClassVar

from dlm.data.facts import Facts
from dlm.data.problem import Negatives
from dlm.errors import RunError, SettingsError
from dlm.learning.fit import Fit
from dlm.learning.rules.failure import Failure, lookups_of
from dlm.logic.display import Displayed
from dlm.logic.explain.explain import Explanation, explain
from dlm.logic.explain.query import parse_query
from dlm.logic.syntax import Program
from dlm.logic.text import parse_program
from dlm.runs.codec import decode
from dlm.runs.folder import RunFolder
from dlm.runs.result import ProgramResult, damaged, read_with_program
from dlm.runs.settings import RunSettings

__all__ = ["BiasOptions", "DataResult", "DataRunSettings", "Front", "FrontPoint", "Interval", "read_data_result"]


@dataclass(frozen=True)
class BiasOptions:
    """What a run was told beforehand; None is what was not said. Programs are kept as text."""

    use: tuple[str, ...] | None = None
    leave_out: tuple[str, ...] | None = None
    negation: bool | None = None
    forall: bool | None = None
    depth: int | None = None
    definitions: str | None = None
    start: str | None = None

    @property
    def options(self) -> dict[str, object]:
        said: dict[str, object] = {name: value for name, value in vars(self).items() if value is not None}
        for name in ("definitions", "start"):
            if name in said:
                said[name] = parse_program(str(said[name]))
        return said


@dataclass(frozen=True, kw_only=True)
class DataRunSettings(RunSettings):
    """The settings of a run on one's own data. `task` names the problem; `source` is where its files are, if any."""

    kind: ClassVar[str] = "data"
    learners: ClassVar[tuple[str, ...]] = ("auto", "rules", "search", "gradient")

    source: str | None = None
    target: str | None = None
    negatives: Negatives | None = None
    world: str | None = None
    test: str | None = None
    split: float | None = None
    bias: BiasOptions = field(default_factory=BiasOptions)
    folds: int = field(default=5, metadata={"help": "Folds of a cross-validation, by which the program is chosen."})

    slack: float = 0.0  # standard errors by which the smallest program may be worse than the best one

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.folds < 2:
            raise SettingsError(f"The 'folds' setting must be 2 or more. Got {self.folds!r} instead.")
        if not self.slack >= 0:
            raise SettingsError(f"The 'slack' setting must be a number of at least 0. Got {self.slack!r} instead.")

    @property
    def options(self) -> dict[str, object]:
        """What `read_problem` needs to read the same problem again."""
        names = ("target", "negatives", "world", "test", "split")
        said = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        return {**said, **self.bias.options}


@dataclass(frozen=True)
class FrontPoint:
    """A program of the front: none that is smaller has fewer errors."""

    size: int
    errors: float
    program: Program


class Front(Displayed, tuple[FrontPoint, ...]):
    """Programs by size, each with fewer errors than all that are smaller."""

    def __str__(self) -> str:
        return self.lines(None)

    def lines(self, chosen: Program | None) -> str:
        """A line a program, the chosen one marked, as formulas by PySR."""
        lines = ["   size  errors  program"]
        for point in self:
            mark = ">" if point.program == chosen else " "
            lines.append(f" {mark} {point.size:4}  {point.errors:6g}  {str(point.program).strip()}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Interval:
    """An accuracy with a 95 % interval (Wilson's)."""

    accuracy: float
    low: float
    high: float

    @classmethod
    def of(cls, fit: Fit) -> Interval:
        count = fit.hits + fit.misses + fit.alarms + fit.rejections
        return cls.share(fit.hits + fit.rejections, count)

    @classmethod
    def share(cls, right: float, count: float) -> Interval:
        if not count:
            return cls(1.0, 0.0, 1.0)
        z, p = 1.96, right / count
        middle, half = p + z * z / (2 * count), z * math.sqrt(p * (1 - p) / count + z * z / (4 * count * count))
        scale = 1 + z * z / count
        return cls(p, max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale))

    def __str__(self) -> str:
        return f"{self.accuracy:.3f} ({self.low:.3f} to {self.high:.3f})"


@dataclass(frozen=True, kw_only=True)
class DataResult(ProgramResult):
    """The program chosen from a front, and how it does on the atoms it was learned from and on held-out ones.

    `folds` is the accuracy of cross-validation, if the choice took one. `claim` is the accuracy on unseen atoms that
    can be claimed beforehand, the low end of its interval. Without folds nothing is claimed: how well a program fits
    what it was learned from does not tell.
    """

    kind: ClassVar[str] = "data"

    front: Front
    train: Fit
    test: Fit | None
    folds: Interval | None
    worlds: str
    chosen_because: str
    notes: tuple[str, ...] = ()
    failure: Failure = field(default_factory=Failure)
    facts: Facts | None = field(default=None, repr=False, compare=False)
    """What it was learned from; of a run that is read from its folder None."""

    def explain(self, atom: str) -> Explanation:
        """Why an atom such as ``"hit(alien)"`` is true by the program, or why not."""
        if self.facts is None:
            raise RunError("the facts are not at hand: dlm.explain(run, facts, atom) explains with any")
        return explain(self.program, lookups_of(self.program, self.facts), parse_query(atom))

    @property
    def claim(self) -> float | None:
        return None if self.folds is None else self.folds.low

    @property
    def unclaimed(self) -> str:
        """Why nothing is claimed, and what would be needed."""
        if self.ended == "time limit":
            return "no folds were run, as there was no time: a longer time limit gives them theirs"
        if self.ended != "finished":
            return "no folds were run, as the run was stopped"
        more = "" if self.test is not None else "; to test the program hold examples out (--split 0.2, --test PATH)"
        return f"no folds were run{more}"

    @property
    def verified(self) -> bool:
        """Whether what was claimed holds on held-out atoms; without any nothing is verified.

        If nothing was claimed, the program has to be about as good on them as on those that it was learned from.
        """
        least = Interval.of(self.train).low if self.claim is None else self.claim
        return self.test is not None and Interval.of(self.test).accuracy >= least

    @property
    def good(self) -> bool:
        """Whether there is nothing to complain of: the claim is met, or without a test set the data are fitted."""
        return self.verified if self.test is not None else not self.train.misses + self.train.alarms or bool(self.folds)

    @property
    def tested_sizes(self) -> tuple[int, ...]:
        return ()

    @property
    def tested(self) -> str:
        if self.test is None:
            wrong = self.train.misses + self.train.alarms
            return "fits the data" if not wrong else f"fits the data but for {wrong} atoms"
        count = self.test.hits + self.test.misses + self.test.alarms + self.test.rejections
        accuracy = Interval.of(self.test)
        if self.verified or self.claim is not None:
            return (
                f"{'verified' if self.verified else 'claim not met'} on {count:,} held-out atoms: accuracy {accuracy}"
            )
        return f"worse on {count:,} held-out atoms than on those it was learned from: accuracy {accuracy}"

    def _own_json(self) -> dict[str, object]:
        return {
            "train": _fit_json(self.train),
            "test": None if self.test is None else _fit_json(self.test),
            "folds": None if self.folds is None else asdict(self.folds),
            "claim": self.claim,
            "front": [{"size": p.size, "errors": p.errors, "program": str(p.program)} for p in self.front],
            "worlds": self.worlds,
            "chosen_because": self.chosen_because,
            "notes": list(self.notes),
            **asdict(self.failure),
        }

    def __str__(self) -> str:
        """The front, smallest first, the chosen program marked."""
        head = f"# {self.task}: {self.tested}, by {self.learner} in {self.seconds:.1f} s"
        return f"{head}\n{self.front.lines(self.program)}"


def _fit_json(fit: Fit) -> dict[str, object]:
    counts = {"tp": fit.hits, "fp": fit.alarms, "fn": fit.misses, "tn": fit.rejections}
    interval = Interval.of(fit)
    return {**counts, "accuracy": interval.accuracy, "interval": [interval.low, interval.high]}


def _items(saved: object) -> list[object]:
    if not isinstance(saved, list):
        raise TypeError(f"expected a list, got {saved!r}")
    return saved


def _read_point(saved: object) -> FrontPoint:
    if not isinstance(saved, Mapping):
        raise TypeError(f"expected a point of the front, got {saved!r}")
    program = parse_program(decode(saved["program"], str))
    return FrontPoint(decode(saved["size"], int), decode(saved["errors"], float), program)


def _read_fit(saved: object) -> Fit:
    if not isinstance(saved, Mapping):
        raise TypeError(f"expected counts, got {saved!r}")
    hits, misses, alarms, rejections = (decode(saved[name], int) for name in ("tp", "fn", "fp", "tn"))
    return Fit(hits, misses, alarms, rejections)


def read_data_result(folder: RunFolder) -> DataResult | None:
    """The result in a run folder, or None if the run has not ended yet."""
    if not folder.has("result.json"):
        return None
    saved = folder.read_json("result.json")
    try:
        front = Front(map(_read_point, _items(saved["front"])))
        test, folds = saved["test"], saved["folds"]
        return DataResult(
            **read_with_program(folder, saved),
            front=front,
            train=_read_fit(saved["train"]),
            test=None if test is None else _read_fit(test),
            folds=None if folds is None else decode(folds, Interval),
            worlds=decode(saved["worlds"], str),
            chosen_because=decode(saved["chosen_because"], str),
            notes=tuple(decode(note, str) for note in _items(saved["notes"])),
            failure=decode({name: saved[name] for name in ("wrong", "reasons", "advice")}, Failure),
        )
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise damaged(folder, error) from None
