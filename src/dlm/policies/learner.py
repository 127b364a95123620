"""What a learner of policies is, what learners of decision lists share, and how one is opened by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from dlm.envs.domain import AnyDomain, State
from dlm.logic.syntax import Program
from dlm.policies.gradient.soft import SoftPolicy
from dlm.policies.rules.decision_list import DecisionList
from dlm.policies.rules.language import Language
from dlm.policies.rules.score import ScoredList
from dlm.runs.learner import Candidate, Learner, Report

__all__ = ["AnyPolicyLearner", "ListLearner", "Pace", "PolicyLearner"]

StateT = TypeVar("StateT")


class PolicyLearner(Learner[StateT], Protocol):
    """A learner of policies at work. Its steps are steps in the environment."""

    share: float
    """The share of the time limit it may learn for; the rest is for making its program small."""

    @property
    def testing(self) -> float:
        """Seconds that the tests of what it learned will take at most, as far as it knows."""

    @property
    def done(self) -> bool:
        """Whether it believes to be at the end."""

    @property
    def made_by(self) -> str:
        """Who made the best program so far: the learner's name, and what else had a hand in it."""

    def program(self, seconds: float = 0.0) -> Program:
        """The best program so far, made small if there are some seconds left for that."""

    def refute(self, failed: Sequence[State]) -> bool:
        """The best program fails a test from these start states, a batch a size. Whether it goes on because of that."""

    def soft(self) -> SoftPolicy | None:
        """The soft policy, if it is to be kept."""


AnyPolicyLearner = PolicyLearner[Any]
"""A learner of policies, whatever its state is."""


@dataclass
class Pace:
    """How many restarts there were, and how many since the last improvement."""

    restarts: int = 0
    since_best: int = 0


class ListLearner(ABC):
    """A learner of decision lists. A slice of work is one restart; the best list of all is kept, and is pruned."""

    name: str
    share = 1.0
    domain: AnyDomain
    language: Language
    pace: Pace

    @property
    @abstractmethod
    def best(self) -> ScoredList | None:
        """The best list so far."""

    @property
    @abstractmethod
    def env_steps(self) -> int:
        """Steps in the environment so far."""

    @abstractmethod
    def restart(self) -> None:
        """Learn one more list, in less time if that runs out."""

    @property
    def testing(self) -> float:
        return 0.0

    @property
    def made_by(self) -> str:
        return self.name

    def advance(self) -> Report:
        before = self.best
        self.restart()
        best, candidate = self.best, None
        if best is not None and (before is None or best.decisions != before.decisions):
            candidate = Candidate(self.program(), self.made_by, best.score)
        return Report(self.name, self.env_steps, self.pace.restarts, self._figures(best), candidate)

    def _figures(self, best: ScoredList | None) -> Mapping[str, float]:
        if best is None:
            return {}
        return {"rules": len(best.decisions.rules), "literals": best.decisions.literals, "score": best.score}

    def program(self, seconds: float = 0.0) -> Program:  # noqa: ARG002 (lists are pruned as they are found)
        """The best list as one ordinary program about the domain's own predicates."""
        decisions = self.best.decisions if self.best else DecisionList(self.domain.action, self.domain.action_arity)
        return self.language.program(decisions.program(self.language.vocabulary))

    def soft(self) -> SoftPolicy | None:
        return None
