"""Worlds to act in: batches of episodes as arrays. No torch."""

from dlm.envs.domain import Domain, Optimum, State, Step, Trial, join
from dlm.envs.registry import domain_names, get_domain

__all__ = ["Domain", "Optimum", "State", "Step", "Trial", "domain_names", "get_domain", "join"]
