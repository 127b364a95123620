"""The domains under their Gymnasium ids: ``gymnasium.make("dlm/Sorting-v0", objects=10)``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dlm.envs.registry import DOMAINS, get_domain
from dlm.errors import require_packages

if TYPE_CHECKING:
    from dlm.envs.to_gymnasium import StructureEnv

__all__ = ["env_id", "make_env", "register_envs"]


def env_id(name: str) -> str:
    """The Gymnasium id of a domain: ``dlm/Sorting-v0`` for ``rl/sorting``."""
    return f"dlm/{get_domain(name).name.partition('/')[2].capitalize()}-v0"


def register_envs() -> None:
    """Make the ids known to Gymnasium; a second time changes nothing."""
    require_packages("gymnasium", extra="rl", purpose="acting in a Gymnasium environment")
    from gymnasium.envs.registration import register, registry

    for name in DOMAINS:
        if env_id(name) not in registry:
            register(env_id(name), entry_point="dlm.envs.to_gymnasium:StructureEnv", kwargs={"name": name})


def make_env(name: str, **settings: Any) -> StructureEnv:
    """A domain as a Gymnasium environment, without Gymnasium's wrappers; the settings are those of `StructureEnv`."""
    require_packages("gymnasium", extra="rl", purpose="acting in a Gymnasium environment")
    from dlm.envs.to_gymnasium import StructureEnv

    return StructureEnv(name, **settings)
