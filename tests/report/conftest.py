"""Results to look at, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

import dlm
from dlm.learning.rules.result import DataResult
from dlm.policies.policy import Policy


@pytest.fixture(scope="session")
def data_run(tmp_path_factory: pytest.TempPathFactory) -> DataResult:
    """Rules about people, from tables of one's own."""
    folder = tmp_path_factory.mktemp("people")
    people = [(f"p{i}", 20 + 5 * i, "red" if i % 3 else "blue") for i in range(12)]
    (folder / "person.csv").write_text("id,age,colour\n" + "".join(f"{p},{a},{c}\n" for p, a, c in people))
    (folder / "knows.csv").write_text("person,other\n" + "".join(f"p{i},p{(i + 1) % 12}\n" for i in range(12)))
    happy = [p for p, age, colour in people if age > 50 or colour == "blue"]
    lines = "".join(f"{p},{'yes' if p in happy else 'no'}\n" for p, _, _ in people)
    (folder / "happy.csv").write_text("person,label\n" + lines)
    result = dlm.learn(folder, target="happy", out=folder / "run", progress=False)
    assert isinstance(result, DataResult)
    return result


@pytest.fixture(scope="session")
def policy_run(tmp_path_factory: pytest.TempPathFactory) -> Policy:
    out = tmp_path_factory.mktemp("policies") / "run"
    result = dlm.learn("rl/unstack", learner="search", out=out, progress=False)
    assert isinstance(result, Policy)
    return result


@pytest.fixture(scope="session")
def task_run(tmp_path_factory: pytest.TempPathFactory) -> dlm.Result:
    out = tmp_path_factory.mktemp("tasks") / "run"
    result = dlm.learn("family/has-father", learner="gradient", out=out, progress=False)
    assert isinstance(result, dlm.Result)
    return result


@pytest.fixture
def family(tmp_path: Path) -> Path:
    """Facts of a small family."""
    folder = tmp_path / "family"
    folder.mkdir()
    (folder / "father.csv").write_text("child,parent\nCleo,Ben\nDan,Ben\nEve,Dan\n")
    (folder / "mother.csv").write_text("child,parent\nBen,Ada\n")
    return folder
