import numpy as np
import pytest

from dlm.envs import get_domain
from dlm.envs.towers import On, Unstack


@pytest.mark.parametrize(("name", "mean"), [("unstack", 0.92), ("stack", 0.92), ("on", 0.896)])
def test_the_five_starts_have_the_published_optimum(name: str, mean: float) -> None:
    domain = get_domain(f"rl/{name}")
    rng = np.random.default_rng(0)
    best = [domain.optimal_return(trial.start(rng, 1)).returns[0] for trial in domain.trials()]
    assert len(best) == 5
    assert np.mean(best) == pytest.approx(mean)


def test_the_goal_is_collected_by_one_more_action() -> None:
    domain = Unstack()
    state = domain.reset(np.random.default_rng(0), 1, 3)
    earned = []
    for action in [(3, 0), (2, 0), (1, 2)]:
        state, rewards, done, solved = domain.step(state, np.array([action]))
        earned.append((rewards[0], bool(done[0]), bool(solved[0])))
    assert earned == [(-0.02, False, False), (-0.02, False, False), (1.0, True, True)]
    assert domain.columns(state, 0) == [[1], [2], [3]], "the action that collects the goal moves nothing"


def test_observation_of_two_columns() -> None:
    domain = On()
    structure = domain.structure(domain.place([(1, 2), (3,)]), 0)
    assert structure.objects == ("floor", "a", "b", "c")
    assert dict(structure.relations) == {
        "is_floor": {(0,)},
        "top": {(2,), (3,)},
        "on": {(1, 0), (2, 1), (3, 0)},
        "on_goal": {(1, 2)},
    }


def test_only_clear_blocks_move_and_only_to_clear_places() -> None:
    domain = Unstack()
    legal = domain.legal(domain.place([(1, 2), (3,)]))[0]
    assert set(map(tuple, np.argwhere(legal).tolist())) == {(2, 0), (2, 3), (3, 0), (3, 2)}


def test_text() -> None:
    assert Unstack().describe(Unstack().place([(1, 2), (3,)]), 0) == "[b]\n[a] [c]\n───────"
