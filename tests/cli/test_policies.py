"""`dlm learn rl/...`: from a world to act in to a verified policy."""

import json
import signal
import subprocess
from pathlib import Path

import pytest

import dlm as library
from cli.conftest import Command, Run, Start, _run, one_object, wait_for

PROMISED = {
    "task",
    "seed",
    "learner",
    "verified",
    "returns",
    "steps",
    "seconds",
    "program",
    "definitions",
    "literals",
    "run_dir",
}


@pytest.fixture(scope="module")
def unstack(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """The folder of a verified run, and what the run printed. Not to be changed."""
    folder = tmp_path_factory.mktemp("unstack")
    done = _run(folder, "learn", "rl/unstack", "--seed", "3")
    (run,) = (folder / "runs").iterdir()
    return run, done


def test_a_policy_is_printed_with_its_returns_its_decision_and_its_learner(
    unstack: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    run, done = unstack
    assert done.returncode == 0, done.stderr
    program, _, rest = done.stdout.partition("\n\n")
    assert library.parse_program(program).target.name == "move"
    assert rest.startswith("Verified: all 500 fresh episodes reach the goal, with the best return possible.")
    for words in (
        "7 blocks     100       0.880        0.880 to 0.880  0.880    100%",
        "decision    one of the true actions, uniformly at random",
        "learner     search: planning on small instances and rule search, not reinforcement learning",
        f"dlm play runs/{run.name} --explain",
    ):
        assert words in rest
    assert "start 1, rules 1, literals 3, score" in done.stderr


def test_a_run_leaves_its_files(unstack: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    run, done = unstack
    names = {path.name for path in run.iterdir()}
    files = {"settings.json", "metrics.jsonl", "progress.json", "program.dlm", "best.json", "result.json"}
    assert names == files | {"made_by.json"}
    result = one_object((run / "result.json").read_text())
    assert (run / "program.dlm").read_text() == result["program"]
    assert done.stdout.startswith(result["program"])
    metrics = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    assert [line["restarts"] for line in metrics] == list(range(1, len(metrics) + 1))
    assert metrics[-1]["steps"] == result["steps"]


def test_a_run_can_be_shown_tested_played_and_resumed(
    call: Command, unstack: tuple[Path, subprocess.CompletedProcess[str]]
) -> None:
    run, first = unstack
    shown = first.stdout.replace(f"runs/{run.name}", str(run))
    assert call("show", run)[1] == shown
    assert call("learn", "--resume", run)[:2] == (0, shown)
    tested = one_object(call("test", run, "--objects", 9, "--episodes", 5, "--json")[1])
    assert (tested["task"], tested["passed"]) == ("rl/unstack", True)
    assert "The goal is reached in 4 steps." in call("play", run)[1]


def test_json_is_one_object_and_the_same_seed_gives_the_same_program(dlm: Run) -> None:
    results = []
    for name in ("a", "b"):
        done = dlm("learn", "rl/unstack", "--learner", "search", "--seed", 1, "--json", "--out", name)
        assert (done.returncode, done.stderr) == (0, "")
        results.append(one_object(done.stdout))
    first, second = results
    assert set(first) >= PROMISED
    assert (first["task"], first["seed"], first["learner"], first["verified"]) == ("rl/unstack", 1, "search", True)
    assert len(first["returns"]) == 5
    for test in first["returns"]:
        assert test["success"] == 1.0
        assert test["interval"][0] <= test["mean"] <= test["interval"][1]
        assert test["mean"] <= test["optimum"]
    program = library.parse_program(first["program"])
    assert (len(program.definitions), program.literals) == (first["definitions"], first["literals"])
    for field in ("program", "returns", "steps", "restarts"):
        assert first[field] == second[field]


def test_the_time_limit_ends_with_the_best_so_far_and_the_run_can_go_on(call: Command, tmp_path: Path) -> None:
    code, out, err = call("learn", "rl/unstack", "--learner", "reinforce", "--time-limit", "0.1", "--out", "r")
    assert code == 3, err
    assert "Not verified: the time limit was reached. This is the best program so far." in out
    assert "learner     reinforce: reinforcement learning by policy gradient (REINFORCE)" in out
    result = one_object((tmp_path / "r" / "result.json").read_text())
    assert (result["verified"], result["ended"]) == (False, "time limit")
    spent = one_object((tmp_path / "r" / "progress.json").read_text())
    code, _, err = call("learn", "--resume", "r")
    assert code == 2
    assert "its limit is 0 s: give a larger --time-limit" in err
    code, _, err = call("learn", "--resume", "r", "--time-limit", spent["seconds"] + 0.5)
    assert code == 3, err
    assert "reinforce goes on from its last checkpoint" in err
    again = one_object((tmp_path / "r" / "progress.json").read_text())
    assert (again["counts"]["attempt"], again["counts"]["sitting"]) == (0, 1)
    assert one_object((tmp_path / "r" / "result.json").read_text())["steps"] > result["steps"]


def test_an_interrupt_ends_with_the_best_so_far(start: Start, tmp_path: Path) -> None:
    process = start("learn", "rl/unstack", "--learner", "reinforce", "--out", "r")
    wait_for(tmp_path / "r" / "metrics.jsonl")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 3, err
    assert "Not verified: interrupted." in out
    assert "Next: dlm learn --resume r   #" in out  # it has time left
    assert "Traceback" not in err
    assert one_object((tmp_path / "r" / "result.json").read_text())["ended"] == "interrupted"


def test_the_soft_policy_is_reported_beside_its_program_and_kept(call: Command) -> None:
    code, out, err = call("learn", "rl/unstack", "--keep-soft", "--time-limit", "0.1", "--json", "--out", "r")
    assert code in (0, 3), err
    result = one_object(out)
    assert result["learner"] == "ppo"
    assert [test["name"] for test in result["soft_returns"]] == [test["name"] for test in result["returns"]]
    again = one_object(call("test", "r", "--soft", "--json")[1])
    for first, second in zip(result["soft_returns"], again["returns"], strict=True):
        # Other episodes of the same policy: the means lie close together.
        width = max(0.02, *(test["interval"][1] - test["interval"][0] for test in (first, second)))
        assert abs(first["mean"] - second["mean"]) < 2 * width


def test_a_teacher_is_imitated(call: Command, tmp_path: Path) -> None:
    (tmp_path / "teacher.dlm").write_text("move(x, y) :- top(x) & is_floor(y) & ~on(x, y).")
    arguments = ("--learner", "imitation", "--teacher", tmp_path / "teacher.dlm", "--seed", "100", "--json")
    code, out, err = call("learn", "rl/unstack", *arguments, "--out", "r")
    assert code == 0, err
    result = one_object(out)
    assert result["learner"] == "imitation"
    assert "not reinforcement learning" in str(result["method"])
    assert one_object(call("learn", "--resume", "r", "--json")[1])["program"] == result["program"]


def test_a_run_without_a_soft_policy_says_so(
    call: Command, unstack: tuple[Path, subprocess.CompletedProcess[str]]
) -> None:
    code, _, err = call("test", unstack[0], "--soft")
    assert code == 2
    assert "learn with --keep-soft to have one" in err


MISTAKES = {
    "unknown task": (("learn", "rl/unstak"), "Did you mean the task 'rl/unstack'"),
    "unknown teacher": (("learn", "rl/path", "--learner", "imitation", "--teacher", "x"), "there is no teacher 'x'"),
    "other teacher": (("learn", "rl/path", "--learner", "imitation", "--teacher", "sorting"), "'greater_value'"),
    "teacher of another": (("learn", "rl/path", "--learner", "ppo", "--teacher", "path"), "'ppo' has no teacher"),
    "teacher of examples": (("learn", "family/has-father", "--teacher", "path"), "leave out teacher"),
    "phases of no machine": (
        ("learn", "rl/path", "--learner", "search", "--incremental"),
        "does not learn in phases",
    ),
    "gradient": (("learn", "rl/unstack", "--learner", "gradient"), "gradient learns no policies"),
    "ppo of no policy": (
        ("learn", "family/has-father", "--learner", "ppo"),
        "use the learner auto or gradient or search",
    ),
    "soft search": (("learn", "rl/unstack", "--learner", "search", "--keep-soft"), "no soft policy to keep"),
    "soft examples": (("learn", "family/has-father", "--keep-soft"), "is nothing to act in: leave out keep_soft"),
    "a machine": (("learn", "rl/unstack", "--learner", "search", "--depth", "3"), "trains no machine"),
    "no time": (("learn", "rl/unstack", "--time-limit", "0"), "'time_limit' setting must be a positive number"),
    "resume with settings": (("learn", "--resume", "x", "--keep-soft"), "leave out --keep-soft"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes(case: str, call: Command, tmp_path: Path) -> None:
    arguments, message = MISTAKES[case]
    code, out, err = call(*arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert not (tmp_path / "runs").exists()
