"""Logs: what is refused before anything is written."""

import pytest

import dlm
from dlm.errors import SettingsError


def test_a_log_needs_a_run_folder() -> None:
    with pytest.raises(SettingsError, match="a log is written into the run folder"):
        dlm.learn("family/has-father", learner="search", log="tensorboard")


def test_an_unknown_log() -> None:
    with pytest.raises(SettingsError, match="must be one of tensorboard"):
        dlm.learn("family/has-father", learner="search", log="wandb", out="somewhere")  # type: ignore[arg-type]
