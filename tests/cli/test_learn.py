import signal
import subprocess
import sys
from pathlib import Path

import pytest

import dlm as library
from cli.conftest import IMPOSSIBLE, Run, Start, one_object, wait_for

PROMISED = {
    "task",
    "seed",
    "verified",
    "learner",
    "success_rate_train_size",
    "success_rate_large",
    "seconds",
    "restarts",
    "steps",
    "program",
    "definitions",
    "literals",
    "run_dir",
}


def test_a_verified_program_is_printed_with_what_was_verified(
    learned: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    run, done = learned
    assert done.returncode == 0
    assert done.stdout.startswith(
        "has_father(x) :- exists y: father(x, y).\n\nVerified: no error on 750 fresh instances."
    )
    for row in ("250        20       250           100%", "250        100 ", "250        2 to 40 "):
        assert row in done.stdout
    assert f"run folder  runs/{run.name}" in done.stdout
    assert f"dlm show runs/{run.name}" in done.stdout
    assert "search found a program" in done.stderr


def test_a_run_leaves_its_files(learned: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    run, _ = learned
    assert run.name.startswith("family-has-father-seed0-")
    names = {path.name for path in run.iterdir()}
    assert {"settings.json", "metrics.jsonl", "program.dlm", "raw.dlm", "result.json"} <= names
    assert not any(name.startswith(".") for name in names)


def test_json_is_one_object_and_nothing_else(dlm: Run, tmp_path: Path) -> None:
    done = dlm("learn", "family/has-father", "--json", "--out", "here")
    assert done.returncode == 0
    assert done.stderr == ""
    result = one_object(done.stdout)
    assert set(result) >= PROMISED
    assert (result["task"], result["seed"], result["verified"]) == ("family/has-father", 0, True)
    assert {*result["learner"].split("+")} <= {"search", "gradient", "rules"}
    assert result["success_rate_train_size"] == result["success_rate_large"] == 1.0
    assert [trial["instances"] for trial in result["trials"]] == [250, 250, 250]
    program = library.parse_program(result["program"])
    assert (len(program.definitions), program.literals) == (result["definitions"], result["literals"])
    assert result["run_dir"] == "here"
    assert one_object((tmp_path / "here" / "result.json").read_text()) == result


def test_the_gradient_learner(dlm: Run) -> None:
    done = dlm("learn", "family/has-father", "--learner", "gradient", "--json")
    assert done.returncode == 0, done.stderr
    assert one_object(done.stdout)["learner"] == "gradient"


def test_same_seed_same_program(dlm: Run) -> None:
    first, second = (
        one_object(dlm("learn", "graph/1-outdegree", "--learner", "search", "--seed", "7", "--json").stdout)
        for _ in range(2)
    )
    for field in ("program", "steps", "restarts", "raw_literals", "verified"):
        assert first[field] == second[field]


def test_machine_settings_are_used_and_saved(dlm: Run, tmp_path: Path) -> None:
    done = dlm(
        *("learn", "family/has-father", "--learner", "search", "--out", "r"),
        *("--depth", "3", "--breadth", "2,3", "--outputs", "6", "--unit-outputs", "1:2:4", "--atoms", "3"),
        *("--no-negation", "--quantifiers", "exists", "--plain", "--residual", "--t-norm", "godel"),
        *("--constants", "published"),
    )
    assert done.returncode == 0, done.stderr
    saved = one_object((tmp_path / "r" / "settings.json").read_text())
    assert saved["machine"] == {
        "depth": 3,
        "breadth": [2, 3],
        "outputs": 6,
        "unit_outputs": [[1, 2, 4]],
        "atoms": 3,
        "negation": False,
        "quantifiers": ["exists"],
        "distinct": False,
        "repeats": True,
        "residual": True,
        "constants": "published",
        "t_norm": "godel",
    }
    assert saved["learner"] == "search"


def test_the_time_limit_ends_with_the_best_so_far(dlm: Run, tmp_path: Path) -> None:
    done = dlm(*IMPOSSIBLE, "--time-limit", "1", "--out", "r")
    assert done.returncode == 3
    program, _, rest = done.stdout.partition("\n\n")
    assert library.parse_program(program).target.name == "connected_6"
    assert rest.startswith("Not verified: the time limit was reached. This is the best program so far")
    assert "dlm learn --resume r --time-limit" in rest
    result = one_object((tmp_path / "r" / "result.json").read_text())
    assert (result["verified"], result["ended"]) == (False, "time limit")
    assert result["success_rate_large"] < 1
    assert (tmp_path / "r" / "program.dlm").read_text() == result["program"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_with_the_best_so_far(start: Start, tmp_path: Path, number: signal.Signals) -> None:
    process = start(*IMPOSSIBLE, "--out", "r")
    wait_for(tmp_path / "r" / "program.dlm")
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 3, err
    assert "Not verified: interrupted." in out
    assert "Traceback" not in err
    result = one_object((tmp_path / "r" / "result.json").read_text())
    assert result["ended"] == "interrupted"
    assert result["program"] in out
    assert (tmp_path / "r" / "search.safetensors").exists()


def test_the_installed_command_is_the_same() -> None:
    script = Path(sys.executable).with_name("dlm")
    done = subprocess.run([script, "--version"], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == f"dlm {library.__version__}\n"
