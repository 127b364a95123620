"""How a policy hardens: actions become warmer, then literals colder."""

from __future__ import annotations

import numpy as np
import pytest

from dlm.policies.gradient.annealing import ACTION_TEMPERATURE, Softness, warm_enough
from dlm.policies.gradient.settings import AnnealingSettings


def test_actions_warm_up_before_literals_cool_down() -> None:
    settings = AnnealingSettings(decided=0.98, temperature_decay=0.9)
    softness = [Softness.at_first(settings)]
    while not softness[-1].hardest:
        softness.append(softness[-1].harder(settings, actions=20, episodes=100))
    warming = [s for s in softness if s.temperature == 1.0]
    assert warming[0].action_temperature == ACTION_TEMPERATURE
    assert warming[-1].action_temperature == pytest.approx(warm_enough(20, 0.98))
    assert all(s.action_temperature == warming[-1].action_temperature for s in softness[len(warming) :])
    assert softness[-1].noise < settings.noise


@pytest.mark.parametrize("actions", [2, 20, 210])
def test_warm_enough_decides_as_told(actions: int) -> None:
    true = np.exp(1 / warm_enough(actions, 0.95))
    assert true / (true + actions - 1) == pytest.approx(0.95)
    assert warm_enough(actions, 0.0) == 0


def test_without_warming_literals_cool_at_once() -> None:
    settings = AnnealingSettings()
    harder = Softness.at_first(settings).harder(settings, actions=20, episodes=100)
    assert harder.action_temperature == ACTION_TEMPERATURE
    assert harder.temperature == pytest.approx(0.995)
