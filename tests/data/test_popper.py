"""Popper's folders become problems: types, values, keys, notes."""

from pathlib import Path

import numpy as np
import pytest

from dlm.data.problem import DataProblem
from dlm.data.sources.reading import read_problem
from dlm.errors import DataError, SettingsError

SETS = Path(__file__).parents[2] / "../shared/data/popper"

BIAS = """
head_pred(wins,2).
body_pred(score,2).   % comment
body_pred(beats,2).
body_pred(P,1) :- constant(P,_).
type(P,(T,)) :- constant(P,T).
constant(c_rock, move).
type(wins,(ex,int)).
type(score,(ex,int)).
type(beats,(move,move)).
direction(wins,(in,out)).
:- clause(C), #count{V : var_type(C,V,ex)} != 1.
:- body_literal(C,P,_,_), P = q.
"""
BK = "score(1,2).\nscore(2,3).\nscore(1,2).\nbeats(rock, scissors).\nbeats(paper, wrap(rock,'B c')).\nc_rock(rock).\n"
EXAMPLES = "pos(wins(1,2)).\npos(wins(2,3)).\nneg(wins(1,3)).\nneg(wins(2,4)).\n"


def folder(path: Path, bk: str = BK, exs: str = EXAMPLES, bias: str | None = BIAS) -> Path:
    (path / "bk.pl").write_text(bk)
    (path / "exs.pl").write_text(exs)
    if bias is not None:
        (path / "bias.pl").write_text(bias)
    return path


def names(problem: DataProblem, relation: str) -> set[tuple[str, ...]]:
    return {tuple(row) for row in problem.facts.objects[problem.facts.relations[relation]].tolist()}


def test_a_folder_becomes_typed_facts_and_labelled_atoms(tmp_path: Path) -> None:
    problem = read_problem(folder(tmp_path))
    typing = problem.facts.typing
    assert typing is not None
    assert set(typing.names) == {"ex", "int", "move"}
    ex_and_int = [typing.names[typing.of[n]] for n, name in enumerate(problem.facts.objects) if name == "2"]
    assert sorted(ex_and_int) == ["ex", "int"], "example 2 and the number 2 are different"
    assert names(problem, "beats") == {("rock", "scissors"), ("paper", "wrap(rock,B c)")}
    assert names(problem, "ex") == {("1",), ("2",)}
    assert {typing.names[number] for number in typing.value_types} == {"int"}
    assert "int" not in problem.facts.relations
    assert problem.facts.attributes["score"].values.tolist() == [2, 3]
    assert problem.key == 0
    assert set(problem.bias.use) == {"score", "beats", "c_rock", "ex", "move"}
    assert problem.labels.truth.tolist() == [True, True, False, False]
    assert problem.facts.objects[problem.labels.rows[3]].tolist() == ["2", "4"]
    assert problem.negatives == "given"


def test_what_was_repeated_or_passed_over_is_noted(tmp_path: Path) -> None:
    notes = "\n".join(read_problem(folder(tmp_path)).notes)
    assert "score: 1 repeated fact read once" in notes
    assert "not understood in bias.pl" in notes
    assert "body_literal" in notes
    assert "var_type" not in notes


def test_without_types_all_objects_are_alike(tmp_path: Path) -> None:
    problem = read_problem(folder(tmp_path, bias="head_pred(wins,2).\nbody_pred(score,2)."))
    assert problem.facts.typing is None
    assert problem.bias.use == ("score",)
    assert read_problem(folder(tmp_path, bias=None)).labels.count == 4


def test_without_negatives_the_rest_is_false(tmp_path: Path) -> None:
    problem = read_problem(folder(tmp_path, exs="pos(wins(1,2)).\npos(wins(2,3))."))
    assert problem.negatives == "closed"
    assert problem.labels.count == 2 * 2, "two examples and two numbers"
    assert any("all 2 other atoms are taken to be false" in note for note in problem.notes)


def test_too_few_negatives_are_noted_with_what_closed_would_mean(tmp_path: Path) -> None:
    exs = "".join(f"pos(t(a{n})).\n" for n in range(5)) + "neg(t(b)).\n"
    problem = read_problem(folder(tmp_path, bk="".join(f"p(c{n}).\n" for n in range(4)), exs=exs, bias=None))
    assert any("5 positives and only 1 negative" in note and "5 negatives" in note for note in problem.notes)
    closed = read_problem(tmp_path, negatives="closed")
    assert (closed.labels.truth.sum(), closed.labels.count) == (5, 10)


@pytest.mark.parametrize(
    ("bk", "message"),
    [
        (
            "p(a).\nq(X) :- p(X).",
            r"bk.pl, line 2: expected a constant .* the variable 'X'\n  q\(X\) :- p\(X\).\n    \^",
        ),
        ("p(a).\nq(a) :- p(a).", r"bk.pl, line 2: this is a rule for 'q'.*\n  q\(a\) :- p\(a\).\n       \^"),
        ("p([a,b]).", r"bk.pl, line 1: expected a constant.*a list is no constant.*\n  p\(\[a,b\]\).\n    \^"),
    ],
)
def test_rules_and_lists_are_refused_with_the_place(tmp_path: Path, bk: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_problem(folder(tmp_path, bk=bk))


def test_a_wrong_bias_is_refused_with_the_place(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"bias.pl, line 1: expected something such as body_pred\(edge,2\)"):
        read_problem(folder(tmp_path, bias="body_pred(score,two)."))
    with pytest.raises(DataError, match=r"bias.pl, line 2: this statement has no '.'"):
        read_problem(folder(tmp_path, bias="max_vars(3).\nbody_pred(score,2)"))
    with pytest.raises(DataError, match="gives score 1 types"):
        read_problem(folder(tmp_path, bias="type(score,(ex,))."))


def test_several_targets_need_a_choice(tmp_path: Path) -> None:
    folder(tmp_path, exs="pos(wins(1,2)).\nneg(loses(1)).\npos(loses(2)).", bias=None)
    with pytest.raises(SettingsError, match="examples of wins, loses: say which with --target"):
        read_problem(tmp_path)
    assert read_problem(tmp_path, target="loses").labels.count == 2
    with pytest.raises(SettingsError, match=r"no example of 'lose'\. Did you mean 'loses'"):
        read_problem(tmp_path, target="lose")


@pytest.mark.parametrize(
    ("name", "true", "false", "key"),
    [
        ("kinship-pi", 5, 1, None),
        ("trains1", 394, 606, 0),
        ("zendo2", 100, 100, 0),
        ("iggp-minimal-decay-next-value", 8, 46, 0),
        ("iggp-buttons-goal", 22, 22, 0),
        ("iggp-rps-next-score", 108, 356, 0),
        ("imdb3", 4075, 117726, None),
        ("noisy-alzheimer_toxic", 354, 354, None),
    ],
)
def test_poppers_own_sets(name: str, true: int, false: int, key: int | None) -> None:
    if not SETS.is_dir():
        pytest.skip(f"Popper's sets are not at {SETS}")
    problem = read_problem(SETS / name)
    assert (int(problem.labels.truth.sum()), int((~problem.labels.truth).sum())) == (true, false)
    assert problem.key == key
    typing = problem.facts.typing
    if typing is not None:
        for relation, rows in problem.facts.relations.items():
            assert (typing.of[rows] == np.array(typing.signatures[relation])).all(), relation
