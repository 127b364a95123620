"""Which constants a learner's machine has, unless told otherwise."""

import pytest

from dlm.api.learn import build_settings
from dlm.learning.settings import LearnSettings
from dlm.tasks import get_task


@pytest.mark.parametrize(
    ("given", "constants"),
    [
        ({"learner": "gradient"}, "published"),
        ({"learner": "gradient", "schedule": "paper"}, "published"),
        ({"learner": "gradient", "constants": "neutral"}, "neutral"),
        ({"learner": "search"}, "neutral"),
        ({}, "neutral"),
    ],
)
def test_only_the_gradient_takes_those_of_the_published_program(given: dict[str, str], constants: str) -> None:
    settings = build_settings(get_task("family/has-father"), given)
    assert isinstance(settings, LearnSettings)
    assert settings.machine.constants == constants
