"""Questions before the policy's: their true answers, their training, and what later machines read of them."""

from dataclasses import replace

import numpy as np
import pytest

from dlm.engines import evaluate_target
from dlm.envs import get_domain
from dlm.errors import RunError
from dlm.learning.invention import Inventions
from dlm.logic.text import parse_program
from dlm.policies.gradient.actor import Actor
from dlm.policies.gradient.questions import AnsweredStates, Asking, answers_of, questions_of
from dlm.policies.imitation.teachers import find_teacher
from dlm.seeds import fixed_rng
from dlm.space.settings import MachineSettings
from policies.unstacking import UNSTACK

SMALL = MachineSettings(depth=4, breadth=2)


def answers(name: str, size: int, states: int = 60) -> tuple[Actor, AnsweredStates]:
    domain = get_domain(name)
    actor = Actor(domain, SMALL)
    teacher = find_teacher(domain, UNSTACK if name == "rl/unstack" else None)
    return actor, answers_of(actor, teacher, size, states, 30, fixed_rng())


def test_what_is_asked_depends_on_the_arguments_of_actions_only() -> None:
    assert questions_of(1) == ("possible", "pending", "settles")
    assert questions_of(2) == ("possible_1", "possible_2", "possible", "pending", "ready", "settles")


def test_in_blocksworld_blocks_are_pending_that_are_not_where_they_belong() -> None:
    """In the words of the view: a block settles where its goal is, on blocks that are in place."""
    _, known = answers("rl/blocksworld", 5)
    relations = known.worlds.relations
    in_column, goal_height = relations["same_x_goal_itself"], relations["same_y_goal_itself"]
    misplaced = ~(in_column & goal_height)
    pending = known.true["pending"]
    assert pending[misplaced].all()  # each must be moved, and what is above a misplaced one too
    assert not pending[:, 0].any()  # the ground never moves
    assert not (known.true["settles"] & ~known.true["possible"]).any()
    np.testing.assert_array_equal(known.true["ready"], known.true["settles"].any(axis=2))
    onto = known.true["settles"].any(axis=1)  # the ground, and blocks that stay where they are
    assert onto[:, 1:].any()
    assert not (onto & pending).any()


def test_in_unstack_every_block_that_comes_to_the_floor_is_settled() -> None:
    _, known = answers("rl/unstack", 4)
    floor = known.worlds.relations["is_floor"]
    towers = ~known.worlds.relations["top"][:, 1:].all(axis=1)  # elsewhere any action ends the episode
    settles, possible, onto = known.true["settles"][towers], known.true["possible"][towers], floor[towers][:, None, :]
    # Once all are on the floor, the teacher has nothing to say, and the last action is a random one.
    assert settles[possible & onto].mean() > 0.8
    assert not settles[possible & ~onto].any()


def trained(actor: Actor, known: AnsweredStates, seed: int = 0) -> Asking:
    return Asking(actor, [known], SMALL, np.random.default_rng(seed))


def test_machines_learn_the_answers_and_later_ones_read_them() -> None:
    actor, known = answers("rl/unstack", 4)
    assert trained(actor, known).questions == list(questions_of(2))
    others = {question: np.zeros_like(true) for question, true in known.true.items() if question != "possible"}
    asking = trained(actor, replace(known, true={**known.true, **others}))
    for _ in range(1000):
        if asking.over:
            break
        asking.advance()
    assert asking.over
    learned = asking.learned
    assert set(learned.lasting) <= set(learned.shown)
    (found,) = learned.lasting
    apart = ~np.eye(known.worlds.size, dtype=np.bool_)
    said = learned.extend(known.worlds).relations[found]
    np.testing.assert_array_equal(said[:, apart], known.true["possible"][:, apart])
    policy = learned.complete(parse_program(f"move(x, y) :- {found}(x, y)."))
    assert set(actor.complete(policy).inputs) <= set(actor.domain.predicates)


def test_a_snapshot_goes_on_as_if_nothing_had_happened() -> None:
    actor, known = answers("rl/unstack", 4)
    whole, cut = trained(actor, known), trained(actor, known)
    while whole.number < 1:
        for each in (whole, cut):
            each.advance()
            if each.learner is not None and not each.learner.worlds.hard:
                each.learner.refute([each.learner.task.sample(fixed_rng(), 2, known.worlds.size)])
    assert whole.learner is not None
    assert whole.learner.worlds.hard
    again = trained(actor, known)
    again.restore(cut.state())
    for _ in range(3):
        whole.advance()
        again.advance()
    assert again.figures == whole.figures
    assert again.learned == whole.learned
    with pytest.raises(RunError, match="questions"):
        again.restore(replace(cut.state(), number=9))


def test_what_is_always_so_is_not_asked() -> None:
    actor, known = answers("rl/unstack", 4)
    always = {question: np.ones_like(true) for question, true in known.true.items()}
    asking = trained(actor, AnsweredStates(known.worlds, always))
    assert asking.over
    assert asking.advance() == 0
    assert asking.learned == Inventions()


def test_lasting_predicates_stay_shown() -> None:
    domain = get_domain("rl/unstack")
    worlds = [domain.observe(domain.reset(fixed_rng(), 20, 4))]
    answer = parse_program("answer(x) :- exists y: on(y, x) & ~is_floor(x).")
    inventions = Inventions().grown([answer], domain.predicates, worlds, 2, lasting=True)
    (name,) = inventions.lasting
    other = parse_program("other(x, y) :- on(x, y) & top(x).")
    later = inventions.grown([other], domain.predicates, worlds, 2)
    assert later.lasting == (name,)
    assert name in later.shown
    assert later.saved().restored() == later
    assert evaluate_target(later.complete(parse_program(f"seen(x) :- {name}(x).")), worlds[0]).any()
