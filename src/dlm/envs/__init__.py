"""Worlds to act in: batches of episodes as arrays, and Gymnasium environments if Gymnasium is installed. No torch."""

from importlib.util import find_spec

from dlm.envs.domain import Domain, Optimum, State, Step, Trial, join
from dlm.envs.evaluate import Returns, run_from, run_policy, run_trial
from dlm.envs.registration import env_id, make_env, register_envs
from dlm.envs.registry import domain_names, get_domain
from dlm.envs.teachers import get_teacher, teacher_names

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
