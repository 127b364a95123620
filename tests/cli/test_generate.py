"""`dlm generate`, and what is on disk after it."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from cli.conftest import Run, one_object
from dlm.cli import main
from dlm.data.facts import Facts
from dlm.data.readers import read_facts
from dlm.tasks import get_task
from dlm.tasks.sparse import draw_instance


def named(facts: Facts, predicate: str) -> set[tuple[int, ...]]:
    """The rows of a table by the names of objects, which are numbers; CSV makes text of them."""
    return {tuple(map(int, row)) for row in facts.objects[facts.relations[predicate]].tolist()}


def read_back(out: Path) -> tuple[Facts, set[tuple[int, ...]]]:
    alone = out.parent / "alone"
    alone.mkdir()
    (answers,) = out.glob("answers.*")
    answers.rename(alone / answers.name)
    return read_facts(out / "facts"), named(read_facts(alone), "answers")


@pytest.mark.parametrize("format", ["parquet", "csv"])
@pytest.mark.parametrize("name", ["family/is-uncle", "graph/adjacent-to-red"])
def test_what_is_written_is_what_was_drawn(name: str, format: str, dlm: Run, tmp_path: Path) -> None:  # noqa: A002
    edges = ("--edges", 60) if name.startswith("graph") else ()
    done = dlm("generate", name, "--objects", 50, *edges, "--seed", 3, "--format", format, "--out", "i", "--json")
    assert done.returncode == 0, done.stderr
    instance = draw_instance(name, 50, edges=60 if edges else None, seed=3)
    printed = one_object(done.stdout)
    written = json.loads((tmp_path / "i" / "instance.json").read_text())
    assert written == instance.summary() == {key: printed[key] for key in written}
    facts, answers = read_back(tmp_path / "i")
    assert facts.size == 50
    assert facts.arities == {**get_task(name).inputs, "objects": 1}
    for predicate, rows in instance.facts.relations.items():
        assert named(facts, predicate) == {tuple(row) for row in rows.tolist()}
    assert answers == {tuple(row) for row in instance.answers.tolist()}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["alone", "i"]


def test_answers_are_true_of_the_facts(dlm: Run, tmp_path: Path) -> None:
    done = dlm("generate", "family/is-grandparent", "--objects", 80, "--out", "i")
    assert done.returncode == 0, done.stderr
    assert "family/is-grandparent, 80 objects, seed 0" in done.stdout
    assert "i/facts/father.parquet" in done.stdout
    facts, answers = read_back(tmp_path / "i")
    assert np.array_equal(facts.objects, np.arange(80))
    expected = np.argwhere(get_task("family/is-grandparent").label(facts.worlds())[0])
    assert answers == {tuple(row) for row in expected.tolist()}


def test_an_empty_folder_is_filled(dlm: Run, tmp_path: Path) -> None:
    (tmp_path / "i").mkdir()
    assert dlm("generate", "graph/1-outdegree", "--objects", 9, "--out", "i").returncode == 0
    assert (tmp_path / "i" / "instance.json").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("family/is-uncel", "--objects", "9", "--out", "i"), "Did you mean 'family/is-uncle'"),
        (("family/is-uncle", "--objects", "9", "--out", "full"), "full is there already"),
        (("family/is-uncle", "--objects", "9", "--out", "file"), "file is there already"),
        (("family/is-uncle", "--objects", "9", "--out", "no/where"), "its parent folder is missing"),
        (("family/is-uncle", "--objects", "9", "--edges", "8", "--out", "i"), "has no edges"),
        (("graph/1-outdegree", "--objects", "9", "--edges", "7", "--out", "i"), "must be even"),
        (("graph/1-outdegree", "--objects", "10000000", "--out", "i"), "give a smaller number with --edges"),
    ],
)
def test_bad_input(
    arguments: tuple[str, ...],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "precious").write_text("")
    (tmp_path / "file").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["dlm", "generate", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    out, err = capsys.readouterr()
    assert ended.value.code == 2
    assert message in err
    assert out == ""
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "full", "precious"]


def test_nothing_is_left_of_what_was_not_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    instance = draw_instance("family/has-father", 30)

    def interrupted(*_: object) -> None:
        assert list(tmp_path.glob(".i.*/facts/father.parquet"))
        raise KeyboardInterrupt

    monkeypatch.setattr("dlm.tasks.sparse.write_table", interrupted)
    with pytest.raises(KeyboardInterrupt):
        instance.write(tmp_path / "i")
    assert list(tmp_path.iterdir()) == []
