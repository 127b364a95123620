"""Which of the programs of a front to choose: by cross-validation, with folds that hold what belongs together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dlm.data.bits import BoolArray
from dlm.data.labelled import LabelledAtoms
from dlm.data.problem import DataProblem
from dlm.learning.rules.prior import Given
from dlm.learning.rules.search import Recipe, RuleBuilder, Useful

__all__ = ["FoldErrors", "cross_validate"]


@dataclass(frozen=True)
class FoldErrors:
    """The held-out errors of the programs that were made in each way, a number for each fold."""

    weights: tuple[float, ...]
    errors: dict[Recipe, tuple[float, ...]]

    def error(self, recipe: Recipe) -> float:
        """The share of held-out rows that are answered wrongly."""
        return sum(self.errors[recipe]) / max(sum(self.weights), 1e-12)

    def best(self, sizes: Mapping[Recipe, int], slack: float = 0.0) -> Recipe:
        """The recipe with the fewest errors; of equals the one that makes the smaller program of all labels.

        With `slack` the smallest program that is worse by at most so many standard errors of the best one's error.
        """
        known = [recipe for recipe in self.errors if recipe in sizes]
        best = min(known, key=lambda recipe: (round(self.error(recipe), 9), sizes[recipe]))
        most = self.error(best) + slack * self.deviation(best)
        near = [recipe for recipe in known if self.error(recipe) <= most + 1e-9]
        return min(near, key=lambda recipe: (sizes[recipe], self.error(recipe))) if slack else best

    def as_good(self, recipe: Recipe, best: Recipe) -> bool:
        """Whether a recipe is no worse than the best one, but for what may be chance: a standard error."""
        return recipe in self.errors and self.error(recipe) <= self.error(best) + self.deviation(best)

    def deviation(self, recipe: Recipe) -> float:
        """The standard error of `error`, of independent rows: that of few folds would be a matter of luck."""
        share, count = self.error(recipe), max(sum(self.weights), 1.0)
        smooth = (share * count + 1) / (count + 2)  # no error in few rows does not mean that there is none
        return math.sqrt(smooth * (1 - smooth) / count)


def cross_validate(
    problem: DataProblem,
    labels: LabelledAtoms,
    folds: Sequence[BoolArray],
    useful: Useful,
    given: Sequence[tuple[Given, BoolArray]] = (),
) -> Iterator[FoldErrors | None]:
    """Learn without the atoms of each fold in turn, and see what is said of them. Yields None while at work, and after
    each fold what is known so far.

    Rows of the fold have no weight in learning; what a program says of them is known all the same. The others count for
    them too, so that a literal is worth as many errors as it is with all rows.
    """
    total = float(labels.weights.sum())
    weights: list[float] = []
    sums: list[dict[Recipe, float]] = []
    for out in folds:
        left = total - float(labels.weights[out].sum())
        weights_left = np.where(out, 0.0, labels.weights * (total / left if left else 1.0))
        builder = RuleBuilder(problem, replace(labels, weights=weights_left), given, useful.kinds)
        for _ in builder.stages(useful.stages, early=False):
            yield None
        wrong = labels.weights * out
        found = builder.found.items()
        sums.append({recipe: float(wrong[each.said != labels.truth].sum()) for recipe, each in found})
        weights.append(float(wrong.sum()))
        known = set.intersection(*(set(errors) for errors in sums))
        yield FoldErrors(tuple(weights), {recipe: tuple(errors[recipe] for errors in sums) for recipe in known})
