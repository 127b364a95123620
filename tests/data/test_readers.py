"""Facts from files and back, and what is wrong with files that are not facts."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from dlm.data import Facts
from dlm.data.readers import csv_files, read_facts, write_facts
from dlm.errors import DataError, MissingExtraError, ResourceError
from strategies import ODD_NAMES

NAMES = st.one_of(
    st.sampled_from(
        [*(name for name in ODD_NAMES if name), '"', '"quoted"', "a,b", "'", "a\r\nb", "-1", " x ", "NULL"]
    ),
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=4),
)
PREDICATES = ("edge", "a.b", "has edge", "it's", "名前", "%0")


def tuples(facts: Facts) -> dict[str, set[tuple[Any, ...]]]:
    """The relations of some facts as sets of tuples of names: what remains when objects are numbered anew."""
    return {name: {tuple(row) for row in facts.objects[rows].tolist()} for name, rows in facts.relations.items()}


@st.composite
def facts(draw: st.DrawFn, names: st.SearchStrategy[Any] = NAMES) -> Facts:
    """Any facts: empty relations, relations without arguments, objects of which nothing is said."""
    constants = draw(st.lists(names, unique=True, max_size=5))
    arities = draw(st.dictionaries(st.sampled_from(PREDICATES), st.integers(0, 3), min_size=1, max_size=3))
    relations = {}
    for name, arity in arities.items():
        row = st.tuples(*[st.integers(0, max(len(constants) - 1, 0))] * arity)
        rows = draw(st.sets(row, max_size=6)) if constants or arity == 0 else set()
        relations[name] = np.array(sorted(rows), dtype=np.int64).reshape(len(rows), arity)
    kind = np.int64 if constants and isinstance(constants[0], int) else object
    return Facts(np.array(constants, dtype=kind), relations)


def check_round_trip(written: Facts, form: Any) -> Facts:
    with tempfile.TemporaryDirectory() as folder:
        write_facts(written, folder, form)
        assert not [file for file in Path(folder).iterdir() if file.name.startswith(".")]
        read = read_facts(folder)
    same = {name: rows for name, rows in tuples(read).items() if name in written.relations}
    named = tuples(written)
    if form == "csv":
        named = {name: {tuple(map(str, row)) for row in rows} for name, rows in named.items()}
    assert same == named
    assert {name: read.arities[name] for name in written.arities} == written.arities
    assert sorted(map(str, read.objects)) == sorted(map(str, written.objects))
    assert read.objects.tolist() == sorted(read.objects.tolist())
    assert set(read.relations) - set(written.relations) <= {"objects"}
    return read


@settings(max_examples=60)
@given(facts(), st.sampled_from(["csv", "parquet"]))
def test_what_is_written_is_read_back(written: Facts, form: str) -> None:
    check_round_trip(written, form)


@settings(max_examples=30)
@given(facts(st.integers(-5, 20) | st.integers(-(2**63), 2**63 - 1)), st.sampled_from(["csv", "parquet"]))
def test_integers_are_read_back(written: Facts, form: str) -> None:
    read = check_round_trip(written, form)
    if form == "parquet" and read.size:
        assert read.objects.dtype == np.int64


@settings(max_examples=150)
@given(st.binary(max_size=40).map(lambda data: bytes(b'a,"\n\r b\xc3\xa9()\xff'[byte % 12] for byte in data)))
def test_both_csv_readers_read_the_same(content: bytes) -> None:
    def reading(plain: bool) -> object:
        with pytest.MonkeyPatch.context() as patch:
            if plain:
                patch.setattr(csv_files, "_read_arrow", lambda *_: None)
            try:
                return tuples(read_facts(folder, duplicates="drop"))
            except DataError as error:
                return str(error)

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "p.csv").write_bytes(content)
        assert reading(plain=True) == reading(plain=False)


def test_numbers_do_not_depend_on_the_form(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "edge.csv").write_text('from,to\nb,a\n"c d",b\n')
    (tmp_path / "folder" / "wet.csv").write_text("()\nyes\n")
    (tmp_path / "facts.pl").write_text("wet. edge(b, a).\nedge('c d', b).")
    with duckdb.connect(str(tmp_path / "facts.duckdb")) as connection:
        connection.execute("CREATE TABLE edge AS SELECT * FROM (VALUES ('b', 'a'), ('c d', 'b')) t(x, y)")
        connection.execute('CREATE TABLE wet AS SELECT 1 AS "()"')
    read = [read_facts(tmp_path / name) for name in ("folder", "facts.pl", "facts.duckdb")]
    for one in read:
        assert one.objects.tolist() == ["a", "b", "c d"]
        assert one.relations["edge"].tolist() == [[1, 0], [2, 1]]
        assert one.relations["wet"].shape == (1, 0)


def test_prolog_as_people_write_it(tmp_path: Path) -> None:
    path = tmp_path / "facts.pl"
    path.write_text(
        """:- module(m, [edge/2]).   % a comment. With a stop.
        :- dynamic(lonely/1), dynamic 'no one'/0.
        /* over
           lines */
        edge(a,b). edge( 'It''s' , "a string" ).
        edge('a\\nb', 'x\\x41\\y\\u00e9').
        age(a, -42). age(b, 1_000). age(c,007). weight(c, 1.50).
        'odd name'(名前). raining.""",
        encoding="utf-8",
    )
    assert tuples(read_facts(path)) == {
        "edge": {("a", "b"), ("It's", "a string"), ("a\nb", "xAyé")},
        "age": {("a", "-42"), ("b", "1000"), ("c", "7")},
        "weight": {("c", "1.5")},
        "odd name": {("名前",)},
        "raining": {()},
        "lonely": set(),
        "no one": set(),
    }


def test_parquet_types_that_hold_text_or_integers(tmp_path: Path) -> None:
    kinds = {"a": pa.large_string(), "b": pa.dictionary(pa.int8(), pa.string()), "c": pa.string_view()}
    for name, kind in kinds.items():
        parquet.write_table(pa.table({"x": pa.array(["u", "v"]).cast(kind)}), tmp_path / f"{name}.parquet")
    parquet.write_table(pa.table({"x": pa.nulls(0), "y": pa.array([], pa.int8())}), tmp_path / "empty.parquet")
    read = read_facts(tmp_path)
    assert tuples(read) == {**{name: {("u",), ("v",)} for name in kinds}, "empty": set()}
    assert read.arities["empty"] == 2


def test_duplicates_are_dropped_when_asked(tmp_path: Path) -> None:
    (tmp_path / "edge.csv").write_text("x,y\nb,a\na,b\nb,a\n")
    (tmp_path / "wet.csv").write_text("()\n1\n2\n")
    read = read_facts(tmp_path, duplicates="drop")
    assert tuples(read) == {"edge": {("a", "b"), ("b", "a")}, "wet": {()}}
    assert len(read.relations["edge"]) == 2


def folder_with(**files: str | bytes | pa.Table) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        for name, content in files.items():
            stem, form = name.rsplit("_", 1)
            path = folder / f"{stem}.{form}"
            if isinstance(content, pa.Table):
                parquet.write_table(content, path)
            else:
                path.write_bytes(content.encode() if isinstance(content, str) else content)
        return folder / name.replace("_", ".") if form in ("pl", "duckdb", "txt") else folder

    return make


WRONG = {
    "nothing there": (lambda folder: folder / "nowhere", "there are no facts at"),
    "another form": (folder_with(notes_txt="x"), "cannot tell what facts"),
    "an empty folder": (folder_with(notes_md="x"), "holds no table"),
    "an empty file": (folder_with(edge_csv=""), "needs a header line"),
    "a short row": (folder_with(edge_csv="x,y\na,b\na\n"), "row 2 after the header has 1 values, the header 2"),
    "a long row": (folder_with(edge_csv="x\na\nb,c\n"), "row 2 after the header has 2 values, the header 1"),
    "an open quote": (folder_with(edge_csv='x\n"a\n'), "this is not CSV"),
    "not text": (folder_with(edge_csv=b"x\n\xff\n"), "is not UTF-8"),
    "the same row twice": (
        folder_with(edge_csv="x,y\na,b\nb,a\na,b\n"),
        r"says edge\(a, b\) twice, in rows 1 and 3; .* --duplicates drop",
    ),
    "the same truth twice": (folder_with(wet_csv="()\n1\n1\n"), r"says wet\(\) twice"),
    "two files": (
        folder_with(edge_csv="x\na\n", edge_parquet=pa.table({"x": ["a"]})),
        "are both the table",
    ),
    "integers too large": (
        folder_with(p_parquet=pa.table({"x": pa.array([2**63], pa.uint64())})),
        "integers beyond 64 bits",
    ),
    "text and integers": (
        folder_with(p_parquet=pa.table({"x": [1]}), q_csv="y\n1\n"),
        "mixed types: column 'y' of .*q.csv holds text, column 'x' of .*p.parquet holds integers",
    ),
    "no columns": (folder_with(p_parquet=pa.table({})), "has no column"),
    "no parquet": (folder_with(p_parquet="PAR?"), "cannot read .*p.parquet"),
    "no database": (folder_with(facts_duckdb="not a database at all"), "cannot read the DuckDB database"),
    "a rule": (folder_with(facts_pl="p(a).\np(b) :- p(a)."), "line 2: this is a rule for 'p'"),
    "a variable": (folder_with(facts_pl="p(a).\n\np(X)."), "line 3: expected a constant .* got the variable 'X'"),
    "a list": (folder_with(facts_pl="p([a])."), r"line 1: expected a constant .* got '\['"),
    "an open term": (folder_with(facts_pl="p(f(a."), r"line 1: expected ',' or '\)' in the term f"),
    "no stop": (folder_with(facts_pl="p(a)"), "expected '.' at the end of the fact, got 'the end of the file'"),
    "an open directive": (folder_with(facts_pl=":- dynamic p/1"), "the directive has no '.'"),
    "two arities": (folder_with(facts_pl="p(a).\np(a, b)."), "line 2: 'p' has 2 arguments here and 1 before"),
    "a long number": (folder_with(facts_pl=f"p(a).\np({'9' * 5000})."), "line 2: a number of 5000 digits; up to 300"),
    "a number without end": (folder_with(facts_pl="p(1e999)."), "1e999 is not a number that can be read"),
    "a code beyond Unicode": (folder_with(facts_pl=r"p('\x110000')."), r"x110000 is no character; expected the code"),
    "half a character": (folder_with(facts_pl=r"p('\ud800')."), r"ud800 is no character; expected the code"),
    "many arguments": (folder_with(facts_pl=f":- dynamic p/{'9' * 5000}."), "p is declared with 9+ arguments"),
    "a number as text": (folder_with(facts_pl="p(1). p('1')."), "mixed types: 1 is a number in one place"),
}


@pytest.mark.parametrize(("make", "message"), WRONG.values(), ids=WRONG)
def test_wrong_facts(make: Callable[[Path], Path], message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=message):
        read_facts(make(tmp_path))


def test_a_database_without_tables_or_with_one_twice(tmp_path: Path) -> None:
    path = tmp_path / "facts.db"
    with duckdb.connect(str(path)) as connection:
        connection.execute("SELECT 1")
    with pytest.raises(DataError, match="has no table"):
        read_facts(path)
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE p(x TEXT); CREATE SCHEMA s; CREATE TABLE s.p(x TEXT)")
    with pytest.raises(DataError, match="'p' in two schemas"):
        read_facts(path)


def test_an_odd_table_of_a_database(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "facts.ddb")) as connection:
        connection.execute('CREATE TABLE """; DROP TABLE p; --" AS SELECT 7 AS x')
    assert tuples(read_facts(tmp_path / "facts.ddb")) == {'"; DROP TABLE p; --': {(7,)}}


@pytest.mark.parametrize("name", ["", ".hidden", "a/b", "nul\0"])
def test_a_name_that_no_file_can_have_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="rename the predicate"):
        write_facts(Facts(np.array(["a"], dtype=object), {name: np.zeros((1, 1), dtype=np.int64)}), tmp_path)


def test_what_cannot_be_written_is_refused(tmp_path: Path) -> None:
    nothing = Facts(np.array([""], dtype=object), {"p": np.zeros((1, 1), dtype=np.int64)})
    with pytest.raises(DataError, match="empty text"):
        write_facts(nothing, tmp_path, "csv")
    write_facts(nothing, tmp_path / "new" / "folder")
    assert tuples(read_facts(tmp_path / "new" / "folder")) == {"p": {("",)}}
    with pytest.raises(ResourceError, match="cannot write"):
        write_facts(nothing, tmp_path / "new" / "folder" / "p.parquet")


def test_csv_and_prolog_need_no_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("pyarrow", "pyarrow.compute", "pyarrow.csv", "pyarrow.parquet", "duckdb"):
        monkeypatch.setitem(__import__("sys").modules, package, None)
    (tmp_path / "p.csv").write_text("x\na\n")
    (tmp_path / "facts.pl").write_text("p(a).")
    assert tuples(read_facts(tmp_path)) == tuples(read_facts(tmp_path / "facts.pl")) == {"p": {("a",)}}
    (tmp_path / "q.parquet").write_text("")
    (tmp_path / "facts.db").write_text("")
    for path in (tmp_path, tmp_path / "facts.db"):
        with pytest.raises(MissingExtraError, match=r"pip install 'dlm\[scale\]'"):
            read_facts(path)
