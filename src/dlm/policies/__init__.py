"""From a world to act in to a program that acts: planning on small instances plus a search for rules. No torch."""

from dlm.policies.result import PolicyResult, Progress
from dlm.policies.search.learner import RuleSearch, RuleSearchSettings, learn_rules

__all__ = ["PolicyResult", "Progress", "RuleSearch", "RuleSearchSettings", "learn_rules"]
