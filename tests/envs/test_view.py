"""Views: another way to look at a domain, said in logic."""

import numpy as np
import pytest

from dlm.data import Worlds
from dlm.engines import evaluate_target
from dlm.envs import get_domain
from dlm.envs.view import View
from dlm.errors import DataError
from dlm.logic import parse_program


@pytest.mark.parametrize("size", [2, 3, 6])
def test_the_quick_look_at_blocksworld_is_what_its_view_defines(size: int) -> None:
    domain = get_domain("rl/blocksworld")
    assert domain.view is not None
    state = domain.reset(np.random.default_rng(size), 50, size)
    wanted, objects = domain.view.look(domain.observe(state))
    found = domain.look(state)
    assert [domain.objects(size)[number].split()[0] for number in objects] == ["source"] * (size + 1)
    assert found.relations.keys() == wanted.relations.keys() == domain.view.predicates.keys()
    for name, table in wanted.relations.items():
        assert np.array_equal(found.relations[name], table), name


def test_a_program_about_a_view_becomes_one_about_the_observation() -> None:
    domain = get_domain("rl/blocksworld")
    assert domain.view is not None
    state = domain.reset(np.random.default_rng(0), 50, 5)
    program = parse_program(
        "lower(x) :- forall z: ~goal_below(x, z)."
        "t(x, y) :- (exists z != x: above_goal(z, x)) & same_x(x, y) & lower(y)."
    )
    worlds, objects = domain.view.look(domain.observe(state))
    table = evaluate_target(domain.view.program(program), domain.observe(state))
    assert np.array_equal(table[:, objects][:, :, objects], evaluate_target(program, worlds))
    outside = np.setdiff1d(np.arange(table.shape[1]), objects)
    assert not table[:, outside].any()
    assert not table[:, :, outside].any()


def test_a_view_keeps_the_same_objects_in_all_worlds() -> None:
    worlds = Worlds(2, 3, {"p": np.array([[True, False, True], [True, True, False]])})
    with pytest.raises(DataError, match="same objects"):
        View({"p": 1}, kept="p").look(worlds)
    assert View({"p": 1}).look(worlds)[0].relations["p"].shape == (2, 3)
