"""`dlm play` and `dlm test` with policies."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from cli.conftest import Command, one_object
from dlm.envs import get_domain
from dlm.envs.picture import draw

SORTING = str(files("dlm.envs") / "programs" / "sorting.dlm")
PATH = str(files("dlm.envs") / "programs" / "path.dlm")
IDLE = "swap(x, y) :- smaller_index(x, y) & greater_index(x, y).\n"
TOWER = "move(x, y) :- top(x) & is_floor(y) & exists z: on(x, z) & ~is_floor(z).\n"


def test_an_episode_as_text_ends_at_the_goal(call: Command) -> None:
    code, out, err = call("play", SORTING, "--task", "rl/sorting", "--objects", 4)
    assert (code, err) == (0, "")
    assert "step 1: swap(0, 1)" in out
    assert "step 3: swap(2, 3)" in out
    assert "The goal is reached in 3 steps. Return 0.980, optimum 0.980." in out
    assert "one of the true actions, uniformly at random" in out


def test_each_step_is_explained_down_to_a_level(call: Command) -> None:
    arguments = ("play", SORTING, "--task", "rl/sorting", "--objects", 4, "--explain")
    _, short, _ = call(*arguments, "--levels", 1)
    assert "  swap(0, 1) is true, because\n    first(0) is true\n" in short
    assert "--levels 0" in short
    _, whole, _ = call(*arguments, "--levels", 0)
    assert "there is a fitting y: 3, because" in whole
    assert "--levels 0" not in whole


def test_a_decision_list_is_explained_by_its_rules(call: Command, tmp_path: Path) -> None:
    (tmp_path / "list.dlm").write_text("swap(x, y) :- 1. false 2. else smaller_index(x, y) & greater_value(x, y).\n")
    arguments = ("play", "list.dlm", "--task", "rl/sorting", "--objects", 3, "--seed", 1, "--explain")
    _, out, _ = call(*arguments, "--levels", 2)
    assert " is true by rule 2, because\n    rule 2, smaller_index(x, y) & greater_value(x, y), is true of " in out
    assert "    rule 1, false, is true of nothing, because\n" in out
    steps = one_object(call(*arguments, "--json")[1])["steps"]
    assert [step["explanation"]["reason"]["rule"] for step in steps] == [2] * len(steps)


def test_objects_are_not_listed_where_nothing_is_said_of_them(call: Command, tmp_path: Path) -> None:
    (tmp_path / "fits.dlm").write_text(
        "swap(x, y) :- smaller_index(x, y) & forall z: ~smaller_index(z, x) & (smaller_value(y, z) | y = z).\n"
    )
    arguments = ("play", "fits.dlm", "--task", "rl/sorting", "--objects", 4, "--seed", 1, "--explain", "--levels")
    _, short, _ = call(*arguments, 2)
    first = short[short.index("step 1") :].partition("\n\n")[0].splitlines()
    assert first[-2].endswith("there are 4 objects to look at")
    assert first[-1] == "  (--levels 0 goes down to the facts)"
    _, long, _ = call(*arguments, 3)
    assert "there are 4 objects to look at:\n      0:\n" not in short
    assert "there are 4 objects to look at:\n      0:\n" in long


def test_a_policy_that_says_nothing_wanders_and_fails(call: Command, tmp_path: Path) -> None:
    (tmp_path / "idle.dlm").write_text(IDLE)
    code, out, _ = call("play", "idle.dlm", "--task", "rl/sorting", "--objects", 6, "--explain", "--greedy")
    assert code == 3
    assert "no action is true: any was as good" in out
    assert "because" not in out
    assert "The goal is not reached in 12 steps." in out


def test_json_has_every_step(call: Command) -> None:
    code, out, _ = call("play", PATH, "--task", "rl/path", "--seed", 5, "--explain", "--json")
    episode = one_object(out)
    assert code == 0
    assert episode["solved"]
    assert episode["return"] == pytest.approx(episode["optimum"])
    assert [step["explanation"]["value"] for step in episode["steps"]] == [True] * len(episode["steps"])
    assert episode["steps"][-1]["reward"] == 1.0


def test_pictures(call: Command, tmp_path: Path) -> None:
    (tmp_path / "tower.dlm").write_text(TOWER)
    arguments = ("play", "tower.dlm", "--task", "rl/unstack", "--trial", "two columns")
    code, out, _ = call(*arguments, "--render", "png", "--out", "shots")
    assert code == 0
    # Two moves; the action after them collects the reward, and there is nothing to see.
    assert sorted(path.name for path in (tmp_path / "shots").iterdir()) == [f"step-00{i}.png" for i in range(3)]
    assert "3 pictures in shots" in out
    assert call(*arguments, "--render", "gif")[0] == 0
    with Image.open(tmp_path / "rl-unstack.gif") as picture:
        assert picture.format == "GIF"
        assert picture.size == (640, 400)
        assert getattr(picture, "n_frames", 1) >= 3


def test_pictures_say_what_is_done() -> None:
    domain = get_domain("rl/unstack")
    state = domain.reset(np.random.default_rng(0), 1, 4)
    plain, spoken, other = (np.asarray(draw(domain, state, 0, said)) for said in ("", "step 1: move(a, b)", "step 2"))
    changed = np.flatnonzero((plain != spoken).any(axis=(1, 2)))
    assert 0 < len(changed) < 30
    assert changed[-1] < 52  # the header; the blocks are as they were
    assert (spoken != other).any()


def test_the_step_that_collects_the_reward_shows_no_action(call: Command, tmp_path: Path) -> None:
    (tmp_path / "tower.dlm").write_text(TOWER)
    arguments = ("play", "tower.dlm", "--task", "rl/unstack", "--trial", "two columns", "--explain")
    for render in ((), ("--render", "png")):
        _, out, _ = call(*arguments, *render)
        assert "step 2: move(" in out
        assert "step 3: the goal is there, and its reward is collected\n" in out
        assert "any was as good" not in out
        assert "The goal is reached in 3 steps. Return 0.960, optimum 0.960." in out
    assert call(*arguments)[1].count("[a] [b] [c] [d]") == 1


def test_returns_stand_next_to_the_optimum(call: Command) -> None:
    code, out, _ = call("test", SORTING, "--task", "rl/sorting")
    assert code == 0
    assert [line.split()[:3] for line in out.splitlines()[1:3]] == [["10", "numbers", "200"], ["50", "numbers", "100"]]
    assert "MEAN RETURN" in out
    assert "OPTIMUM" in out


@pytest.mark.parametrize(("flag", "mode"), [("--greedy", "greedy"), ("--sampled", "sampled")])
def test_any_size_and_number_of_episodes(call: Command, flag: str, mode: str) -> None:
    code, out, _ = call("test", SORTING, "--task", "rl/sorting", "--objects", 8, "--episodes", 30, flag, "--json")
    figures = one_object(out)
    assert (code, figures["passed"], figures["mode"]) == (0, True, mode)
    (test,) = figures["returns"]
    assert (test["size"], test["episodes"], test["success"], test["exact"]) == (8, 30, 1.0, True)
    assert test["mean"] == pytest.approx(test["optimum"])
    assert test["interval"][0] < test["mean"] < test["interval"][1]


def test_a_bad_policy_does_not_pass(call: Command, tmp_path: Path) -> None:
    (tmp_path / "idle.dlm").write_text(IDLE)
    code, out, _ = call("test", "idle.dlm", "--task", "rl/sorting", "--objects", 10, "--episodes", 1, "--json")
    assert code == 3
    (test,) = json.loads(out)["returns"]
    assert (test["success"], test["interval"]) == (0.0, [None, None])


MISTAKES: dict[str, tuple[tuple[Any, ...], str]] = {
    "unknown task": (("test", SORTING, "--task", "rl/sortin"), "Did you mean the task 'rl/sorting'"),
    "a task without its domain": (
        ("test", SORTING, "--task", "blocks-world"),
        "Did you mean the task 'rl/blocksworld'",
    ),
    "no task": (("play", SORTING), "is for (--task)"),
    "another signature": (("play", SORTING, "--task", "rl/path"), "the program reads 'greater_value'"),
    "another arity": (("test", "one.dlm", "--task", "rl/unstack"), "'move' of rl/unstack has 2"),
    "instances of a policy": (("test", SORTING, "--task", "rl/sorting", "--instances", 5), "give episodes"),
    "episodes of no policy": (
        ("test", "one.dlm", "--task", "family/has-father", "--episodes", 5),
        "leave out episodes",
    ),
    "nothing to act in": (("play", "one.dlm", "--task", "family/has-father"), "is nothing to act in"),
    "too small": (("play", SORTING, "--task", "rl/sorting", "--objects", 1), "at least 2, got 1"),
    "unknown test": (("play", SORTING, "--task", "rl/sorting", "--trial", "x"), "it has '10 numbers', '50 numbers'"),
    "two sizes": (("play", SORTING, "--task", "rl/sorting", "--trial", "10 numbers", "--objects", 3), "its own size"),
    "text into a file": (("play", SORTING, "--task", "rl/sorting", "--out", "x"), "--out is for pictures"),
    "a gif of another name": (
        ("play", SORTING, "--task", "rl/sorting", "--render", "gif", "--out", "x.png"),
        "ends in .gif",
    ),
    "pictures into a file": (
        ("play", SORTING, "--task", "rl/sorting", "--render", "png", "--out", "one.dlm"),
        "one.dlm is a file",
    ),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes(call: Command, tmp_path: Path, case: str) -> None:
    (tmp_path / "one.dlm").write_text("move(x) :- top(x).\n")
    arguments, message = MISTAKES[case]
    code, out, err = call(*arguments)
    assert (code, out) == (2, "")
    assert message in err
