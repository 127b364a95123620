"""The worlds to act in that come with the package, by name."""

from __future__ import annotations

from dlm.envs.blocksworld import Blocksworld
from dlm.envs.domain import AnyDomain, Domain
from dlm.envs.path import Path
from dlm.envs.sorting import Sorting
from dlm.envs.towers import On, Stack, Unstack
from dlm.errors import PluginError, UnknownTaskError, did_you_mean
from dlm.plugins import load_plugin, plugin_names

__all__ = ["DOMAINS", "domain_names", "get_domain", "goal_of"]

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


def goal_of(domain: AnyDomain) -> str:
    """What there is to do, in a sentence; of a domain of a plug-in the first line of its documentation."""
    return GOALS.get(domain.name) or (type(domain).__doc__ or "").strip().partition("\n")[0]


def domain_names() -> tuple[str, ...]:
    """The names of all domains, from easy to hard, then those of plug-ins."""
    return *DOMAINS, *plugin_names("dlm.envs", DOMAINS)


def get_domain(name: str) -> AnyDomain:
    """The domain of that name, such as ``rl/sorting``."""
    if name in DOMAINS:
        return DOMAINS[name]
    if name in domain_names():
        domain: AnyDomain = load_plugin("dlm.envs", name, Domain)  # type: ignore[type-abstract]  # none is made of it
        if domain.name != name:
            raise PluginError(f"the entry point of a domain has its name: {domain.name!r} is entered as {name!r}")
        return domain
    guess = did_you_mean(name, domain_names())
    raise UnknownTaskError(f"there is no domain {name!r}.{guess} Known are {', '.join(domain_names())}.")
