"""`dlm check`, and the same from Python."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dlm as library
from cli.conftest import Command, Run, one_object
from dlm.data.examples import Labels
from dlm.data.facts import Facts
from dlm.data.structure import Structure
from dlm.errors import DataError
from dlm.logic import Program, evaluate
from strategies import programs_with_structures

POPPER = Path("/work/shared/data/popper")

PROGRAM = "has_parent(x) :- exists y: mother(y, x)."
FACTS = "mother(ann, amy). mother(amy, amelia). father(steve, amy). father(gavin, gil)."


@pytest.fixture
def family(tmp_path: Path) -> Path:
    (tmp_path / "family.dlm").write_text(PROGRAM)
    (tmp_path / "family.pl").write_text(FACTS)
    (tmp_path / "answers.csv").write_text("x\namy\namelia\ngil\n")
    (tmp_path / "right.csv").write_text("x\namy\namelia\n")
    return tmp_path


def test_a_wrong_program(dlm: Run, family: Path) -> None:
    done = dlm("check", "family.dlm", family / "family.pl", "answers.csv")
    assert (done.returncode, done.stderr) == (3, "")
    assert "program says true                2                0\n" in done.stdout
    assert "program says false               1                3\n" in done.stdout
    assert "accuracy 83.33%, precision 100.00%, recall 66.67%" in done.stdout
    assert "has_parent(gil) should be true, but\nhas_parent(gil) is false, because\n" in done.stdout


def test_a_right_program(dlm: Run, family: Path) -> None:
    done = dlm("check", "family.dlm", family / "family.pl", "right.csv", "--json")
    assert done.returncode == 0
    assert one_object(done.stdout) == {
        "target": "has_parent",
        "right": True,
        "true_positives": 2,
        "false_positives": 0,
        "false_negatives": 0,
        "true_negatives": 4,
        "accuracy": 1.0,
        "precision": 1.0,
        "recall": 1.0,
        "engine": "bits",
        "wrong": [],
    }


def test_a_predicate_in_the_middle_of_a_program(call: Command, family: Path) -> None:
    text = "parent(x, y) :- mother(y, x) | father(y, x).\norphan(x) :- ~(exists y: parent(x, y)) & sad(x).\n"
    (family / "two.dlm").write_text(text)
    (family / "parents.csv").write_text("x,y\namy,ann\namelia,amy\namy,steve\ngil,gavin\n")
    arguments = ("check", "two.dlm", family / "family.pl", "parents.csv")
    code, out, err = call(*arguments, "--target", "parent", "--json")  # of sad/1 the facts know nothing
    assert (code, err) == (0, "")
    assert (one_object(out)["target"], one_object(out)["true_positives"]) == ("parent", 4)
    assert library.check(family / "two.dlm", family / "family.pl", family / "parents.csv", target="parent").right
    assert "has 2 columns, 'orphan' takes 1" in call(*arguments)[2]
    message = "the program does not define 'parents'. Did you mean 'parent'? It defines parent, orphan."
    assert message in call(*arguments, "--target", "parents")[2]


def test_only_listed_atoms_count(family: Path) -> None:
    (family / "exs.pl").write_text("pos(has_parent(amy)).\npos(has_parent(gil)). % both\nneg(has_parent(amelia)).\n")
    found = library.check(library.parse_program(PROGRAM), family / "family.pl", family / "exs.pl", show=1)
    figures = found.true_positives, found.false_positives, found.false_negatives, found.true_negatives
    assert figures == (1, 1, 1, 0)
    assert [wrong.atom.names for wrong in found.wrong] == [("gil",)]
    assert "1 more wrong answers are not shown" in str(found)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("e.csv", "x,y\namy,gil\n", "has 2 columns, 'has_parent' takes 1"),
        ("e.csv", "x\nnobody\n", "names 'nobody', an object that the facts lack"),
        ("e.pl", "pos(other(amy)).", "examples of other/1, the program's target is has_parent/1"),
        ("e.pl", "has_parent(amy).", "expected an example such as pos"),
        ("e.pl", "pos(has_parent(amy)). neg(has_parent(amy)).", "both as pos and as neg"),
        ("e.pl", "pos(has_parent(amy).", "expected ',' or '\\)'"),
        ("e.pl", "% nothing", "has no example"),
        ("e.txt", "amy", "cannot tell what examples"),
        ("none.csv", None, "there are no examples at"),
    ],
)
def test_bad_examples(family: Path, name: str, text: str | None, message: str) -> None:
    if text is not None:
        (family / name).write_text(text)
    with pytest.raises(DataError, match=message):
        library.check(library.parse_program(PROGRAM), family / "family.pl", family / name)


@given(programs_with_structures(max_size=3, max_arity=2), st.data())
@settings(max_examples=40, deadline=None)
def test_the_table_counts_every_atom(case: tuple[Program, Structure], data: st.DataObject) -> None:
    program, structure = case
    name, arity = program.target.name, program.target.arity
    said = evaluate(program, structure)[name]
    everything = list(product(range(structure.size), repeat=arity))
    true = set(data.draw(st.lists(st.sampled_from(everything), unique=True))) if everything else set()
    labels = Labels(np.array(sorted(true), dtype=np.int64).reshape(len(true), arity))
    found = library.check(program, Facts.from_structure(structure), labels, show=100)
    assert found.true_positives == len(said & true)
    assert found.false_positives == len(said - true)
    assert found.false_negatives == len(true - said)
    assert found.true_negatives == len(everything) - len(said | true)
    names = {tuple(structure.objects[number] for number in values): values for values in everything}
    assert {(names[wrong.atom.names], wrong.value) for wrong in found.wrong} == {
        (values, values in said) for values in said ^ true
    }


@pytest.mark.skipif(not POPPER.exists(), reason="the Popper problems are not here")
def test_popper_problems() -> None:
    zendo = library.parse_program(
        "zendo(s) :- (exists p: piece(s, p) & green(p) & (exists q: piece(s, q) & lhs(q) & (exists c: coord1(q, c) & "
        "coord1(p, c)))) | ((exists p: piece(s, p) & red(p)) & (exists p: piece(s, p) & green(p)) & "
        "(exists p: piece(s, p) & blue(p)))."
    )
    facts = library.read_facts(POPPER / "zendo2" / "bk.pl", duplicates="drop")
    found = library.check(zendo, facts, POPPER / "zendo2" / "exs.pl")
    assert (found.right, found.true_positives > 0, found.true_negatives > 0) == (True, True, True)
    mothers = library.parse_program("grandparent(x, y) :- exists z: mother(x, z) & mother(z, y).")
    found = library.check(mothers, POPPER / "kinship-pi" / "bk.pl", POPPER / "kinship-pi" / "exs.pl", show=2)
    assert (found.true_positives, found.false_negatives, found.true_negatives, len(found.wrong)) == (1, 4, 1, 2)
