"""`LogicClassifier` next to a decision tree of scikit-learn: 5-fold accuracy and size on its small data sets.

    python -m benchmarks.estimator [--time-limit 60]

Sizes are means over the folds: literals of all programs, leaves of the tree as it comes, and of one that is cut back by
cross-validation. A tree of n leaves has n - 1 tests.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

import dlm

DATA = {"iris": load_iris, "wine": load_wine, "breast-cancer": load_breast_cancer}


def size(model: Any) -> int:
    """The literals of all programs, or the leaves of a tree."""
    if isinstance(model, GridSearchCV):
        model = model.best_estimator_
    if isinstance(model, DecisionTreeClassifier):
        return int(model.get_n_leaves())
    return sum(program.literals for program in model.programs_.values())


def measure(model: Any, X: Any, y: Any) -> tuple[float, float, float]:
    """Mean accuracy, size and seconds of a fit."""
    found = []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        started = time.perf_counter()
        fitted = clone(model).fit(X[train], y[train])
        seconds = time.perf_counter() - started
        found.append((fitted.score(X[test], y[test]), size(fitted), seconds))
    return tuple(np.mean(found, axis=0).tolist())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--time-limit", type=float, default=60)
    asked = parser.parse_args()
    tree = DecisionTreeClassifier(random_state=0)
    models = {
        "LogicClassifier": dlm.LogicClassifier(time_limit=asked.time_limit),
        "tree": tree,
        "tree, cut back": GridSearchCV(tree, {"ccp_alpha": [0, 0.002, 0.005, 0.01, 0.02, 0.05]}, cv=5),
    }
    print("| data | model | accuracy | literals or leaves | seconds |\n|---|---|---|---|---|")
    for name, load in DATA.items():
        X, y = load(return_X_y=True)
        for label, model in models.items():
            accuracy, literals, seconds = measure(model, X, y)
            row = f"{accuracy:.3f} | {literals:.1f} | {seconds:.2f}"
            print(f"| {name} | {label} | {row} |", flush=True)


if __name__ == "__main__":
    main()
