"""Jobs that take a second."""

import pytest

from dlm.sweeps.job import Job


@pytest.fixture
def father() -> Job:
    return Job("family/has-father", "search", 0, 60.0)
