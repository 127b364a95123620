"""Worlds and tasks of a user's own through the command line, from a module and from a closure."""

import shlex
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

import dlm
from cli.conftest import Command, one_object

WORLDS = Path(__file__).parents[1] / "policies" / "worlds.py"

TASKS = """
import numpy as np
import dlm
from dlm.data.worlds import Worlds

def draw(rng, count, size):
    return Worlds(count, size, {"edge": (rng.random((count, size, size)) < 0.3) & ~np.eye(size, dtype=bool)})

def label(worlds):
    return worlds.relations["edge"].any(axis=2)

task = dlm.Task("own/has-edge", "Which nodes have an edge?", {"edge": 2}, "has_edge", 1, 6, 12,
                dlm.MachineSettings(depth=3, breadth=2), 10, draw, label)
"""


@pytest.fixture(autouse=True)
def _modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two modules in the folder in which the commands run."""
    (tmp_path / "my_worlds.py").write_text(WORLDS.read_text())
    (tmp_path / "my_tasks.py").write_text(TASKS)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield
    for name in ("my_worlds", "my_tasks"):
        sys.modules.pop(name, None)


def follow(call: Command, printed: str) -> None:
    """Execute the commands that a result advises, as they are printed."""
    advised = printed[printed.index("Next: ") + len("Next: ") :].splitlines()
    commands = [shlex.split(line, comments=True) for line in advised if line.strip()]
    assert commands
    for name, *arguments in commands:
        assert name == "dlm"
        code, _, err = call(*arguments)
        assert code == 0, (arguments, err)


LEARN = ("learn", "my_worlds:Corridor", "--action", "act", "--sizes", "3,4", "--out", "r")


def test_a_world_of_a_module(call: Command, tmp_path: Path) -> None:
    code, learned, err = call(*LEARN)
    assert code == 0, err
    assert "Verified" in learned
    assert "warning" not in err
    assert not (tmp_path / "r" / "problem.pkl").exists()
    assert call("show", "r")[1] == learned
    assert call("learn", "--resume", "r")[:2] == (0, learned)
    code, tested, _ = call("test", "r", "--objects", 8, "--episodes", 5, "--json")
    assert (code, one_object(tested)["returns"][0]["size"]) == (0, 8)
    code, played, _ = call("play", "r", "--explain")
    assert code == 0
    assert "is true, because" in played
    for verb in (("test", "--objects", 6, "--episodes", 5), ("play",), ("show",)):
        assert call(verb[0], "r", *verb[1:], "--env", "my_worlds:Corridor")[0] == 0
    # A program outside of a run says what acts.
    assert call("play", "r/program.dlm", "--env", "my_worlds:Corridor", "--objects", 5)[0] == 0
    follow(call, learned)


def test_a_run_of_an_own_world_goes_on(call: Command) -> None:
    code, _, _ = call(*LEARN, "--time-limit", 0.05)
    code, resumed, err = call("learn", "--resume", "r", "--time-limit", 60)
    assert code == 0, err
    assert "Verified" in resumed


def test_an_atom_is_explained_in_a_start_of_the_world(call: Command) -> None:
    call(*LEARN)
    arguments = ("explain", "r", "act('cell 1')", "--objects", 4, "--seed", 3)
    code, out, err = call(*arguments)
    assert (code, err) == (0, "")
    facts, _, reason = out.partition("\n\n")
    assert facts.startswith("Corridor, 4 objects, seed 3: cell 0, cell 1, cell 2, cell 3\n  here('cell ")
    assert "  next('cell 2', 'cell 3')." in facts
    assert reason.startswith("act('cell 1') is ")
    assert call(*arguments, "--env", "my_worlds:Corridor")[1] == out
    explained = one_object(call(*arguments, "--json")[1])
    assert len(explained["facts"]) == 4
    assert explained["task"] == "Corridor"
    # The state is that in which an episode of the same seed begins.
    assert explained["facts"][0] in call("play", "r", "--objects", 4, "--seed", 3)[1].splitlines()[0]


def test_a_task_of_a_module(call: Command) -> None:
    code, learned, err = call("learn", "my_tasks:task", "--learner", "search", "--time-limit", 30, "--out", "r")
    assert code == 0, err
    assert learned.startswith("has_edge(x) :- exists y: edge(x, y).\n")
    assert call("test", "r", "--objects", 5, "--instances", 10)[0] == 0
    assert call("test", "r/program.dlm", "--task", "my_tasks:task", "--objects", 5, "--instances", 10)[0] == 0
    code, out, _ = call("explain", "r", "has_edge(0)", "--objects", 3)
    assert code == 0
    assert out.startswith("own/has-edge, 3 objects, seed 0: 0, 1, 2\n")
    assert "has_edge(0) is " in out
    follow(call, learned)


def test_a_world_made_by_a_closure(call: Command) -> None:
    from policies.worlds import Corridor

    cost = 0.01

    def make(size: int) -> Corridor:
        world = Corridor(size)
        world.cost = cost
        return world

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dlm.errors.ProblemWarning)
        policy = dlm.learn_policy(make, "act", sizes=(3, 4), out="r")
    assert policy.verified
    for arguments in (("test", "r", "--objects", 5, "--episodes", 5), ("play", "r"), ("learn", "--resume", "r")):
        code, out, err = call(*arguments)
        assert (code, out) == (2, "")
        assert "--trust" in err
        assert "--env" in err
        assert call(*arguments, "--trust")[0] == 0
    assert call("show", "r")[1].startswith(str(policy.program))  # to look at it takes no trust
    follow(call, call("show", "r", "--trust")[1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("p.dlm", "has_edge(0)"), "say which task the program p.dlm is for"),
        (("p.dlm", "p.pl", "has_edge(0)", "--seed", 1), "are for questions without FACTS"),
        (("p.dlm", "p.pl", "q.pl", "has_edge(0)"), "explain takes facts and one atom"),
        (("p.dlm", "has_edge(9)", "--task", "my_tasks:task", "--objects", 3), "no object '9'"),
    ],
)
def test_questions_that_cannot_be_asked(
    call: Command, tmp_path: Path, arguments: tuple[object, ...], message: str
) -> None:
    (tmp_path / "p.dlm").write_text("has_edge(x) :- exists y: edge(x, y).")
    code, _, err = call("explain", *arguments)
    assert code == 2
    assert message in err
