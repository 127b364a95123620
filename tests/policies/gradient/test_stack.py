"""A stack of machines: each phase may read what the machines before it invented."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import dlm
from dlm.engines import evaluate_target
from dlm.envs import get_domain
from dlm.errors import RunError, SettingsError
from dlm.learning.invention import Inventions
from dlm.logic.text import parse_program
from dlm.policies.build import build_policy_learner
from dlm.policies.gradient.actor import Actor
from dlm.policies.gradient.listed import ListActor
from dlm.policies.gradient.practised import Practised
from dlm.policies.gradient.scoring import Benchmark, scatter
from dlm.policies.gradient.settings import UpdateSettings, default_settings, for_lists
from dlm.policies.gradient.stack import MachineStack
from dlm.policies.gradient.taught import ShownSettings, Taught, TaughtSettings, demonstrate, taught_sizes
from dlm.policies.imitation.teachers import find_teacher
from dlm.policies.settings import PolicyRunSettings
from dlm.seeds import fixed_rng
from dlm.space.settings import MachineSettings
from policies.unstacking import UNSTACK

SHORT = TaughtSettings(ShownSettings(states=200, episodes=40, asked=None), steps=200, look_every=50)
SMALL = MachineSettings(depth=3, breadth=2)


def stack_of(name: str = "rl/unstack", seed: int = 100, settings: TaughtSettings = SHORT) -> MachineStack[Any]:
    domain = get_domain(name)
    teacher = find_teacher(domain, UNSTACK if name == "rl/unstack" else None)
    return MachineStack(domain, seed, Taught(domain, teacher, SMALL, settings), taught_sizes(domain))


def test_the_sizes_that_a_teacher_shows() -> None:
    assert [taught_sizes(get_domain(name)) for name in ("rl/path", "rl/unstack")] == [(4, 6, 8, 10), (4,)]


def test_labels_are_those_of_the_teacher_and_hard_is_what_a_program_gets_wrong() -> None:
    domain = get_domain("rl/path")
    actor, teacher = Actor(domain, SMALL), find_teacher(domain, None)
    first = parse_program("go_to(x) :- is_target(x).")
    shown = demonstrate(actor, teacher, first, 6, SHORT.shown, fixed_rng())
    good = teacher.good(shown.states)
    np.testing.assert_array_equal(shown.good, good[:, actor.atoms(shown.states)[:, 0]])
    wrong = ~(good & domain.observe(shown.states).relations["is_target"]).any(axis=1)
    np.testing.assert_array_equal(shown.hard, np.flatnonzero(wrong))


@pytest.mark.parametrize("name", ["rl/path", "rl/blocksworld"])
def test_a_machine_reads_what_earlier_ones_invented_and_its_program_says_so(name: str) -> None:
    """What the machine with hard choices says of states is what its program says, definitions and all."""
    domain = get_domain(name)
    observed = dict(Actor(domain, SMALL).observed)
    binary = next(name for name, arity in observed.items() if arity == 2)
    library = parse_program(f"aux_1(x) :- exists y: {binary}(x, y).\naux_2(x, y) :- {binary}(y, x) & ~aux_1(x).")
    inventions = Inventions(library.definitions, ("aux_2", "aux_1"))
    actor = Actor(domain, SMALL, torch.Generator().manual_seed(3), inventions=inventions)
    assert {"aux_1", "aux_2"} <= {name for names in actor.wiring.inputs_by_arity.values() for name in names}
    rng = fixed_rng()
    states = scatter(domain, rng, domain.reset(rng, 20, 5))
    program = actor.program()
    assert set(program.inputs) <= set(domain.predicates)
    truth = actor.scores(actor.machine.hard_weights(), actor.valuation(states)).detach().numpy() > 0.5
    atoms = actor.atoms(states)
    np.testing.assert_array_equal(truth, evaluate_target(program, domain.observe(states))[(slice(None), *atoms.T)])


def test_it_learns_to_act_as_its_teacher(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    policy = dlm.learn("rl/unstack", learner="dlm-incr-sl", teacher=UNSTACK, seed=100, time_limit=120, out=folder)
    assert policy.verified
    assert policy.learner == "dlm-incr-sl"
    assert "teacher" in policy.to_json()["method"]
    assert dlm.load(folder).program == policy.program


def test_only_a_better_machine_is_kept() -> None:
    stack = stack_of("rl/path")
    kept, total = stack.course.kept, -np.inf
    while stack.course.phase < 4:
        phase, before = stack.course.phase, stack.course.best and stack.course.best[0].total
        stack.advance()
        if stack.course.phase > phase and stack.course.kept > kept:
            assert stack.course.best is not None
            assert stack.course.best[0].total > total
            total, kept = stack.course.best[0].total, stack.course.kept
        assert stack.course.best is None or before is None or stack.course.best[0].total >= before
    assert stack.course.kept >= 1
    assert stack.inventions.shown


def test_a_snapshot_goes_on_as_if_nothing_had_happened() -> None:
    whole, cut = stack_of("rl/path"), stack_of("rl/path")
    for _ in range(5):  # into the second phase
        whole.advance()
        cut.advance()
    again = stack_of("rl/path")
    again.restore(cut.state())
    for _ in range(3):
        assert again.advance() == whole.advance()
    assert again.course.best == whole.course.best
    assert again.inventions == whole.inventions


def test_a_snapshot_of_another_machine_is_refused() -> None:
    state = stack_of("rl/path").state()
    with pytest.raises(RunError, match="do not fit"):
        stack_of("rl/unstack").restore(state)


def test_starts_from_which_it_fails_count_from_then_on() -> None:
    stack = stack_of("rl/path")
    stack.advance()
    domain = get_domain("rl/path")
    starts, phase = len(stack.benchmark.starts), stack.course.phase
    assert stack.refute([domain.reset(fixed_rng(), 5, 20)])
    assert len(stack.benchmark.starts) == starts + 1
    assert stack.course.phase == phase + 1
    again = stack_of("rl/path")
    again.restore(stack.state())
    assert again.course.best == stack.course.best


def test_a_benchmark_tells_what_anybody_earns() -> None:
    benchmark = Benchmark(get_domain("rl/path"), 0, sizes=(4, 6))
    optimum: Callable[[Any], Any] = lambda start: get_domain("rl/path").optimal_return(start).returns  # noqa: E731
    assert benchmark.mean(optimum) == 0


def test_teachers_are_for_those_who_have_one() -> None:
    with pytest.raises(SettingsError, match="no teacher 'nobody'"):
        dlm.learn("rl/unstack", learner="dlm-incr-sl", teacher="nobody")
    with pytest.raises(SettingsError, match="has no teacher"):
        dlm.learn("rl/path", learner="dlm-incr-rl", teacher="path")
    with pytest.raises(SettingsError, match="repairs no programs"):
        dlm.learn("rl/path", learner="dlm-incr-sl", repair=False)


def test_a_stack_by_practice_goes_on_from_a_snapshot_too() -> None:
    domain = get_domain("rl/path")
    settings = replace(default_settings(domain), update=UpdateSettings(trajectories=4), model="list", phase_updates=10)

    def fresh() -> MachineStack[Any]:
        practised = Practised("ppo", domain, settings, SMALL)
        return MachineStack(domain, 3, practised, taught_sizes(domain))

    whole, cut, again = fresh(), fresh(), fresh()
    for stack in (whole, cut):
        stack.advance()
        stack.advance()
    assert whole.course.phase == 3
    assert whole.course.kept
    again.restore(cut.state())
    assert again.advance() == whole.advance()
    assert again.course.best == whole.course.best


def test_a_list_by_ppo_is_the_same_stack_under_its_own_name() -> None:
    domain = get_domain("rl/path")
    asked = [
        PolicyRunSettings(task=domain.name, learner="dlm-incr-rl", machine=SMALL),
        PolicyRunSettings(task=domain.name, learner="ppo", model="list", repair=False, machine=SMALL),
    ]
    stacks = [build_policy_learner(each.learner, domain, 3, each, lambda: False) for each in asked]
    reports = [stack.advance() for stack in stacks]
    assert reports[0].figures == reports[1].figures
    assert [(stack.name, stack.made_by) for stack in stacks] == [("dlm-incr-rl",) * 2, ("ppo", "ppo (list)")]


@pytest.mark.parametrize(("name", "kind"), [("rl/unstack", Actor), ("rl/path", ListActor)])
def test_practice_trains_lists_where_there_are_several_lessons(name: str, kind: type[Actor]) -> None:
    settings = PolicyRunSettings(task=name, learner="dlm-incr-rl")
    stack = build_policy_learner("dlm-incr-rl", get_domain(name), 0, settings, lambda: False)
    assert isinstance(stack, MachineStack)
    assert type(stack.training.actor) is kind


def test_practice_begins_in_small_worlds() -> None:
    domain = get_domain("rl/path")
    practised = Practised("dlm-incr-rl", domain, for_lists(default_settings(domain)), SMALL)
    generator = torch.Generator().manual_seed(0)
    known = parse_program("go_to(x) :- is_target(x).")
    phases = [practised.begin(2, Inventions(), best, fixed_rng(), generator) for best in (None, known)]
    assert [phase.training.curriculum.lessons[-1] for phase in phases] == [6, 10]
    assert [phase.training.curriculum.rival for phase in phases] == [None, known]


def test_the_best_policy_so_far_is_the_last_rule_of_the_next_list() -> None:
    stack = stack_of("rl/path")
    while not stack.course.kept:
        stack.advance()
    actor, best = stack.training.actor, stack.course.before
    assert isinstance(actor, ListActor)
    assert best is not None
    states = actor.domain.reset(fixed_rng(), 20, 6)
    atoms = (slice(None), *actor.atoms(states).T)
    said = evaluate_target(best, actor.domain.observe(states))[atoms]
    last = actor.look(states).relations[actor.last or ""][atoms]
    np.testing.assert_array_equal(last, said)


def test_a_run_of_lists_by_ppo_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    first = dlm.learn("rl/path", learner="ppo", model="list", repair=False, seed=100, time_limit=2, out=folder)
    (folder / "ppo.safetensors").write_bytes(b"nonsense")
    with pytest.raises(RunError, match="cannot read the checkpoint"):
        dlm.resume(folder, time_limit=first.seconds + 2)
    assert first.learner == "ppo (list)"


def test_practice_needs_no_teacher_and_is_called_what_it_is() -> None:
    policy = dlm.learn("rl/unstack", learner="dlm-incr-rl", seed=100, time_limit=3)
    assert policy.learner == "dlm-incr-rl"
    assert "PPO" in policy.to_json()["method"]
    assert set(policy.program.inputs) <= set(get_domain("rl/unstack").predicates)
