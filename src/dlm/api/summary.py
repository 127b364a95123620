"""What is said of a result in a sentence and in tables: the same on a terminal and in a notebook."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dlm.api.tables import TextTable
from dlm.learning.result import NOBODY, Result, SoftResult
from dlm.learning.rules.result import DataResult, Interval
from dlm.learning.verify import TrialResult
from dlm.policies.policy import Policy
from dlm.policies.verify import DIGITS, Earned

__all__ = [
    "AnyResult",
    "Headline",
    "fit_table",
    "headline",
    "percent",
    "return_table",
    "trial_table",
]

AnyResult = Result | SoftResult | Policy | DataResult

WHY = {
    "time limit": "the time limit was reached",
    "interrupted": "interrupted",
    "stopped": "a callback ended the run",
    "finished": "the learner has nothing more to try",
}
RARE = 0.1
"""Where true atoms are a smaller share than this, recall and precision are shown instead of accuracy."""


@dataclass(frozen=True)
class Headline:
    """What came out, in a sentence: what it is worth, and the rest. `good` says that there is nothing to add."""

    good: bool
    state: str
    rest: str

    def __str__(self) -> str:
        return self.state + self.rest


def headline(result: AnyResult) -> Headline:
    """What came out, in a sentence."""
    match result:
        case Result():
            return _task_headline(result)
        case SoftResult():
            return _soft_headline(result)
        case Policy():
            return _policy_headline(result)
        case DataResult():
            state, _, rest = result.tested.partition(" ")
            return Headline(result.good, state.capitalize(), f" {rest}. Learned by {result.learner}.")


def _task_headline(result: Result) -> Headline:
    if result.verified:
        instances = sum(trial.instances for trial in result.verification.trials)
        return Headline(True, "Verified", f": no error on {instances} fresh instances. Learned by {result.learner}.")
    if result.learner == NOBODY:
        what = "No learner had a program yet, and this one says nothing"
    else:
        what = f"This is the best program so far, learned by {result.learner}"
    return Headline(False, "Not verified", f": {WHY[result.ended]}. {what}.")


def _soft_headline(result: SoftResult) -> Headline:
    instances = sum(trial.instances for trial in result.trials)
    if result.verified:
        return Headline(True, "Soft model", f": no error on {instances} fresh instances. Learned by {result.learner}.")
    rest = f", not verified: {WHY[result.ended]}. Learned by {result.learner}."
    return Headline(False, "Soft model", rest)


def _policy_headline(result: Policy) -> Headline:
    tests = result.soft_tests or result.tests
    episodes = sum(test.episodes for test in tests)
    if not result.verified:
        return Headline(False, "Not verified", f": {WHY[result.ended]}. This is the best program so far.")
    if not all(test.success == 1.0 for test in tests):
        found = f"the mean return over {episodes} fresh episodes is as good as the optimum"
    elif result.optimal:
        found = f"all {episodes} fresh episodes reach the goal, with the best return possible"
    elif any(test.optimum is None for test in tests):
        found = f"all {episodes} fresh episodes reach the goal"
    else:
        gap = max(test.lost for test in tests)
        found = f"all {episodes} fresh episodes reach the goal, with at most {gap:.3f} less return than possible"
    return Headline(True, "Verified", f": {found}.")


def trial_table(trials: Sequence[TrialResult]) -> TextTable:
    """How often a program was right."""
    fits = [trial.fit for trial in trials]
    true = sum(fit.hits + fit.misses for fit in fits)
    rare = true < RARE * (true + sum(fit.alarms + fit.rejections for fit in fits))
    heads = ("RECALL", "PRECISION") if rare else ("SUCCESS RATE",)
    rows = []
    for trial in trials:
        shares = (trial.fit.recall, trial.fit.precision) if rare else (trial.success_rate,)
        rows.append((str(trial.instances), _sizes(trial.sizes), str(trial.right), *map(percent, shares)))
    return TextTable(("INSTANCES", "OBJECTS", "WHOLLY RIGHT", *heads), tuple(rows))


def return_table(tests: Sequence[Earned]) -> TextTable:
    """What a policy earned, a row for each test."""
    bound = any(not test.exact and test.optimum is not None for test in tests)
    return TextTable(
        ("TEST", "EPISODES", "MEAN RETURN", "95 % INTERVAL", "OPTIMUM", "SUCCESS"),
        tuple(map(_row, tests)),
        "* the best known: a lower bound of the optimum" if bound else None,
    )


def fit_table(result: DataResult) -> TextTable:
    """How a program does on the atoms it was learned from, and on those held out."""
    fits = [("learned from", result.train)] + ([("held out", result.test)] if result.test is not None else [])
    rows = [(name, *map(str, (f.hits, f.alarms, f.misses, f.rejections)), str(Interval.of(f))) for name, f in fits]
    return TextTable(("ATOMS", "TP", "FP", "FN", "TN", "ACCURACY"), tuple(rows))


def percent(share: float) -> str:
    """A share as a percentage that says 100 only if nothing is missing."""
    if share == 1:
        return "100%"
    rounded = f"{100 * share:.2f}%"
    return "> 99.99%" if rounded == "100.00%" else rounded


def _sizes(sizes: tuple[int, ...]) -> str:
    if len(sizes) > 2 and list(sizes) == list(range(sizes[0], sizes[-1] + 1)):
        return f"{sizes[0]} to {sizes[-1]}"
    return ", ".join(map(str, sizes))


def _short(value: float) -> str:
    """Three digits, the same before and after a result was saved."""
    return f"{round(value, DIGITS):.3f}"


def _row(test: Earned) -> tuple[str, ...]:
    low, high = test.interval
    return (
        test.name,
        str(test.episodes),
        _short(test.mean),
        "-" if math.isnan(low) else f"{_short(low)} to {_short(high)}",
        "unknown" if test.optimum is None else _short(test.optimum) + ("" if test.exact else "*"),
        percent(test.success),
    )
