"""Learners of policies behind one small interface: what a run asks of whoever has its turn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

from dlm.envs.domain import Domain
from dlm.envs.evaluate import decide
from dlm.envs.from_gymnasium import EnvDomain
from dlm.errors import SettingsError
from dlm.logic.syntax import Program
from dlm.policies.imitation.learner import Imitation
from dlm.policies.imitation.teachers import ProgramTeacher, Teacher, TeacherSource, find_teacher
from dlm.policies.search.learner import RuleSearch, RuleSearchSettings
from dlm.policies.verify import longest_tests
from dlm.runs.extras import check_installed
from dlm.runs.learner import State
from dlm.seeds import fixed_rng

if TYPE_CHECKING:
    from dlm.policies.gradient.learner import PolicyGradient
    from dlm.policies.gradient.soft import SoftPolicy

__all__ = ["PolicyReport", "Stage", "open_stage"]


@dataclass(frozen=True)
class PolicyReport:
    """Where a learner stands: figures that differ from learner to learner, under the names they are shown by."""

    learner: str
    figures: dict[str, float]


class Stage(Protocol):
    """A learner at work."""

    learner: str
    share: float
    """The share of the time limit it may learn for; the rest is for making its program small."""

    @property
    def testing(self) -> float:
        """Seconds that the tests of what it learned will take at most, as far as it knows."""

    @property
    def done(self) -> bool:
        """Whether it believes to be at the end."""

    @property
    def env_steps(self) -> int: ...

    @property
    def starts(self) -> int: ...

    @property
    def made_by(self) -> str:
        """Who made the best program so far: the learner's name, and what else had a hand in it."""

    @property
    def mark(self) -> object:
        """Another object whenever there is a better program than before; None as long as there is none."""

    def advance(self) -> None:
        """Work for a while."""

    def report(self, seconds: float) -> PolicyReport: ...

    def program(self, seconds: float) -> Program:
        """The best program so far, made small if there are some seconds left for that."""

    def soft(self) -> SoftPolicy | None:
        """The soft policy, if it is to be kept."""

    def state(self) -> State:
        """A snapshot from which `restore` continues as if nothing had happened."""

    def restore(self, state: State) -> None:
        """Continue from a snapshot."""


def open_stage(
    learner: str,
    domain: Domain[Any],
    seed: int,
    *,
    keep_soft: bool,
    out_of_time: Callable[[], bool],
    teacher: TeacherSource | None = None,
    incremental: bool = False,
) -> Stage:
    """A learner at its beginning."""
    check_installed(learner)
    if learner == "search":
        if isinstance(domain, EnvDomain) and not domain.deterministic:
            raise SettingsError(
                f"{domain.name} is stochastic: copies of it did different things. The search learner plans with a "
                "deterministic simulator; use ppo or reinforce here"
            )
        return _Search(domain, seed, out_of_time)
    judged = domain.hopeful() if isinstance(domain, EnvDomain) else domain
    if learner == "imitation":
        return _Imitation(judged, find_teacher(judged, teacher), seed, incremental, out_of_time)
    return _Gradient(learner, judged, seed, keep_soft, out_of_time)


class _Forward:
    """What all learners have in common: the work is done by `own`."""

    learner: str
    share = 1.0
    own: RuleSearch | Imitation | PolicyGradient

    @property
    def testing(self) -> float:
        return 0.0

    @property
    def done(self) -> bool:
        return self.own.done

    @property
    def made_by(self) -> str:
        return self.learner

    @property
    def env_steps(self) -> int:
        return self.own.env_steps

    @property
    def starts(self) -> int:
        return self.own.starts

    def advance(self) -> None:
        self.own.advance()

    def report(self, seconds: float) -> PolicyReport:
        return PolicyReport(self.learner, _figures(self.own.progress(seconds)))

    def soft(self) -> SoftPolicy | None:
        return None

    def state(self) -> State:
        return self.own.state()

    def restore(self, state: State) -> None:
        self.own.restore(state)


class _ByLists(_Forward):
    """Learners of decision lists. Every start is one step; the best list of all is kept."""

    own: RuleSearch | Imitation

    @property
    def mark(self) -> object:
        return self.own.best.decisions if self.own.best else None

    def program(self, seconds: float) -> Program:  # noqa: ARG002 (its lists are pruned as they are found)
        return self.own.program()


class _Search(_ByLists):
    """Planning and rule search."""

    learner = "search"

    def __init__(self, domain: Domain[Any], seed: int, out_of_time: Callable[[], bool]) -> None:
        self.own: RuleSearch = RuleSearch(domain, seed, RuleSearchSettings(), out_of_time)


class _Imitation(_ByLists):
    """Imitation of a teacher."""

    learner = "imitation"

    def __init__(
        self, domain: Domain[Any], teacher: Teacher, seed: int, incremental: bool, out_of_time: Callable[[], bool]
    ) -> None:
        self.own: Imitation = Imitation(domain, teacher, seed, out_of_time=out_of_time, incremental=incremental)
        self._domain = domain
        # Before there is a program, it is expected to take as long as its teacher, if that is one.
        expected = longest_tests(teacher.good, domain) if isinstance(teacher, ProgramTeacher) else 0.0
        self._timed: tuple[object, float] = None, expected

    @property
    def testing(self) -> float:
        """What the tests of the best program would take, measured once for each."""
        if self._timed[0] is not self.mark:
            program, rng = self.program(0.0), fixed_rng()
            seconds = longest_tests(lambda state: decide(program, self._domain, rng, state), self._domain)
            self._timed = self.mark, seconds
        return self._timed[1]


class _Gradient(_Forward):
    """Policy gradient. Importing it loads torch, so it is imported when it is used."""

    def __init__(
        self, learner: str, domain: Domain[Any], seed: int, keep_soft: bool, out_of_time: Callable[[], bool]
    ) -> None:
        from dlm.policies.gradient.learner import PRUNING_SHARE, PolicyGradient
        from dlm.policies.gradient.settings import default_settings, machine_settings

        self.learner = learner
        self.share = 1 - PRUNING_SHARE
        self._keep_soft = keep_soft
        settings = default_settings(domain, cast(Literal["ppo", "reinforce"], learner), keep_soft=keep_soft)
        self.own: PolicyGradient = PolicyGradient(
            domain, seed, settings, machine_settings(domain), keep_soft=keep_soft, out_of_time=out_of_time
        )
        self._testing = self.own.testing_seconds()

    @property
    def testing(self) -> float:
        return self._testing

    @property
    def made_by(self) -> str:
        return self.own.learner

    @property
    def mark(self) -> object:
        return self.own.best

    def program(self, seconds: float) -> Program:
        from dlm.policies.gradient.learner import PRUNING

        return self.own.program(min(PRUNING, seconds))

    def soft(self) -> SoftPolicy | None:
        return self.own.soft_policy() if self._keep_soft else None


def _figures(progress: Any) -> dict[str, float]:
    """A learner's own report without its clock: a run has the time."""
    return {name: value for name, value in asdict(progress).items() if name != "seconds"}
