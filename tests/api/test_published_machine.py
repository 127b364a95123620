"""What a learner's machine has of the published program's, unless told otherwise."""

from dataclasses import replace
from typing import Any

import pytest

from dlm.api.learn import build_settings
from dlm.errors import SettingsError
from dlm.learning.settings import LearnSettings
from dlm.space.settings import MachineSettings
from dlm.tasks import get_task

TASK = get_task("family/has-father")


def machine(given: dict[str, Any], distinct: bool = True) -> MachineSettings:
    task = replace(TASK, settings=replace(TASK.settings, distinct=distinct))
    settings = build_settings(task, given)
    assert isinstance(settings, LearnSettings)
    return settings.machine


@pytest.mark.parametrize(
    ("given", "constants", "repeats"),
    [
        ({"learner": "gradient"}, "published", False),
        ({"learner": "gradient", "schedule": "paper"}, "published", False),
        ({"learner": "gradient", "incremental": True}, "published", False),
        ({"learner": "gradient", "constants": "neutral"}, "neutral", False),
        ({"learner": "gradient", "repeats": True}, "published", True),
        ({"learner": "gradient", "distinct": False}, "published", True),
        ({"learner": "nlm"}, "neutral", False),
        ({"learner": "nlm", "distinct": False}, "neutral", True),
        ({"learner": "search"}, "neutral", True),
        ({"learner": "search", "repeats": False}, "neutral", False),
        ({}, "neutral", True),
    ],
)
def test_only_some_take_those_of_the_published_program(given: dict[str, Any], constants: str, repeats: bool) -> None:
    found = machine(given)
    assert (found.constants, found.repeats) == (constants, repeats)


@pytest.mark.parametrize("learner", ["gradient", "search", "nlm"])
def test_a_task_may_have_plain_quantifiers(learner: str) -> None:
    assert machine({"learner": learner}, distinct=False).over == "all"
    assert machine({"learner": learner, "distinct": True, "repeats": True}, distinct=False).over == "other"
    assert machine({"learner": learner, "distinct": True, "repeats": False}, distinct=False).over == "unrepeated"


def test_plain_quantifiers_skip_nothing() -> None:
    with pytest.raises(SettingsError, match=r"--no-repeats.* is for distinct quantifiers: leave it out"):
        machine({"learner": "gradient", "distinct": False, "repeats": False})
