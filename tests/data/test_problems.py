"""`dlm.Problem`: facts and examples that are in Python already."""

from pathlib import Path
from typing import Any

import networkx as nx
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dlm
from dlm.errors import DataError, SettingsError

PEOPLE = {"id": [1, 2, 3], "name": ["Ann", "Bob", "Cid"], "age": [30.0, None, 50.0]}
MOVIES = {"id": [1, 2], "title": ["Alien", "Brazil"], "year": [1979, 1985]}
DIRECTED = {"person_id": [1, 2], "movie_id": [1, 2]}


def labelled(problem: dlm.DataProblem) -> dict[tuple[str, ...], bool]:
    names = problem.facts.objects[problem.labels.rows].tolist()
    return dict(zip(map(tuple, names), problem.labels.truth.tolist(), strict=True))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_of_every_library(frame: Any) -> None:
    facts = {"people": frame(PEOPLE), "movies": frame(MOVIES), "directed": frame(DIRECTED)}
    problem = dlm.Problem(facts, frame({"movie_id": [1, 2], "label": [1, 0]}), target="hit")
    assert labelled(problem) == {("Alien",): True, ("Brazil",): False}
    assert problem.facts.attributes["age"].values.tolist() == [30, 50]
    assert problem.facts.arities == {"directed": 2, "person": 1, "movie": 1}
    program = dlm.parse_program("hit(x) :- exists y: directed(y, x).")
    assert dlm.run(program, facts).names() == [("Alien",), ("Brazil",)]


@pytest.mark.parametrize(
    "examples",
    [["Alien"], [("Alien",)], {"Alien": True, "Brazil": False}, {"pos": ["Alien"], "neg": ["Brazil"]}],
)
def test_examples_in_every_form(examples: Any) -> None:
    facts = {"people": pd.DataFrame(PEOPLE), "movies": pd.DataFrame(MOVIES), "directed": pd.DataFrame(DIRECTED)}
    assert labelled(dlm.Problem(facts, examples, target="hit")) == {("Alien",): True, ("Brazil",): False}


def test_keys_that_could_be_of_two_types_must_be_said() -> None:
    facts = {"people": pd.DataFrame(PEOPLE), "movies": pd.DataFrame(MOVIES), "directed": pd.DataFrame(DIRECTED)}
    with pytest.raises(DataError, match=r"type person or movie; say which with types="):
        dlm.Problem(facts, [1], target="hit")
    assert labelled(dlm.Problem(facts, [1], target="hit", types={"hit": "movie"}))[("Alien",)]


def test_tuples_graphs_facts_and_structures() -> None:
    edges = [("a", "b"), ("b", "c")]
    problem = dlm.Problem({"edge": edges}, {"pos": [("a", "c")], "neg": [("a", "b")]}, target="path")
    assert problem.facts.typing is None
    assert labelled(problem) == {("a", "c"): True, ("a", "b"): False}
    again = dlm.Problem(dlm.Facts.from_tuples({"edge": edges}), [("a", "c")], target="path")
    assert len(labelled(again)) == 9
    graph = nx.Graph()
    graph.add_node("a", colour="red")
    graph.add_edges_from(edges)
    problem = dlm.Problem(graph, ["a", "c"], target="end")
    assert len(problem.facts.relations["edge"]) == 4
    assert labelled(problem) == {("a",): True, ("c",): True, ("b",): False}
    typed = dlm.Problem(problem.facts, ["a"], target="first")
    assert typed.facts.arities == problem.facts.arities
    assert dlm.Problem({"edge": edges}, target="edge").facts.arities == {}


def test_options_and_test_sets() -> None:
    facts = {"edge": [(f"a{n}", f"b{n}") for n in range(10)]}
    examples = {f"a{n}": n < 5 for n in range(10)}
    problem = dlm.Problem(facts, examples, target="t", split=0.2, negation=False, depth=1, leave_out=["edge"])
    assert problem.test is not None
    assert problem.test.count + problem.labels.count == 10
    assert (problem.bias.negation, problem.bias.depth, problem.bias.leave_out) == (False, 1, ("edge",))
    problem = dlm.Problem(facts, examples, target="t", test={"b1": True})
    assert problem.test is not None
    assert problem.facts.objects[problem.test.rows].tolist() == [["b1"]]
    with pytest.raises(SettingsError, match=r"no predicate 'egde' to use or leave out\. Did you mean 'edge'"):
        dlm.Problem(facts, examples, target="t", use=["egde"])


def test_a_path_is_read(tmp_path: Path) -> None:
    (tmp_path / "bk.pl").write_text("edge(a, b).")
    (tmp_path / "exs.pl").write_text("pos(t(a)). neg(t(b)).")
    assert labelled(dlm.Problem(tmp_path)) == {("a",): True, ("b",): False}


@pytest.mark.parametrize(
    ("facts", "examples", "message"),
    [
        (3, None, "facts are a path, a mapping .* Got int instead"),
        ({"edge": [("a", "b")]}, "a", "examples are a data frame, .* Got str instead"),
        ({"edge": [("a", "b")]}, [("a",), ("a", "b")], "examples are tuples of one length"),
    ],
)
def test_what_is_neither(facts: Any, examples: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        dlm.Problem(facts, examples, target="t")
