"""`dlm run`: answers on standard output, in files and as JSON, and what it says of bad input."""

import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from cli.conftest import Start, one_object
from dlm.cli import main
from dlm.data.readers import read_facts

GRANDPARENT = (
    "parent(x, y) :- father(x, y) | mother(x, y).\ngrandparent(x, y) :- exists z: parent(x, z) & parent(z, y).\n"
)


@pytest.fixture(autouse=True)
def family(tmp_path: Path) -> Path:
    folder = tmp_path / "family"
    folder.mkdir()
    (folder / "father.csv").write_text("child,father\ncleo,ben\n")
    (folder / "mother.csv").write_text("child,mother\nben,Ada L.\neve,cleo\n")
    (tmp_path / "grandparent.dlm").write_text(GRANDPARENT)
    return folder


@dataclass
class Done:
    returncode: object
    stdout: str
    stderr: str


Call = Callable[..., Done]


@pytest.fixture
def dlm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """Run `dlm` in this process, which is faster than in another."""

    def call(*arguments: object) -> Done:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["dlm", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        return Done(ended.value.code, *capsys.readouterr())

    return call


def test_answers_are_atoms_and_the_rest_is_said_beside(dlm: Call) -> None:
    done = dlm("run", "grandparent.dlm", "family")
    assert done.returncode == 0
    assert done.stdout == "grandparent(cleo, 'Ada L.')\ngrandparent(eve, ben)\n"
    assert done.stderr.startswith("2 answers from 4 objects in ")
    assert "; engine bits: the truth tables of 4 objects are small" in done.stderr


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_answers_in_a_file_are_facts(form: str, dlm: Call, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    done = dlm("run", "grandparent.dlm", "family", "--out", f"out/grandparent.{form}", "--engine", "bits")
    assert (done.returncode, done.stdout) == (0, "")
    assert f"written to out/grandparent.{form}; " in done.stderr
    assert "engine bits: asked for" in done.stderr
    read = read_facts(tmp_path / "out")
    assert sorted(read.objects[read.relations["grandparent"]].tolist()) == [["cleo", "Ada L."], ["eve", "ben"]]
    assert [path.name for path in (tmp_path / "out").iterdir()] == [f"grandparent.{form}"]


def test_every_engine_writes_the_same_in_the_same_order(dlm: Call, tmp_path: Path) -> None:
    pairs = "".join(f"{(7 * n) % 101},{(n * n) % 97}\n" for n in range(300))
    (tmp_path / "family" / "father.csv").write_text("child,father\n" + pairs)
    seen = []
    for engine in ("bits", "duckdb"):
        choice = ("--engine", engine, "--duplicates", "drop")
        printed = dlm("run", "grandparent.dlm", "family", *choice).stdout
        for form in ("csv", "parquet"):
            assert dlm("run", "grandparent.dlm", "family", *choice, "--out", f"answers.{form}").returncode == 0
        seen.append((printed, *((tmp_path / f"answers.{form}").read_bytes() for form in ("csv", "parquet"))))
    assert printed.count("\n") > 300
    assert seen[0] == seen[1]


def test_json_is_one_object(dlm: Call) -> None:
    done = dlm("run", "grandparent.dlm", "family", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    figures = one_object(done.stdout)
    assert figures["rows"] == [["cleo", "Ada L."], ["eve", "ben"]]
    assert {
        name: figures[name] for name in ("target", "parameters", "engine", "objects", "facts", "answers", "out")
    } == {
        "target": "grandparent",
        "parameters": ["x", "y"],
        "engine": "bits",
        "objects": 4,
        "facts": 3,
        "answers": 2,
        "out": None,
    }
    written = one_object(dlm("run", "grandparent.dlm", "family", "--json", "--out", "a.csv").stdout)
    assert (written["out"], written["answers"], "rows" in written) == ("a.csv", 2, False)


def test_a_target_without_arguments(dlm: Call, tmp_path: Path) -> None:
    (tmp_path / "some.dlm").write_text("some() :- exists x: exists y: father(x, y).")
    assert dlm("run", "some.dlm", "family").stdout == "some()\n"
    (tmp_path / "none.dlm").write_text("none() :- exists x: father(x, x).")
    assert dlm("run", "none.dlm", "family").stdout == ""


def test_the_best_program_of_a_run_folder(dlm: Call, learned: tuple[Path, object]) -> None:
    assert dlm("run", learned[0], "family").stdout == "has_father(cleo)\n"


BAD = {
    "no facts": (("grandparent.dlm", "nowhere"), "there are no facts at nowhere"),
    "no program": (("nowhere", "family"), "cannot read nowhere"),
    "a missing table": (("uncle.dlm", "family"), "reads 'brother', which the facts lack"),
    "a near miss": (("near.dlm", "family"), "Did you mean 'father'"),
    "another arity": (
        ("wide.dlm", "family"),
        "'father' has 2 columns, the program reads it with 3 columns",
    ),
    "a row twice": (("grandparent.dlm", "twice"), "--duplicates drop"),
    "a rule among facts": (("grandparent.dlm", "rule.pl"), "line 1: this is a rule"),
    "an undefined word": (("cycle.dlm", "family"), "which is not defined before"),
    "no such form": (("grandparent.dlm", "family", "--out", "a.xlsx"), ".csv or .parquet"),
    "no such folder": (("grandparent.dlm", "family", "--out", "no/a.csv"), "its folder is missing"),
    "no such engine": (("grandparent.dlm", "family", "--engine", "magic"), "Usage: dlm run"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case: str, dlm: Call, tmp_path: Path) -> None:
    (tmp_path / "uncle.dlm").write_text("t(x) :- exists y: brother(x, y).")
    (tmp_path / "near.dlm").write_text("t(x) :- exists y: fater(x, y).")
    (tmp_path / "wide.dlm").write_text("t(x) :- exists y: father(x, y, y).")
    (tmp_path / "cycle.dlm").write_text("p(x) :- q(x).\nq(x) :- p(x).")
    (tmp_path / "rule.pl").write_text("father(X, Y) :- parent(X, Y).".lower())
    (tmp_path / "twice").mkdir()
    (tmp_path / "twice" / "father.csv").write_text("x,y\na,b\na,b\n")
    arguments, message = BAD[case]
    done = dlm("run", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_ways_out_of_bad_input(dlm: Call, family: Path) -> None:
    (family / "mother.csv").unlink()
    (family / "father.csv").write_text("x,y\na,b\nb,c\na,b\n")
    done = dlm("run", "grandparent.dlm", "family", "--missing", "empty", "--duplicates", "drop")
    assert (done.returncode, done.stdout) == (0, "grandparent(a, c)\n")


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_ctrl_c_leaves_no_half_written_file(form: str, start: Start, tmp_path: Path) -> None:
    (tmp_path / "many").mkdir()
    (tmp_path / "many" / "objects.csv").write_text("x\n" + "".join(f"object{number}\n" for number in range(5000)))
    (tmp_path / "pairs.dlm").write_text("t(x, y) :- x != y.")
    (tmp_path / "out").mkdir()
    process = start("run", "pairs.dlm", "many", "--out", f"out/a.{form}", "--engine", "bits")
    end = time.monotonic() + 60
    while not any(path.stat().st_size for path in (tmp_path / "out").iterdir()):
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == f"interrupted; out/a.{form} was not written\n"
    assert list((tmp_path / "out").iterdir()) == []
