"""The light install: everything but the training of machines works without torch, and says so where torch is needed."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from cli.conftest import ENVIRONMENT, Command
from dlm.policies.gradient.soft import SOFT

ROOT = Path(__file__).parents[2]
INSTALL = "pip install 'dlm[gradient]'"
FACTS = "father(ann, bob).\nfather(bob, carl).\n"


@pytest.fixture
def light(call: Command, monkeypatch: pytest.MonkeyPatch) -> Command:
    """`dlm` where torch cannot be found."""
    monkeypatch.setitem(sys.modules, "torch", None)
    return call


@pytest.mark.parametrize(
    "arguments",
    [
        ("family/has-father", "--learner", "gradient"),
        ("rl/unstack", "--learner", "ppo"),
        ("rl/unstack", "--learner", "reinforce"),
        ("rl/unstack", "--keep-soft"),
    ],
    ids=" ".join,
)
def test_a_learner_that_needs_torch_is_refused_before_a_folder_is_made(
    light: Command, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    code, out, err = light("learn", *arguments)
    assert (code, out) == (2, "")
    assert INSTALL in err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("task", ["family/has-father", "rl/unstack"])
def test_auto_learns_by_search_alone_and_says_so_once(light: Command, task: str) -> None:
    code, _, err = light("learn", task)
    assert code == 0
    assert err.count(INSTALL) == err.count("auto learns without gradients") == 1


def test_a_soft_policy_needs_torch(light: Command, tmp_path: Path) -> None:
    code, *_ = light("learn", "rl/unstack", "--learner", "search", "--out", "run")
    assert code == 0
    assert "no soft policy" in light("test", "run", "--soft")[2]
    (tmp_path / "run" / SOFT).touch()
    code, _, err = light("test", "run", "--soft")
    assert code == 2
    assert INSTALL in err


@pytest.mark.slow
def test_the_wheel_installs_and_works_without_torch(tmp_path: Path) -> None:
    """Built, installed without extras into an environment of its own, and used there as a user would."""
    pip = [sys.executable, "-m", "pip", "--quiet"]
    run(tmp_path, *pip, "wheel", "--no-deps", "--wheel-dir", ".", ROOT)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "dlm/py.typed" in names
    assert "dlm/envs/programs/path.dlm" in names
    assert not any("bench" in name for name in names)
    run(tmp_path, sys.executable, "-m", "venv", "--without-pip", "env")
    python = tmp_path / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"
    run(tmp_path, *pip, "--python", python, "install", "--no-compile", "-c", ROOT / "constraints.txt", wheel)
    found = run(tmp_path, python, "-c", "import importlib.util; print(importlib.util.find_spec('torch'))")
    assert found.strip() == "None"

    def dlm(*arguments: object, code: int = 0) -> str:
        return run(tmp_path, python.with_name("dlm"), *arguments, code=code)

    assert "without gradients" in dlm("learn", "family/has-father", "--learner", "auto", "--out", "run")
    (tmp_path / "facts.pl").write_text(FACTS)
    assert "has_father(ann)" in dlm("run", "run", "facts.pl")
    assert "father(ann, bob)" in dlm("explain", "run", "facts.pl", "has_father(ann)")
    assert "has_father" in dlm("export", "run", "--to", "prolog")
    assert INSTALL in dlm("learn", "family/has-father", "--learner", "gradient", code=2)
    assert "pip install 'dlm[prove]'" in dlm("prove", "run", "--equals", "run", "--objects", 2, code=2)


def run(folder: Path, *command: object, code: int = 0) -> str:
    """What a command prints, standard error included."""
    environment = {name: value for name, value in ENVIRONMENT.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        list(map(str, command)), cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr
