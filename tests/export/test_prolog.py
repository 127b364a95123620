"""The Prolog export, as SWI-Prolog runs it."""

import subprocess
from pathlib import Path

import pytest

from dlm import Structure, evaluate, parse_program
from dlm.export.prolog import export_prolog, prolog_name
from export.judges import answers_swi, draw_cases, learned_cases, needs_swipl

FAMILY = "father(ann, bob).\nmother(bob, 'Cleo').\nobject(ann).\nobject(bob).\nobject('Cleo').\n"


@needs_swipl
def test_swipl_agrees_with_the_reference() -> None:
    cases = [*draw_cases(300), *learned_cases()]
    expected = [evaluate(program, structure)[program.target.name] for program, structure in cases]
    for case, found, right in zip(cases, answers_swi(cases), expected, strict=True):
        assert found == right, case


@needs_swipl
def test_one_case_by_hand() -> None:
    program = parse_program("t(x) :- ~red(x).")
    structure = Structure(("a", "b"), {"red": 1}, {"red": frozenset({(0,)})})
    assert answers_swi([(program, structure)]) == [frozenset({(1,)})]


@needs_swipl
@pytest.mark.parametrize("order", [("facts.pl", "program.pl"), ("program.pl", "facts.pl")])
def test_as_a_user_runs_it(tmp_path: Path, order: tuple[str, str]) -> None:
    program = parse_program("p(x, y) :- father(x, y) | mother(x, y). t(x, y) :- exists z: p(x, z) & p(z, y).")
    (tmp_path / "program.pl").write_text(export_prolog(program))
    (tmp_path / "facts.pl").write_text(FAMILY)
    goal = "forall(t(X, Y), (writeq(X-Y), nl))"
    done = subprocess.run(
        ["swipl", "-q", "-g", goal, "-t", "halt", *order], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("ann-'Cleo'\n", "")


def test_text() -> None:
    program = parse_program("t(x) :- exists y: edge(x, y) & (forall z != y: ~edge(x, z)).")
    assert export_prolog(program).splitlines() == [
        ":- encoding(utf8).",
        "% Run it: swipl FACTS.pl THIS.pl",
        "% The answers are those of t/1. They are kept; after changing facts call abolish_all_tables.",
        "% Facts: edge/2.",
        ":- dynamic(edge/2).",
        ":- table(t_1/2).",
        ":- table(t/1).",
        "",
        "t_1(X, Y) :- edge(X, Z), edge(X, Y), Z \\== Y.",
        "t(X) :- edge(X, Y), \\+ t_1(X, Y).",
    ]


def test_names() -> None:
    assert prolog_name("parent_of2") == "parent_of2"
    assert prolog_name("has edge") == "'has edge'"
    assert prolog_name("it's\n") == "'it\\'s\\xa\\'"
    assert prolog_name("Edge") == "'Edge'"
    assert (prolog_name("atom"), prolog_name("atom_")) == ("atom_", "atom__")


def test_a_name_of_prolog_is_explained() -> None:
    text = export_prolog(parse_program("t(x) :- atom(x)."))
    assert "% atom_ is 'atom' in the original; Prolog keeps that name for itself.\n" in text
    assert "t(X) :- atom_(X).\n" in text
