"""How a program's answers compare with the truth, counted over atoms.

Where one atom in a hundred is true, a program that is false everywhere has an accuracy of 99 %. So programs are shown
by recall and precision, and compared by the Jaccard index or by the skill score, which is made from it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dlm.data.worlds import BoolArray, Examples
from dlm.engines.bits import evaluate_target
from dlm.logic.syntax import Program

__all__ = ["Fit", "fit_answers", "fit_program"]


@dataclass(frozen=True)
class Fit:
    """The confusion matrix: hits are true positives, alarms false ones, rejections true negatives, misses false."""

    hits: int = 0
    misses: int = 0
    alarms: int = 0
    rejections: int = 0

    def __add__(self, other: Fit) -> Fit:
        return Fit(
            self.hits + other.hits,
            self.misses + other.misses,
            self.alarms + other.alarms,
            self.rejections + other.rejections,
        )

    @property
    def recall(self) -> float:
        """The share of true atoms that were predicted; 1 if there are none."""
        return _share(self.hits, self.hits + self.misses)

    @property
    def precision(self) -> float:
        """The share of predicted atoms that are true; 1 if none was predicted."""
        return _share(self.hits, self.hits + self.alarms)

    @property
    def score(self) -> float:
        """The Jaccard index: hits as a share of the atoms that are true or were predicted."""
        return _share(self.hits, self.hits + self.misses + self.alarms)

    @property
    def skill(self) -> float:
        """Gilbert's skill score: the Jaccard index without the hits that are due to chance.

        It is 0 for a constant and 1 for what is right, however rare either class is. Balanced accuracy calls a
        program good that finds every true atom among ten times as many false alarms, if true atoms are rare.
        """
        atoms = self.hits + self.misses + self.alarms + self.rejections
        chance = (self.hits + self.misses) * (self.hits + self.alarms) / atoms if atoms else 0.0
        possible = self.hits + self.misses + self.alarms - chance
        return (self.hits - chance) / possible if possible else float(not self.misses + self.alarms)

    @property
    def figures(self) -> dict[str, float]:
        """What a report shows."""
        return {"recall": self.recall, "precision": self.precision}


def fit_answers(answers: BoolArray, examples: Examples) -> Fit:
    """Answers of shape ``(worlds, size, ..., size)`` against those that examples ask for."""
    if examples.masked:
        said, true = answers[examples.scored], examples.target[examples.scored]
        found = [int(side.sum()) for side in (said & true, ~said & true, said & ~true, ~said & ~true)]
        return Fit(*found)
    wrong, target = examples.mistakes(answers), examples.target[:, examples.scored]
    misses, alarms = int((wrong & target).sum()), int((wrong & ~target).sum())
    hits = int((answers[:, examples.scored] & target).sum())
    return Fit(hits, misses, alarms, wrong.size - int(target.sum()) - alarms)


def fit_program(program: Program, batches: Iterable[Examples]) -> Fit:
    """A program's answers on some examples."""
    return sum((fit_answers(evaluate_target(program, batch.worlds), batch) for batch in batches), Fit())


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0
