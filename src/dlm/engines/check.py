"""A program held against what it should answer: how often it is right, and why it is wrong where it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice, zip_longest

import numpy as np

from dlm.data.examples import Labels
from dlm.data.facts import Facts, Rows, are_among, row_keys
from dlm.data.labelling import AtomSpace
from dlm.data.lookup import FactLookups
from dlm.data.signatures import signatures_of
from dlm.engines.choose import run_program
from dlm.engines.engine import Missing, Progress, require_inputs
from dlm.logic.explain.explain import Explanation, explain
from dlm.logic.explain.query import Query, format_query
from dlm.logic.syntax import Program

__all__ = ["Check", "check_program"]


SHOWN = 10


@dataclass(frozen=True)
class Check:
    """How a program's answers compare with the true ones.

    `wrong` has explanations of some of the wrong answers; those that are true of the program are false in the examples
    and the other way round. `engine` ran the program.
    """

    target: str
    true_positives: int
    false_positives: int
    false_negatives: int
    true_negatives: int
    wrong: tuple[Explanation, ...]
    engine: str

    @property
    def right(self) -> bool:
        """Whether nothing is wrong."""
        return not self.mistakes

    @property
    def accuracy(self) -> float | None:
        """The share of tuples classified rightly; None if there are none."""
        right = self.true_positives + self.true_negatives
        return _share(right, right + self.false_positives + self.false_negatives)

    @property
    def precision(self) -> float | None:
        """The share of the program's answers that are true; None if there are none."""
        return _share(self.true_positives, self.true_positives + self.false_positives)

    @property
    def recall(self) -> float | None:
        """The share of true answers that the program gives; None if there are none."""
        return _share(self.true_positives, self.true_positives + self.false_negatives)

    @property
    def mistakes(self) -> int:
        """How many answers are wrong."""
        return self.false_positives + self.false_negatives

    def __str__(self) -> str:
        table = (
            ("", "should be true", "should be false"),
            ("program says true", str(self.true_positives), str(self.false_positives)),
            ("program says false", str(self.false_negatives), str(self.true_negatives)),
        )
        widths = [max(len(row[column]) for row in table) for column in range(3)]
        lines = [f"{a:<{widths[0]}}  {b:>{widths[1]}}  {c:>{widths[2]}}" for a, b, c in table]
        shares = (("accuracy", self.accuracy), ("precision", self.precision), ("recall", self.recall))
        lines += ["", ", ".join(f"{name} {_percent(share)}" for name, share in shares)]
        for explanation in self.wrong:
            expected = "false" if explanation.value else "true"
            lines += ["", f"{format_query(explanation.atom)} should be {expected}, but", str(explanation)]
        if self.mistakes > len(self.wrong):
            lines += ["", f"{self.mistakes - len(self.wrong)} more wrong answers are not shown"]
        return "\n".join(lines)

    def to_json(self) -> dict[str, object]:
        """The figures and the explanations as JSON values."""
        names = ("true_positives", "false_positives", "false_negatives", "true_negatives")
        shares = {name: getattr(self, name) for name in ("accuracy", "precision", "recall")}
        return {
            "target": self.target,
            "right": self.right,
            **{name: getattr(self, name) for name in names},
            **shares,
            "engine": self.engine,
            "wrong": [{**one.to_json(), "expected": not one.value} for one in self.wrong],
        }


def check_program(
    program: Program,
    facts: Facts,
    labels: Labels,
    engine: str = "auto",
    *,
    missing: Missing = "error",
    show: int = SHOWN,
    on_progress: Progress | None = None,
) -> Check:
    """Run a program and compare its answers with the true ones; explain up to `show` of the wrong ones."""
    known = require_inputs(program, facts, missing)
    signatures = signatures_of(program, known)
    lookups = FactLookups(known, signatures)
    target = program.target.name
    answers = run_program(program, known, engine, on_progress=on_progress)
    said, true = (row_keys(rows, facts.size) for rows in (answers.rows(), labels.true))
    if labels.false is None:
        space = AtomSpace.of(facts, _types(signatures.get(target), labels.true, facts), program.target.arity)
        extra = answers.rows()[~are_among(said, true)]
        extra = extra[space.holds(extra)]
        rest = space.count - len(true) - len(extra)
    else:
        denied = are_among(row_keys(labels.false, facts.size), said)
        extra, rest = labels.false[denied], int(np.count_nonzero(~denied))
    lacking = labels.true[~are_among(true, said)]
    wrong = tuple(
        explain(program, lookups, Query(target, tuple(lookups.argument(target, *pair) for pair in enumerate(row))))
        for row in islice(_in_turn(lacking, extra), show)
    )
    return Check(
        target=target,
        true_positives=len(labels.true) - len(lacking),
        false_positives=len(extra),
        false_negatives=len(lacking),
        true_negatives=rest,
        wrong=wrong,
        engine=answers.engine,
    )


def _types(signature: tuple[int | None, ...] | None, true: Rows, facts: Facts) -> tuple[int | None, ...] | None:
    """The types of the target's arguments; where the program does not tell, those of what is true."""
    if signature is None or facts.typing is None:
        return None
    of = facts.typing.of[true]
    return tuple(
        type_ if type_ is not None or not len(column) or (column != column[0]).any() else int(column[0])
        for type_, column in zip(signature, of.T, strict=True)
    )


def _in_turn(one: Rows, other: Rows) -> Iterator[list[int]]:
    """The rows of both, one of each kind in turn as long as there are."""
    pairs = zip_longest((row.tolist() for row in one), (row.tolist() for row in other))
    return (row for row in chain.from_iterable(pairs) if row is not None)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _percent(share: float | None) -> str:
    """A share as a percentage that says 100 only if nothing is missing."""
    if share is None:
        return "undefined"
    return f"{share:.2%}" if share == 1 else f"{min(share, 0.9999):.2%}"
