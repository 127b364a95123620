"""Tables with keys become types, relations and attributes; the target is taken out of them."""

from pathlib import Path

import duckdb
import numpy as np
import pytest

from dlm.data.facts import Facts
from dlm.data.grouping import worlds_of
from dlm.data.readers import read_facts
from dlm.data.readers.reading import read_noted_facts
from dlm.data.sources.reading import read_problem
from dlm.errors import DataError, SettingsError

MOVIES = {
    "people.csv": (
        "id,name,born,gender\n1,Ridley Scott,1937-11-30,m\n2,Sigourney Weaver,1949-10-08,f\n3,Tom Skerritt,,m\n"
        "4,James Cameron,1954-08-16,m\n"
    ),
    "movies.csv": (
        "id,title,year,genre,sequel,rating\n1,Alien,1979,horror,false,8.5\n2,Aliens,1986,action,true,8.4\n"
        '3,"Blade Runner, final",1982,,false,8.1\n'
    ),
    "directed.csv": "person_id,movie_id\n1,1\n4,2\n1,3\n1,3\n",
    "acted.csv": "person_id,movie_id,billing\n2,1,1\n2,2,1\n3,1,2\n",
    "hit.csv": "movie_id,label\n1,1\n2,1\n3,0\n",
}


def write(folder: Path, files: dict[str, str] = MOVIES, **changes: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in (files | {f"{name}.csv": text for name, text in changes.items()}).items():
        (folder / name).write_text(text)
    return folder


def tuples(facts: Facts, relation: str) -> set[tuple[str, ...]]:
    return {tuple(map(str, row)) for row in facts.objects[facts.relations[relation]].tolist()}


def signature(facts: Facts, relation: str) -> tuple[str, ...]:
    assert facts.typing is not None
    return tuple(facts.typing.names[number] for number in facts.typing.signatures[relation])


def test_a_folder_of_wide_tables(tmp_path: Path) -> None:
    facts, notes = read_noted_facts(write(tmp_path))
    assert tuples(facts, "directed") == {
        ("Ridley Scott", "Alien"),
        ("James Cameron", "Aliens"),
        ("Ridley Scott", "Blade Runner, final"),
    }
    assert signature(facts, "directed") == ("person", "movie")
    assert tuples(facts, "genre") == {("Alien", "horror"), ("Aliens", "action")}
    assert tuples(facts, "sequel") == {("Aliens",)}
    assert len(facts.relations["person"]) == 4
    assert facts.typing is not None
    assert {facts.typing.names[number] for number in facts.typing.value_types} >= {"genre", "gender"}
    assert "genre" in facts.relations
    assert signature(facts, "genre") == ("movie", "genre")
    born = facts.attributes["born"]
    assert born.is_date
    assert born.values.tolist() == [-11720, -7390, -5617]
    assert facts.attributes["rating"].values.tolist() == [8.5, 8.4, 8.1]
    assert "title" not in facts.relations
    assert facts.typing.keys is not None
    assert sum(facts.typing.keys == "1") == 3, "person 1, movie 1 and billing 1"
    text = "\n".join(notes)
    assert "movies.genre 1, people.born 1" in text
    assert "directed: 1 repeated fact read once" in text


def test_a_link_table_with_more_to_say_has_rows_that_are_things(tmp_path: Path) -> None:
    facts = read_facts(write(tmp_path))
    assert tuples(facts, "acted") == {
        ("Sigourney Weaver", "Alien"),
        ("Sigourney Weaver", "Aliens"),
        ("Tom Skerritt", "Alien"),
    }
    assert signature(facts, "acted_person") == ("acted", "person")
    assert facts.attributes["billing"].values.tolist() == [1, 1, 2]


def test_examples_in_a_table_with_a_label(tmp_path: Path) -> None:
    problem = read_problem(write(tmp_path))
    assert problem.labels.target == "hit"
    assert problem.facts.objects[problem.labels.rows[:, 0]].tolist() == ["Alien", "Aliens", "Blade Runner, final"]
    assert problem.labels.truth.tolist() == [True, True, False]
    assert "hit" not in problem.facts.relations
    assert problem.types is not None


def test_rows_without_a_label_are_counted(tmp_path: Path) -> None:
    path = write(tmp_path, hit="movie_id,label\n1,1\n2,\n3,0\n,1\n")
    problem = read_problem(
        path, target="hit", test=write(tmp_path / "more", hit="movie_id,label\n1,\n2,0\n") / "hit.csv"
    )
    assert problem.labels.count == 2
    assert "hit: 2 of 4 rows are left out: their label or an argument is empty" in problem.notes
    assert "hit in the test: 1 of 2 rows are left out: their label or an argument is empty" in problem.notes
    assert "sequel: 1 of 3 rows are left out" in " ".join(
        read_problem(write(tmp_path / "other", movies="id,sequel\n1,true\n2,\n3,false\n"), target="sequel").notes
    )


def test_a_column_a_relation_and_a_pair_of_tables_as_target(tmp_path: Path) -> None:
    write(tmp_path)
    flag = read_problem(tmp_path, target="movies.sequel")
    assert (flag.labels.target, flag.labels.truth.tolist()) == ("sequel", [False, True, False])
    assert "sequel" not in flag.facts.relations
    value = read_problem(tmp_path, target="genre")
    assert value.negatives == "closed"
    assert value.labels.arity == 2
    assert value.labels.truth.sum() == 2
    relation = read_problem(tmp_path, target="directed")
    assert relation.labels.count == 4 * 3
    assert relation.labels.truth.sum() == 3
    (tmp_path / "hit.csv").unlink()
    write(tmp_path, {}, pos="movie_id\n1\n", neg="movie_id\n2\n3\n")
    pair = read_problem(tmp_path, target="good")
    assert (pair.labels.target, pair.labels.truth.tolist()) == ("good", [True, False, False])


def test_without_a_target_the_choices_are_named(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "hit.csv").unlink()
    with pytest.raises(SettingsError, match=r"say it with --target: acted, directed, movies\.genre, movies\.sequel"):
        read_problem(tmp_path)
    with pytest.raises(SettingsError, match=r"nothing of the name 'movie\.genre'.* Did you mean 'movies\.genre'"):
        read_problem(tmp_path, target="movie.genre")
    with pytest.raises(SettingsError, match="holds a number"):
        read_problem(tmp_path, target="rating")


def test_same_columns_of_two_tables_are_told_apart(tmp_path: Path) -> None:
    write(
        tmp_path,
        {},
        cats="cat_id,colour\n" + "".join(f"{n},{'red' if n % 2 else 'blue'}\n" for n in range(6)),
        dogs="dog_id,colour\n" + "".join(f"{n},{'red' if n % 3 else 'grey'}\n" for n in range(6)),
    )
    facts = read_facts(tmp_path)
    assert signature(facts, "cats_colour") == ("cat", "colour")
    assert signature(facts, "dogs_colour") == ("dog", "colour")
    assert facts.size == 6 + 6 + 3


def test_plain_tables_stay_as_they_are(tmp_path: Path) -> None:
    write(tmp_path, {}, edge="from,to\na,b\nb,c\n", red="x\na\n")
    facts = read_facts(tmp_path)
    assert facts.typing is None
    assert tuples(facts, "edge") == {("a", "b"), ("b", "c")}


def test_an_empty_cell_in_a_plain_table_stops_nothing(tmp_path: Path) -> None:
    write(tmp_path, {}, edge="from,to\na,b\nb,\n", red="x\na\n")
    facts, notes = read_noted_facts(tmp_path)
    assert facts.typing is None
    assert tuples(facts, "edge") == {("a", "b")}
    assert notes == ("edge: 1 rows with an empty cell are no facts",)


def test_types_by_column_names_alone(tmp_path: Path) -> None:
    write(tmp_path, {}, directed="person_id,movie_id\n1,1\n2,1\n", acted="person_id,movie_id\n1,2\n")
    facts = read_facts(tmp_path)
    assert signature(facts, "directed") == ("person", "movie")
    assert facts.size == 4


def test_references_to_the_same_table(tmp_path: Path) -> None:
    write(tmp_path, {}, people="id,name,mother_id\n1,Ann,\n2,Bea,1\n3,Cid,1\n")
    facts = read_facts(tmp_path)
    assert tuples(facts, "mother") == {("Bea", "Ann"), ("Cid", "Ann")}
    assert signature(facts, "mother") == ("person", "person")


def test_names_that_are_shared_are_followed_by_keys(tmp_path: Path) -> None:
    write(tmp_path, {}, people="id,name,age\n1,Ann,3\n2,Ann,4\n3,Cid,5\n")
    assert read_facts(tmp_path).objects[:3].tolist() == ["Ann (1)", "Ann (2)", "Cid"]


def test_keys_that_are_declared_in_a_database(tmp_path: Path) -> None:
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE maker (code VARCHAR PRIMARY KEY, country VARCHAR)")
        connection.execute("CREATE TABLE car (no INT PRIMARY KEY, built_by VARCHAR REFERENCES maker(code), sold DATE)")
        connection.execute("INSERT INTO maker VALUES ('a', 'x'), ('b', 'x')")
        connection.execute("INSERT INTO car VALUES (1, 'a', '2020-01-02'), (2, 'b', NULL)")
    facts = read_facts(path)
    assert signature(facts, "built_by") == ("car", "maker")
    assert tuples(facts, "built_by") == {("1", "a"), ("2", "b")}
    assert facts.attributes["sold"].values.tolist() == [18263]


def test_a_description_says_what_is_meant(tmp_path: Path) -> None:
    write(tmp_path, {}, parts="no,weight,goes_into\n1,2.5,2\n2,3.5,3\n3,1.5,1\n")
    (tmp_path / "dlm.toml").write_text(
        '[keys]\nparts = "no"\n[types]\n"parts.goes_into" = "part"\n'
        '[target]\nname = "goes_into"\n[bias]\nnegation = false\ndepth = 2\n[world]\nby = "whole"\n'
    )
    problem = read_problem(tmp_path)
    assert problem.labels.count == 9
    assert (problem.bias.negation, problem.bias.depth, problem.world) == (False, 2, "whole")
    assert read_problem(tmp_path / "dlm.toml", negatives="given").labels.count == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[targets]\n", r"no part \[targets\]. Did you mean 'target'"),
        ("[target]\nnam = 1\n", r"\[target\] has no setting 'nam'. Did you mean 'name'"),
        ("[bias]\ndepth = 'deep'\n", "depth in .bias. is a whole number. Got 'deep'"),
        ("[data\n", "is not TOML"),
        ("[keys]\nparts = 'x'\n", "there is no column 'parts.x' to be a key"),
        ("[data]\nformat = 'excel'\n", "format in .data. is one of"),
    ],
)
def test_a_wrong_description(tmp_path: Path, text: str, message: str) -> None:
    write(tmp_path, {}, parts="no,weight\n1,2.5\n")
    (tmp_path / "dlm.toml").write_text(text)
    with pytest.raises(DataError, match=message):
        read_problem(tmp_path)


def test_triples(tmp_path: Path) -> None:
    path = tmp_path / "graph.tsv"
    path.write_text("ann\tknows\tbob\nbob\tknows\tcid\nann\tage\t7\nbob\tage\t8\nann\tknows\tbob\n")
    facts = read_facts(path)
    assert tuples(facts, "knows") == {("ann", "bob"), ("bob", "cid")}
    assert facts.attributes["age"].values.tolist() == [7, 8]
    problem = read_problem(path, target="knows")
    assert problem.negatives == "closed"
    assert problem.labels.count == 9
    headed = tmp_path / "graph.csv"
    headed.write_text("head,relation,tail\nann,knows,bob\n,knows,bob\n")
    problem = read_problem(headed, target="knows")
    assert problem.labels.count == 4
    assert problem.notes == ("1 triples with an empty cell are no facts",)


def test_a_split_keeps_worlds_together(tmp_path: Path) -> None:
    bk = "".join(f"has(t{n},c{n}_{k}). " for n in range(20) for k in range(3))
    exs = "".join(f"{'pos' if n % 2 else 'neg'}(f(t{n})). " for n in range(20))
    (tmp_path / "bk.pl").write_text(bk)
    (tmp_path / "exs.pl").write_text(exs)
    problem = read_problem(tmp_path, split=0.2)
    assert problem.test is not None
    assert (problem.test.count, problem.labels.count) == (4, 16)
    assert worlds_of(problem).kind == "components"
    again = read_problem(tmp_path, split=0.2).test
    assert again is not None
    assert np.array_equal(again.rows, problem.test.rows)


def test_a_test_set_of_its_own(tmp_path: Path) -> None:
    write(tmp_path / "a")
    (tmp_path / "test.csv").write_text("movie_id,label\n2,0\n3,1\n")
    problem = read_problem(tmp_path / "a", test=tmp_path / "test.csv")
    assert problem.test is not None
    assert problem.test.truth.tolist() == [False, True]
    write(tmp_path / "b", hit="movie_id,label\n7,1\n", directed="person_id,movie_id\n1,7\n")
    problem = read_problem(tmp_path / "a", test=tmp_path / "b")
    assert problem.test is not None
    assert problem.facts.objects[problem.test.rows].tolist() == [["7"]]
    assert len(problem.facts.relations["directed"]) == 4
    with pytest.raises(SettingsError, match="leave out --test or --split"):
        read_problem(tmp_path / "a", test=tmp_path / "b", split=0.5)


def test_a_repeated_row_of_a_table_with_a_key(tmp_path: Path) -> None:
    write(tmp_path, {}, people="id,name,age\n1,Ann,3\n2,Bob,4\n2,Bob,4\n")
    facts, notes = read_noted_facts(tmp_path)
    assert facts.attributes["age"].values.tolist() == [3, 4]
    assert "people: 1 repeated row read once" in notes


def test_a_label_that_is_neither_true_nor_false(tmp_path: Path) -> None:
    (tmp_path / "films.csv").write_text("id,year\n1,1979\n2,1986\n")
    (tmp_path / "hit.csv").write_text("film_id,label\n1,1\n2,maybe\n")
    with pytest.raises(DataError, match=r"hit.label says of each row whether it is true; 'maybe' is neither"):
        read_problem(tmp_path)
