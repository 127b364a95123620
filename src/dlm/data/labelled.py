"""Labelled atoms: what is known of a target predicate over the objects of some facts."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dlm.data.facts import Rows
from dlm.errors import DataError

__all__ = ["LabelledAtoms"]


@dataclass(frozen=True)
class LabelledAtoms:
    """Atoms of one predicate with their truth, a row each; `weights` say how much an error on each counts."""

    target: str
    rows: Rows
    truth: NDArray[np.bool_]
    weights: NDArray[np.float64]

    def __post_init__(self) -> None:
        if not len(self.rows) == len(self.truth) == len(self.weights):
            raise DataError(
                f"{len(self.rows)} atoms of {self.target!r}, {len(self.truth)} labels and {len(self.weights)} weights: "
                "each atom needs one of each"
            )

    @property
    def arity(self) -> int:
        return int(self.rows.shape[1])

    @property
    def count(self) -> int:
        return len(self.rows)

    def take(self, index: NDArray[np.intp] | NDArray[np.bool_]) -> LabelledAtoms:
        """Some of the atoms."""
        return replace(self, rows=self.rows[index], truth=self.truth[index], weights=self.weights[index])
