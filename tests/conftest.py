"""Settings shared by all tests."""

from hypothesis import settings

# No deadline: how long one example takes says more about what else the machine does than about the code.
settings.register_profile("dlm", deadline=None)
settings.load_profile("dlm")
