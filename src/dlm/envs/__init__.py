"""Worlds to act in: batches of episodes as arrays. No torch."""

from dlm.envs.domain import Domain, Optimum, State, Step, Trial, join
from dlm.envs.evaluate import Returns, run_from, run_policy, run_trial
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
    "get_domain",
    "get_teacher",
    "join",
    "run_from",
    "run_policy",
    "run_trial",
    "teacher_names",
]
