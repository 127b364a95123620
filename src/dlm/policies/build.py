"""From a learner's name to the learner. The only place that knows all learners of policies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from dlm.envs.domain import AnyDomain
from dlm.envs.from_gymnasium import EnvDomain
from dlm.errors import SettingsError
from dlm.policies.imitation.learner import Imitation, ImitationSettings
from dlm.policies.imitation.teachers import TeacherSource, find_teacher
from dlm.policies.learner import AnyPolicyLearner
from dlm.policies.search.learner import RuleSearch, RuleSearchSettings
from dlm.policies.settings import STACKED, PolicyRunSettings
from dlm.runs.extras import check_learner

__all__ = ["build_policy_learner"]

NLM_RATE = 0.005
"""The learning rate of neural logic machines, as published."""


def build_policy_learner(
    name: str,
    domain: AnyDomain,
    seed: int,
    settings: PolicyRunSettings,
    out_of_time: Callable[[], bool],
    teacher: TeacherSource | None = None,
) -> AnyPolicyLearner:
    """A learner at its beginning. Torch is loaded only for those that need it."""
    check_learner(name)
    if name == "search":
        if isinstance(domain, EnvDomain) and not domain.deterministic:
            raise SettingsError(
                f"{domain.name} is stochastic: copies of it did different things. The search learner plans with a "
                "deterministic simulator; use ppo or reinforce here"
            )
        return RuleSearch(domain, seed, RuleSearchSettings(), out_of_time)
    judged = domain.hopeful() if isinstance(domain, EnvDomain) else domain
    if name == "imitation":
        given = find_teacher(judged, teacher)
        return Imitation(judged, given, seed, ImitationSettings(incremental=settings.incremental), out_of_time)
    if name == "nlrl":
        from dlm.policies.gradient.nlrl import NlrlLearner

        return NlrlLearner(judged, seed, out_of_time)
    from dlm.machine.device import find_device
    from dlm.policies.gradient.learner import PolicyGradient
    from dlm.policies.gradient.settings import default_settings, for_lists, machine_settings, paper_settings
    from dlm.policies.gradient.stack import MachineStack
    from dlm.policies.gradient.taught import Taught, TaughtSettings, paper_taught, taught_sizes

    published, stacked = settings.schedule == "paper", name in STACKED
    machine = settings.machine or machine_settings(domain, settings.schedule, incremental=stacked)
    if name == "dlm-incr-sl":
        lessons = paper_taught() if published else TaughtSettings()
        taught = Taught(judged, find_teacher(judged, teacher), machine, lessons, find_device(settings.device))
        return MachineStack(judged, seed, taught, taught_sizes(judged))
    algorithm: Literal["ppo", "reinforce"] = "reinforce" if name == "reinforce" else "ppo"
    if published:
        trained = paper_settings(domain, algorithm, incremental=stacked)
    else:
        trained = replace(default_settings(domain, algorithm, keep_soft=settings.keep_soft), repair=settings.repair)
    if settings.rollouts:
        if isinstance(domain, EnvDomain) and not domain.deterministic:
            raise SettingsError(f"{domain.name} is stochastic: --rollouts tries actions by a deterministic simulator")
        trained = replace(trained, soft=replace(trained.soft, rollouts=True))
    listed = settings.model == "list" or (stacked and not published and len(domain.lessons) > 1)
    trained = replace(trained, model="list" if listed else settings.model)
    if listed and not published and not settings.keep_soft:
        trained = for_lists(trained)
    if settings.model == "nlm":  # its weights are no logits of choices
        trained = replace(trained, rates=replace(trained.rates, learning_rate=NLM_RATE), diversity=1.0)
    # A list of machines has phases for restarts: each begins before the best program so far.
    if stacked or (listed and not settings.keep_soft):
        from dlm.policies.gradient.practised import Practised

        practised = Practised(name, judged, trained, machine, find_device(settings.device))
        return MachineStack(judged, seed, practised, taught_sizes(judged))
    return PolicyGradient(
        judged,
        seed,
        trained,
        machine,
        keep_soft=settings.keep_soft,
        out_of_time=out_of_time,
        device=find_device(settings.device),
    )
