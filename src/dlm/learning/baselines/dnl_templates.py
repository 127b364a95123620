"""What `dnl-ilp` is told of a task: auxiliary predicate, variables, terms and steps, by the paper's table. No torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dlm.tasks.task import Task

__all__ = ["DnlPredicate", "DnlTemplate", "dnl_template"]

Amalgamate = Literal["eq", "or", "max"]
Loss = Literal["squared", "cross-entropy"]


@dataclass(frozen=True)
class DnlPredicate:
    """A predicate to be learned: a disjunction of `terms` conjunctions over its arguments and `variables` more.

    `amalgamate` says how a step of forward chaining goes with the step before: "eq" replaces what held, "or" adds to it
    by the probabilistic sum, "max" by the maximum.
    """

    arity: int
    variables: int
    terms: int
    amalgamate: Amalgamate = "eq"


@dataclass(frozen=True)
class DnlTemplate:
    """Steps of forward chaining, the target, and the one auxiliary predicate if there is one."""

    steps: int
    target: DnlPredicate
    auxiliary: DnlPredicate | None = None
    negation: bool = False
    loss: Loss = "squared"

    @property
    def predicates(self) -> tuple[DnlPredicate, ...]:
        """The target last."""
        return (self.target,) if self.auxiliary is None else (self.auxiliary, self.target)


def _graph(
    steps: int, target: DnlPredicate, auxiliary: DnlPredicate | None = None, *, negation: bool = False
) -> DnlTemplate:
    return DnlTemplate(steps, target, auxiliary, negation, "cross-entropy")


TEMPLATES = {
    "family/has-father": DnlTemplate(1, DnlPredicate(1, 1, 2, "or")),
    "family/has-sister": DnlTemplate(2, DnlPredicate(1, 1, 1, "max"), DnlPredicate(2, 1, 1)),
    "family/is-grandparent": DnlTemplate(1, DnlPredicate(2, 1, 4)),
    "family/is-uncle": DnlTemplate(7, DnlPredicate(2, 1, 4), DnlPredicate(2, 1, 3, "or")),
    "family/is-mguncle": DnlTemplate(7, DnlPredicate(2, 2, 2, "or"), DnlPredicate(2, 1, 1, "or")),
    "graph/adjacent-to-red": _graph(2, DnlPredicate(1, 1, 2)),
    "graph/4-connectivity": _graph(7, DnlPredicate(2, 1, 5), DnlPredicate(2, 1, 1, "or")),
    "graph/6-connectivity": _graph(7, DnlPredicate(2, 2, 7), DnlPredicate(2, 1, 1, "or")),
    "graph/1-outdegree": _graph(3, DnlPredicate(1, 2, 2), negation=True),
    "graph/2-outdegree": _graph(3, DnlPredicate(1, 3, 2), DnlPredicate(2, 0, 1), negation=True),
}
"""The table of the paper's appendix. Which tasks have negation, and which loss, it does not say."""


def dnl_template(task: Task) -> DnlTemplate:
    """The template of a task: the paper's, or one auxiliary predicate and one more variable for a task of one's own."""
    own = DnlTemplate(3, DnlPredicate(task.target_arity, 1, 4), DnlPredicate(2, 1, 2, "or"), negation=True)
    return TEMPLATES.get(task.name, own)
