"""Torch is an extra: learners that need it are refused where it is missing, and `auto` learns without them."""

from __future__ import annotations

from importlib.util import find_spec

from dlm.errors import MissingExtraError

__all__ = ["TRAINED", "check_learner", "missing_torch"]

TRAINED = ("gradient", "ppo", "reinforce", "nlm", "dilp", "dnl-ilp", "nlrl", "dlm-incr-sl", "dlm-incr-rl")
"""The learners that train by gradients."""


def missing_torch(purpose: str) -> MissingExtraError | None:
    """The error of a part that needs torch; None if torch is installed. Looking for it does not load it."""
    return None if find_spec("torch") else MissingExtraError("torch", "gradient", purpose)


def check_learner(name: str, device: str = "cpu") -> None:
    """Refuse a learner whose package is not installed, or whose device is not there."""
    if name not in (*TRAINED, "auto"):
        return
    missing = missing_torch(f"the learner {name}")
    if missing and name != "auto":
        raise missing
    if device == "cuda" and not missing:
        from dlm.machine.device import find_device

        find_device(device)
