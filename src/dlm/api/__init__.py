"""The verbs of the library. The command line calls them, and nothing beneath them."""

import dlm.api.display  # noqa: F401 - how results look in a notebook is registered there
from dlm.api.data import init, inspect
from dlm.api.facts import check, explain, run
from dlm.api.learn import learn, learn_policy, load, resume
from dlm.api.trials import play, test

__all__ = ["check", "explain", "init", "inspect", "learn", "learn_policy", "load", "play", "resume", "run", "test"]
