"""A policy of several rules in order of weight, each a machine of its own."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import dlm
from dlm.engines import evaluate_target
from dlm.envs import get_domain
from dlm.errors import SettingsError
from dlm.learning.invention import Inventions
from dlm.logic.lists import rules_of
from dlm.logic.simplify import simplify
from dlm.logic.syntax import Atom, Definition, Not
from dlm.machine import Selection, apply, unit_views
from dlm.policies.gradient.actor import Actor
from dlm.policies.gradient.learner import PolicyGradient
from dlm.policies.gradient.listed import RULES, ListActor, weigh
from dlm.policies.gradient.scoring import scatter
from dlm.policies.gradient.settings import default_settings
from dlm.policies.gradient.soft import load_soft
from dlm.runs.folder import RunFolder
from dlm.space.settings import MachineSettings

SMALL = MachineSettings(depth=3, breadth=2)


@pytest.mark.parametrize("rules", [1, 3, 4])
def test_a_rule_outweighs_all_that_come_after_it(rules: int) -> None:
    weights = weigh(rules)
    assert sum(weights) == pytest.approx(1)
    for number, weight in enumerate(weights):
        assert weight - sum(weights[number + 1 :]) == pytest.approx(weights[-1])


def list_of(name: str, seed: int, known: bool = False) -> ListActor:
    """A list for a domain; before a policy that is known, or not."""
    domain = get_domain(name)
    observed, names = Actor(domain, SMALL).observed, ("x", "y")[: domain.action_arity]
    predicate = next(name for name, arity in observed.items() if arity == domain.action_arity)
    library = (Definition("known", names, Not(Atom(predicate, names))),)
    generator = torch.Generator().manual_seed(seed)
    if not known:
        return ListActor(domain, SMALL, generator)
    return ListActor(domain, SMALL, generator, inventions=Inventions(library, ("known",)))


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", ["rl/path", "rl/blocksworld"])
def test_with_hard_choices_the_best_atoms_are_those_that_the_list_is_true_of(name: str, seed: int, known: bool) -> None:
    domain, actor = get_domain(name), list_of(name, seed, known)
    rng = np.random.default_rng(seed)
    states = scatter(domain, rng, domain.reset(rng, 30, 5))
    hard = torch.cat([machine.hard_weights() for machine in actor.machines], dim=1)
    scores = actor.scores(hard, actor.valuation(states)).detach().numpy()
    best = (scores > scores.max(axis=1, keepdims=True) - 1e-6) & (scores > 1e-6)
    program = actor.program()
    for each in (program, simplify(program)):
        said = evaluate_target(each, domain.observe(states))[(slice(None), *actor.atoms(states).T)]
        np.testing.assert_array_equal(said, best)
    assert rules_of(program) is not None


@pytest.mark.parametrize("batch", [1, 4])
def test_its_scores_are_the_weighted_truth_of_its_machines(batch: int) -> None:
    """In one pass as machine by machine, literally; weights of one sample, and of one a state."""
    domain = get_domain("rl/path")
    actor = ListActor(domain, SMALL, torch.Generator().manual_seed(1))
    states = domain.reset(np.random.default_rng(0), 4, 5)
    weights = actor.weights(Selection(1.0, 0.5), batch, torch.Generator().manual_seed(2))
    valuation = actor.valuation(states)
    truth = [apply(actor.wiring, part, valuation, 5) for part in weights.chunk(RULES, dim=1)]
    expected = sum(weight * each for weight, each in zip(weigh(RULES), truth, strict=True))
    scores = actor.scores(weights, valuation)
    torch.testing.assert_close(scores, expected[(slice(None), *actor.atoms(states).T)])
    own, literal = (
        torch.autograd.grad((total**2).sum(), actor.parameters, retain_graph=True)[0] for total in (scores, expected)
    )
    torch.testing.assert_close(own, literal)


def test_training_moves_what_the_program_is_read_off() -> None:
    actor = ListActor(get_domain("rl/path"), SMALL, torch.Generator().manual_seed(1))
    with torch.no_grad():
        actor.parameters[actor.wiring.parameters] += 100
    first = next(iter(unit_views(actor.wiring, actor.machines[1].logits[None]).values()))
    assert first.flatten()[0] > 50


def test_a_soft_list_goes_on_where_it_was() -> None:
    domain = get_domain("rl/unstack")
    settings = replace(default_settings(domain, keep_soft=True), model="list")
    learners = [PolicyGradient(domain, 100, settings, SMALL, keep_soft=True) for _ in range(2)]
    for _ in range(3):
        learners[0].advance()
    learners[1].restore(learners[0].state())
    assert learners[0].advance() == learners[1].advance()
    assert learners[0].made_by == "ppo (list)"


def test_a_list_that_stays_soft_can_be_loaded(tmp_path: Path) -> None:
    policy = dlm.learn(
        "rl/unstack", learner="ppo", model="list", keep_soft=True, seed=1, time_limit=20, out=tmp_path / "run"
    )
    assert policy.learner == "ppo (list)"
    assert policy.soft_tests
    soft = load_soft(RunFolder.open(tmp_path / "run"), policy.domain)
    assert isinstance(soft.actor, ListActor)


@pytest.mark.parametrize("settings", [{}, {"learner": "ppo"}, {"learner": "dlm-incr-sl"}])
def test_a_list_is_not_repaired_and_is_for_the_gradient(settings: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match="--no-repair"):
        dlm.learn("rl/unstack", model="list", **settings)
