import pytest

from dlm.learning.fit import Fit


@pytest.mark.parametrize("share", [0.01, 0.3, 0.9])
def test_a_constant_has_no_skill(share: float) -> None:
    true = round(1000 * share)
    assert Fit(hits=true, alarms=1000 - true).skill == pytest.approx(0.0)
    assert Fit(misses=true, rejections=1000 - true).skill == pytest.approx(0.0)


@pytest.mark.parametrize("true", [0, 1, 500, 1000])
def test_what_is_right_has_all_skill(true: int) -> None:
    assert Fit(hits=true, rejections=1000 - true).skill == 1.0
    assert Fit().skill == 1.0


def test_many_false_alarms_are_no_skill_where_true_atoms_are_rare() -> None:
    found_all = Fit(hits=10, alarms=115, rejections=9875)
    found_half = Fit(hits=5, misses=5, rejections=9990)
    assert found_all.recall == 1.0
    assert found_all.skill < 0.1 < 0.4 < found_half.skill


def test_all_wrong_is_worse_than_a_constant() -> None:
    assert Fit(misses=500, alarms=500).skill < 0
