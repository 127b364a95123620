"""`dlm inspect` and `dlm init`."""

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dlm.data.sources.inspection import inspect_data

Call = Callable[..., Any]


@pytest.fixture
def movies(tmp_path: Path) -> Path:
    folder = tmp_path / "movies"
    folder.mkdir()
    (folder / "people.csv").write_text("id,name,born\n1,Ann Lee,1937-11-30\n2,Bob,\n")
    (folder / "films.csv").write_text("id,title,genre\n1,Alien,horror\n2,Aliens,horror\n3,Brazil,\n")
    (folder / "directed.csv").write_text("person_id,film_id\n1,1\n1,2\n2,3\n2,3\n")
    (folder / "hit.csv").write_text("film_id,label\n1,1\n3,0\n")
    return folder


def test_inspect_says_what_was_read(dlm: Call, movies: Path) -> None:
    said = dlm("inspect", movies)
    assert said.returncode == 0
    for line in (
        "directed(person, film)  3",
        "born(person)  1        1937-11-30  1937-11-30",
        "hit(film)  1     1      given      0",
        "note: empty cells are no facts: films.genre 1, people.born 1",
        "note: directed: 1 repeated fact read once",
    ):
        assert line in said.stdout, line
    found = json.loads(dlm("inspect", movies, "--json").stdout)
    assert {one["type"]: one["objects"] for one in found["types"]} == {"person": 2, "film": 3, "genre": 1}
    assert found["examples"]["true"] == 1
    assert found["worlds"]["kind"] == "atoms"
    assert found["bytes"] > 0


def test_an_inspection_prints_itself(movies: Path) -> None:
    lines = str(inspect_data(movies)).splitlines()
    assert "directed(person, film): 3 facts" in lines
    assert "examples of hit(film): 1 true, 1 false" in lines
    assert "note: directed: 1 repeated fact read once" in lines


def test_inspect_without_a_target_says_what_could_be_learned(dlm: Call, movies: Path) -> None:
    (movies / "hit.csv").unlink()
    said = dlm("inspect", movies)
    assert "say what to learn: --target directed, films.genre" in said.stdout
    closed = json.loads(dlm("inspect", movies, "--target", "directed", "--json").stdout)
    assert closed["examples"] == {
        **{"target": "directed", "types": ["person", "film"], "true": 3, "false": 3, "negatives": "closed", "test": 0}
    }


def test_init_writes_a_description_that_means_the_same(dlm: Call, movies: Path) -> None:
    before = json.loads(dlm("inspect", movies, "--json").stdout)
    assert dlm("init", movies).returncode == 0
    said = tomllib.loads((movies / "dlm.toml").read_text())
    assert said["keys"] == {"films": "id", "people": "id"}
    assert said["types"]["directed.person_id"] == "person"
    assert said["target"]["name"] == "hit"
    assert json.loads(dlm("inspect", movies, "--json").stdout) == before
    again = dlm("init", movies)
    assert (again.returncode, again.stdout) == (2, "")
    assert "is there already; edit it, or write it anew with --force" in again.stderr
    assert dlm("init", movies, "--force").returncode == 0


def test_init_of_a_popper_folder_and_of_triples(dlm: Call, tmp_path: Path) -> None:
    folder = tmp_path / "popper"
    folder.mkdir()
    (folder / "bk.pl").write_text("edge(a, b).")
    (folder / "exs.pl").write_text("pos(t(a)). neg(t(b)).")
    assert dlm("init", folder).returncode == 0
    assert tomllib.loads((folder / "dlm.toml").read_text())["target"] == {"name": "t"}
    (tmp_path / "graph.tsv").write_text("a\tknows\tb\nb\tlikes\tc\n")
    assert dlm("init", tmp_path / "graph.tsv").returncode == 0
    assert "likes(object, object)  1" in dlm("inspect", tmp_path / "dlm.toml").stdout


def test_run_explain_and_check_read_the_same_facts(dlm: Call, movies: Path, tmp_path: Path) -> None:
    (tmp_path / "p.dlm").write_text("old(x) :- exists y: directed(y, x) & exists z: genre(x, z).")
    run = dlm("run", "p.dlm", movies)
    assert run.stdout == "old(Alien)\nold(Aliens)\n"
    assert "note: empty cells are no facts" in run.stderr
    explained = dlm("explain", "p.dlm", movies, "old(3)").stdout
    assert "old(Brazil) is false" in explained
    assert "add genre(Brazil, horror)" in explained
    checked = dlm("check", "p.dlm", movies, movies / "hit.csv", "--json")
    assert json.loads(checked.stdout)["right"]


def test_nothing_there(dlm: Call, tmp_path: Path) -> None:
    for verb in ("inspect", "init"):
        done = dlm(verb, tmp_path / "absent")
        assert done.returncode == 2
        assert "there is nothing at" in done.stderr
