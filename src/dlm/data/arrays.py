"""Arrays by what they hold; those of truth values are in `dlm.data.bits`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["AnyArray", "Floats", "Indices"]

AnyArray = NDArray[np.generic]
Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
