"""The worlds to act in that come with the package, by name."""

from __future__ import annotations

from dlm.envs.blocksworld import Blocksworld
from dlm.envs.domain import AnyDomain
from dlm.envs.path import Path
from dlm.envs.sorting import Sorting
from dlm.envs.towers import On, Stack, Unstack
from dlm.errors import UnknownTaskError, did_you_mean

__all__ = ["GOALS", "domain_names", "get_domain"]

DOMAINS: dict[str, AnyDomain] = {
    domain.name: domain for domain in (Unstack(), Stack(), On(), Sorting(), Path(), Blocksworld())
}

GOALS = {
    "rl/unstack": "Put every block on the floor.",
    "rl/stack": "Put all blocks into one column.",
    "rl/on": "Put the first block onto the second.",
    "rl/sorting": "Sort a list by swaps.",
    "rl/path": "Walk to a node by a shortest way.",
    "rl/blocksworld": "Rebuild the stacks of another world.",
}
"""What there is to do, in a sentence."""


def domain_names() -> tuple[str, ...]:
    """The names of all domains, from easy to hard."""
    return tuple(DOMAINS)


def get_domain(name: str) -> AnyDomain:
    """The domain of that name, such as ``rl/sorting``."""
    if name in DOMAINS:
        return DOMAINS[name]
    raise UnknownTaskError(f"there is no domain {name!r}.{did_you_mean(name, DOMAINS)} Known are {', '.join(DOMAINS)}.")
