"""`LogicClassifier`: programs as classifiers of scikit-learn.

Only who asks for `dlm.LogicClassifier` loads this module, and scikit-learn with it.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from dlm.data.arrays import AnyArray
from dlm.data.facts import Rows
from dlm.data.labelled import LabelledAtoms
from dlm.data.problem import DataProblem
from dlm.data.rows import RowLayout
from dlm.data.sources.problems import Problem
from dlm.engines.choose import run_program
from dlm.errors import DataError, require_packages
from dlm.learning.rules.result import DataResult, DataRunSettings, Front
from dlm.learning.rules.run import learn_data
from dlm.logic.display import html_of
from dlm.logic.syntax import Program

require_packages("sklearn", extra="data", purpose="dlm.LogicClassifier")

from sklearn.base import BaseEstimator, ClassifierMixin  # noqa: E402
from sklearn.utils import Tags, check_random_state  # noqa: E402
from sklearn.utils.class_weight import compute_sample_weight  # noqa: E402
from sklearn.utils.multiclass import check_classification_targets  # noqa: E402
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data  # noqa: E402

__all__ = ["LogicClassifier"]

Integers = NDArray[np.int64]
LEAST_SECONDS = 0.1


class LogicClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no annotations
    """A classifier of scikit-learn that learns a program for `dlm.run`.

    Without facts each row of `X` is an object, and its columns say something of it: numbers are compared
    (``age(x) > 50``), truth values are predicates, texts are told apart (``colour(x) = red``); of an empty cell there
    is no fact. With facts, in any form that `dlm.Problem` takes, the columns of `X` are the arguments of the predicate
    to learn, which is called `target`.

    Of two classes the program says which rows are of the second one, ``classes_[1]``. Of more classes all but one have
    a program each, in an order: a row is of the first class whose program says so, else of the one without. Programs
    are chosen by `folds` of a cross-validation: the smallest that is at most `slack` standard errors worse than the
    best. `time_limit` is in seconds, for all of `fit`. `class_weight` says how much an error on a row of each class
    counts, as a mapping; "balanced" gives all classes the same weight, which helps rare ones. Else each error counts 1.

    Fitted, it has `classes_`, `n_features_in_`, `programs_` and `results_` (mappings from classes), and of two classes
    `program_`, `front_` and `result_`. `print` shows the programs by size and errors, the chosen ones marked.
    """

    def __init__(
        self,
        *,
        target: str = "target",
        time_limit: float = 60,
        folds: int = 5,
        slack: float = 0.5,
        class_weight: object = None,
        random_state: object = 0,
    ) -> None:
        self.target = target
        self.time_limit = time_limit
        self.folds = folds
        self.slack = slack
        self.class_weight = class_weight
        self.random_state = random_state

    def fit(self, X: object, y: object, facts: object = None, sample_weight: object = None) -> Self:
        """Learn what tells the classes of `y` apart. `sample_weight` says how much an error on each row counts."""
        started = time.monotonic()
        table, labels = validate_data(self, _as_table(X, facts), y, **_VALUES)
        check_classification_targets(labels)
        weights = np.ones(len(table))
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, table, ensure_non_negative=True)
        weights = weights * compute_sample_weight(self.class_weight, labels)
        table, labels, weights = table[weights > 0], labels[weights > 0], weights[weights > 0]
        self.classes_, numbers = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"a classifier tells classes apart: there must be two or more. Got 1 class in y: {labels[0]}"
            )
        self.facts_ = facts
        self.layout_ = None
        if facts is None:
            names = getattr(self, "feature_names_in_", [f"x{place}" for place in range(table.shape[1])])
            self.layout_ = RowLayout.of(table[_different(table)[0]], names, (self.target,))
        problem, atoms = self._problem(table, facts)
        self._learn(problem, atoms, numbers, weights, started)
        return self

    def predict(self, X: object, facts: object = None) -> AnyArray:
        """The class of each row, by the programs run on facts about these rows.

        If it was fitted with facts, these are asked, or the `facts` that are given here.
        """
        check_is_fitted(self)
        if facts is not None and self.facts_ is None:
            raise ValueError("fit was called without facts, so that predict cannot use any")
        facts = self.facts_ if facts is None else facts
        table = validate_data(self, _as_table(X, facts), reset=False, **_VALUES)
        problem, atoms = self._problem(table, facts)
        numbers = np.full(len(problem.labels.rows), self.default_)
        for label in reversed(self.results_):
            said = _said(self.results_[label].program, problem)
            numbers[said] = np.flatnonzero(self.classes_ == label)[0]
        return np.asarray(self.classes_[numbers[atoms]])

    @property
    def programs_(self) -> dict[object, Program]:
        """The programs of the classes in the order in which they are asked; of two classes that of the second."""
        check_is_fitted(self)
        return {label: result.program for label, result in self.results_.items()}

    @property
    def result_(self) -> DataResult:
        """What was learned of two classes."""
        check_is_fitted(self)
        if len(self.results_) > 1:
            raise AttributeError(f"there are {len(self.classes_)} classes with a program each: see programs_, results_")
        return next(iter(self.results_.values()))

    @property
    def program_(self) -> Program:
        """What is true of the second of two classes."""
        return self.result_.program

    @property
    def front_(self) -> Front:
        """The programs by size and errors that the one of two classes was chosen from."""
        return self.result_.front

    def __str__(self) -> str:
        results: Mapping[object, DataResult] | None = getattr(self, "results_", None)
        return repr(self) if results is None else "\n".join(map(str, results.values()))

    def _html_repr(self) -> str:
        """The diagram of scikit-learn and, fitted, the programs below it."""
        results: Mapping[object, DataResult] = getattr(self, "results_", {})
        return "".join([super()._html_repr(), *map(html_of, results.values())])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    def _problem(self, table: AnyArray, facts: object) -> tuple[DataProblem, Integers]:
        """The different rows as atoms without a label, and for each row the number of its atom.

        Rows that are alike are one atom: so they are in one fold, and a row of weight 2 is the same as two rows.
        """
        if facts is None:
            assert self.layout_ is not None
            first, atoms = _different(table)
            own = self.layout_.facts(table[first])
            labels = _unlabelled(self.target, np.arange(len(first))[:, None])
            return DataProblem(self.target, own, labels, world="whole"), atoms
        known: dict[tuple[str, ...], int] = {}
        atoms = np.array([known.setdefault(tuple(map(str, row)), len(known)) for row in table.tolist()], dtype=np.int64)
        types = getattr(self, "types_", None)
        examples = dict.fromkeys(known, False)
        problem = Problem(facts, examples, target=self.target, negatives="given", types=types)
        if problem.labels.count != len(known):
            raise DataError("X calls one object by two names; use one of them in all rows")
        if types is None and problem.types is not None and problem.facts.typing is not None:
            self.types_ = {self.target: tuple(problem.facts.typing.names[kind] for kind in problem.types)}
        return replace(problem, name=self.target), atoms

    def _learn(
        self, problem: DataProblem, atoms: Integers, numbers: Integers, weights: NDArray[np.float64], started: float
    ) -> None:
        """Programs of classes, those that are easiest to tell first, until one class is left."""
        left = list(range(len(self.classes_)))
        kept = np.ones(len(numbers), dtype=np.bool_)  # the rows of which no program says anything yet
        self.results_: dict[object, DataResult] = {}
        programs = len(left) * (len(left) + 1) // 2 - 2 if len(left) > 2 else 1
        while len(left) > 1:
            asked = left if len(left) > 2 else left[1:]
            found: dict[int, DataResult] = {}
            energy: dict[int, float] = {}
            for number in asked:
                seconds = (self.time_limit - (time.monotonic() - started)) / max(programs, 1)
                programs -= 1
                settings = self._settings(self.classes_[number], max(seconds, LEAST_SECONDS))
                labels = _labelled(
                    settings.task, problem.labels.rows, atoms[kept], numbers[kept] == number, weights[kept]
                )
                found[number] = learn_data(replace(problem, name=settings.task, labels=labels), settings, None)
                wrong = _said(found[number].program, problem)[atoms] != (numbers == number)
                energy[number] = found[number].program.literals + float(weights[kept & wrong].sum())
            first = min(found, key=energy.__getitem__)
            self.results_[self.classes_[first]] = found[first]
            left.remove(first)
            kept &= ~_said(found[first].program, problem)[atoms]
            left = [number for number in left if (numbers[kept] == number).any()] or left[:1]
        self.default_ = left[0]

    def _settings(self, label: object, seconds: float) -> DataRunSettings:
        seed = self.random_state
        if not isinstance(seed, int | np.integer):
            seed = check_random_state(seed).randint(2**31 - 1)
        name = self.target if len(self.classes_) == 2 else re.sub(r"\W+", "_", f"{self.target}_{label}")
        return DataRunSettings(task=name, seed=int(seed), time_limit=seconds, folds=self.folds, slack=self.slack)


def _said(program: Program, problem: DataProblem) -> NDArray[np.bool_]:
    """What a program says of each atom of a problem."""
    answers = {*map(tuple, run_program(program, problem.facts, missing="empty").rows().tolist())}
    return np.array([tuple(row) in answers for row in problem.labels.rows.tolist()], dtype=np.bool_)


_VALUES: dict[str, object] = {"dtype": None, "ensure_all_finite": "allow-nan"}


def _as_table(X: object, facts: object) -> object:
    """With facts a list of names will do: they are the one argument of the target."""
    if facts is not None and isinstance(X, list | tuple) and not any(isinstance(row, list | tuple) for row in X):
        return np.array(X, dtype=object)[:, None]
    return X


def _different(table: AnyArray) -> tuple[Integers, Integers]:
    """The first of all rows that are alike, in an order of their values, and for each row the number of its like."""
    columns = []
    for cells in table.T:
        if cells.dtype == object:
            cells = np.unique(np.array([f"{type(cell).__name__} {cell}" for cell in cells]), return_inverse=True)[1]
        columns.append(np.unique(cells, return_inverse=True)[1])
    _, first, atoms = np.unique(np.stack(columns, axis=1), axis=0, return_index=True, return_inverse=True)
    return first.astype(np.int64), atoms.reshape(-1).astype(np.int64)


def _unlabelled(target: str, rows: Rows) -> LabelledAtoms:
    return LabelledAtoms(target, rows, np.zeros(len(rows), dtype=np.bool_), np.ones(len(rows)))


def _labelled(
    target: str, rows: Rows, atoms: Integers, truth: NDArray[np.bool_], weights: NDArray[np.float64]
) -> LabelledAtoms:
    """Atoms with the weight of all rows that say the same of them. One may be true in some rows and false in others."""
    keys, of = np.unique(atoms * 2 + truth, return_inverse=True)
    return LabelledAtoms(target, rows[keys // 2], keys % 2 == 1, np.bincount(of, weights).astype(np.float64))
