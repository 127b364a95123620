"""`dlm prove`."""

import signal
from pathlib import Path

import pytest

from cli.conftest import Command, Run, Start, one_object
from dlm import errors, evaluate, parse_program
from dlm.data.readers import read_facts

GOOD = "parent(x, y) :- father(x, y) | mother(x, y).\ng(x, y) :- exists z: parent(x, z) & parent(z, y).\n"
BAD = "g(x, y) :- exists z: father(x, z) & (father(z, y) | mother(z, y)).\n"
TASK = ("--equals", "family/is-grandparent", "--given", "family/is-grandparent")


def test_a_proof(dlm: Run, tmp_path: Path) -> None:
    (tmp_path / "good.dlm").write_text(GOOD)
    done = dlm("prove", "good.dlm", *TASK, "--objects", "5")
    assert (done.returncode, done.stderr) == (0, "")
    assert " 5 objects: equal " in done.stdout
    assert "Equal on all structures of up to 5 objects, given family/is-grandparent, in " in done.stdout
    assert done.stdout.endswith("It takes 5 objects for g to be true of anything.\n")


def test_a_counterexample_is_printed_and_saved(dlm: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.dlm").write_text(BAD)
    (tmp_path / "good.dlm").write_text(GOOD)
    done = dlm("prove", "bad.dlm", "--equals", "good.dlm", "--save", "world")
    assert done.returncode == 3
    world = read_facts(tmp_path / "world").structure()
    bad, good = (evaluate(parse_program(text), world)["g"] for text in (BAD, GOOD))
    assert bad != good
    facts = [line for line in done.stdout.splitlines() if line.startswith("  mother(") or line.startswith("  father(")]
    assert len(facts) == sum(len(world.relations[name]) for name in ("father", "mother")) > 0
    assert "PROGRAM  g(o0, o0) is false\nOTHER    g(o0, o0) is true\n" in done.stdout
    again = dlm("prove", "bad.dlm", "--equals", "good.dlm", "--save", "world")
    assert again.returncode == 2
    assert "--save wants a new or empty folder" in again.stderr


def test_as_json(dlm: Run, tmp_path: Path) -> None:
    (tmp_path / "a.dlm").write_text("t(x) :- red(x) & ~big(x).")
    (tmp_path / "b.dlm").write_text("u(y) :- red(y).")
    (tmp_path / "axioms").write_text("# Nothing is both.\nforall x: ~red(x) | ~big(x).\n")
    figures = one_object(dlm("prove", "a.dlm", "--equals", "b.dlm", "--json").stdout)
    assert len(figures.pop("seconds")) == 2
    assert figures == {
        "equal": False,
        "asked": 6,
        "objects": 0,
        "true_from": None,
        "stopped": None,
        "targets": ["t", "u"],
        "attributes": [],
        "counterexample": {"objects": ["o0"], "facts": ["big(o0)", "red(o0)"]},
        "differences": [{"arguments": ["o0"], "program": False, "other": True}],
    }
    proven = dlm("prove", "a.dlm", "--equals", "b.dlm", "--given", "axioms", "--json")
    assert proven.returncode == 0
    assert one_object(proven.stdout)["equal"] is True


def test_without_axioms_they_are_pointed_out(dlm: Run, tmp_path: Path) -> None:
    (tmp_path / "good.dlm").write_text(GOOD)
    done = dlm("prove", "good.dlm", "--equals", "family/is-grandparent")
    assert done.returncode == 3
    assert done.stdout.endswith("they may still be equal: --given family/is-grandparent\n")


def test_what_is_wrong_is_said(dlm: Run, tmp_path: Path) -> None:
    (tmp_path / "good.dlm").write_text(GOOD)
    (tmp_path / "axioms").write_text("forall x: father(x, x)")
    for arguments, message in (
        (("--equals", "family/is-grandparnt"), "there is no program file family/is-grandparnt"),
        (("--equals", "good.dlm", "--given", "axioms"), "axioms:1:23: expected '.'"),
        (("--equals", "good.dlm", "--given", "."), "cannot read .: "),
    ):
        done = dlm("prove", "good.dlm", *arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("error: ")
        assert message in done.stderr


def test_ctrl_c_says_what_was_proven(start: Start, tmp_path: Path) -> None:
    (tmp_path / "good.dlm").write_text(GOOD)
    process = start("prove", "good.dlm", *TASK, "--objects", "30")
    assert process.stdout is not None
    assert any("3 objects: equal" in line for line in process.stdout)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert "Stopped (interrupted): equal up to " in output
    assert (process.returncode, errors) == (3, "")


def test_a_missing_solver_is_said_before_anything_else(
    call: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "good.dlm").write_text(GOOD)
    monkeypatch.setattr(errors, "find_spec", lambda _: None)
    code, out, err = call("prove", "good.dlm", "--equals", "good.dlm")
    assert (code, out) == (2, "")
    assert "pip install 'dlm[prove]'" in err


def test_a_counterexample_with_comparisons_says_what_is_taken_for_possible(dlm: Run, tmp_path: Path) -> None:
    (tmp_path / "one.dlm").write_text("t(x) :- age(x) > 50.")
    (tmp_path / "two.dlm").write_text("t(x) :- ~(age(x) <= 50).")
    done = dlm("prove", "one.dlm", "--equals", "two.dlm")
    assert (done.returncode, done.stderr) == (3, "")
    assert "An object is taken to have no, one or several values of age." in done.stdout
