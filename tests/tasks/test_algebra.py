from __future__ import annotations

import numpy as np
import pytest

from dlm.tasks import algebra


@pytest.mark.parametrize("chunk", [1, 100, 1 << 20])
def test_compose_is_the_product_of_relations(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(algebra, "CHUNK_FLOATS", chunk)
    rng = np.random.default_rng(0)
    left, right = (rng.random((7, 6, 6)) < 0.2 for _ in range(2))
    expected = (left[:, :, :, None] & right[:, None, :, :]).any(axis=2)
    assert (algebra.compose(left, right) == expected).all()


def test_some_and_identity() -> None:
    relation = np.array([[[False, True], [False, False]]])
    assert algebra.some(relation).tolist() == [[True, False]]
    assert algebra.identity(2).tolist() == [[True, False], [False, True]]
