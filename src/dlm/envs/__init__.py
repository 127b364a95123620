"""Worlds to act in: batches of episodes as arrays, and Gymnasium environments if Gymnasium is installed. No torch."""

from importlib.util import find_spec
from typing import TYPE_CHECKING

from dlm.envs.domain import Domain, Optimum, State, Step, Trial, join
from dlm.envs.evaluate import Returns, run_from, run_policy, run_trial
from dlm.envs.registration import env_id, make_env, register_envs
from dlm.envs.registry import domain_names, get_domain
from dlm.envs.teachers import get_teacher, teacher_names
from dlm.errors import require_packages

if TYPE_CHECKING:
    from dlm.envs.flatten import FlattenStructure as FlattenStructure

__all__ = [
    "Domain",
    "Optimum",
    "Returns",
    "State",
    "Step",
    "Trial",
    "domain_names",
    "env_id",
    "get_domain",
    "get_teacher",
    "join",
    "make_env",
    "register_envs",
    "run_from",
    "run_policy",
    "run_trial",
    "teacher_names",
]

if find_spec("gymnasium") is not None:
    register_envs()


def __getattr__(name: str) -> object:
    """`FlattenStructure` needs Gymnasium: it is loaded when it is asked for, and no part of ``__all__``."""
    if name == "FlattenStructure":
        require_packages("gymnasium", extra="rl", purpose="dlm.envs.FlattenStructure")
        from dlm.envs.flatten import FlattenStructure

        return FlattenStructure
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
