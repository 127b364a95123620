"""SQL text: run as exported, on tables named by people."""

import duckdb
import pytest
import sqlglot
from hypothesis import given, reject, settings

from dlm.data import Structure
from dlm.engines.query.sql import Names
from dlm.errors import ResourceError, SettingsError
from dlm.export.sql import export_sql
from dlm.logic import evaluate, parse_program
from export.judges import answers_sql, cases

HOSTILE = """
'a"b; drop table objects'(x, y) :- '名前'(x, y) | '*/ select 1'(x, y).
'objects'(x) :- exists y: 'a"b; drop table objects'(x, y) & 'Q1'(y) & ~q1(y) & 'arg1'() & ~(exists z: ''(z, z)).
"""


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
@settings(max_examples=40)
@given(cases())
def test_exported_queries_agree_with_the_interpreter(dialect, case):
    program, structure = case
    try:
        found = answers_sql([case], dialect)
    except ResourceError:
        reject()
    assert found == [evaluate(program, structure)[program.target.name]]


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_inputs_without_a_table_are_empty(dialect):
    """A database that was filled from facts has no table of a predicate that no fact has."""
    program = parse_program("t(x) :- (exists y: p(x, y)) | ~q(x) & ~sunny().")
    structure = Structure(("a", "b"), program.inputs, {"p": {(0, 1)}, "q": set(), "sunny": set()})
    assert answers_sql([(program, structure)], dialect) == [{(0,), (1,)}]


def test_tables_are_created_only_where_a_dialect_can():
    with pytest.raises(SettingsError, match=r"tsql cannot create .* where there is none; .* use one of .*duckdb"):
        export_sql(parse_program("t(x) :- p(x)."), "tsql", create_tables=True)


def test_created_columns_have_the_names_and_the_type_that_are_given():
    program = parse_program("t(x) :- person(x) & ~(exists y: father(x, y)).")
    text = export_sql(program, "duckdb", {"father": ("child", "parent"), "objects": ("id",)}, create_tables=True)
    with duckdb.connect(":memory:") as connection:
        connection.execute("CREATE TABLE objects AS SELECT * FROM (VALUES ('a'), ('b')) AS t(id)")
        connection.execute("CREATE TABLE person AS SELECT 'a' AS arg1")
        assert connection.execute(text).fetchall() == [("a",)]
        made = connection.execute("SELECT column_name, column_type FROM (DESCRIBE father)").fetchall()
    assert made == [("child", "VARCHAR"), ("parent", "VARCHAR")]


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "spark", "sqlite", "snowflake", "bigquery"])
def test_names_are_data_in_every_dialect(dialect):
    program = parse_program(HOSTILE)
    (statement,) = sqlglot.parse(export_sql(program, dialect), read=dialect)
    names = Names.of(program.inputs)
    read = {table.name for table in statement.find_all(sqlglot.exp.Table)}
    written = {cte.alias for cte in statement.find_all(sqlglot.exp.CTE)}
    assert read - written <= {*names.tables.values(), names.objects}
    assert len({name.casefold() for name in (*names.tables.values(), names.objects)}) == len(program.inputs) + 1
    assert not {name.casefold() for name in written} & {name.casefold() for name in names.tables.values()}


def test_dialects_without_semi_joins_get_exists():
    program = parse_program("t(x) :- exists y: p(x, y) & ~q(y, x).")
    assert "ANTI JOIN" in export_sql(program, "duckdb")
    assert "NOT EXISTS(" in export_sql(program, "postgres")


def test_the_header_says_what_is_read():
    text = export_sql(parse_program("t(x) :- p(x, x) & objects() & ''(x)."), "duckdb")
    assert "'objects_2' (arg1)" in text
    assert "'predicate' (arg1), the predicate ''" in text
    assert "'objects' (arg0; true if there is a row)" in text


def test_an_unknown_dialect_is_refused():
    with pytest.raises(SettingsError, match=r"no SQL dialect 'klingon'; choose one of .*duckdb"):
        export_sql(parse_program("t() :- true."), "klingon")


def test_columns_have_the_names_that_are_given():
    program = parse_program("t(x, y) :- exists z: father(x, z) & ~father(z, y) & ~(exists w: rich(w)) & ok().")
    columns = {"father": ("child", "the parent"), "objects": ("id",), "t": ("who", "whom")}
    text = export_sql(program, "duckdb", columns)
    assert "'father' (child, the parent)" in text
    assert "'rich' (arg1)" in text
    with duckdb.connect(":memory:") as connection:
        connection.execute("CREATE TABLE objects AS SELECT * FROM (VALUES ('a'), ('b')) AS t(id)")
        connection.execute("""CREATE TABLE father AS SELECT 'b' AS "the parent", 'a' AS child""")
        connection.execute("CREATE TABLE rich (arg1 TEXT)")
        connection.execute("CREATE TABLE ok AS SELECT 1 AS arg0")
        found = connection.execute(text)
        assert [column[0] for column in found.description] == ["who", "whom"]
        assert sorted(found.fetchall()) == [("a", "a"), ("a", "b")]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"fathers": ("x", "y")}, "no table 'fathers'. Did you mean 'father'"),
        ({"father": ("x",)}, "'father' has 2 columns of different names, got 'x'"),
        ({"father": ("x", "X")}, "'father' has 2 columns of different names, got 'x, X'"),
    ],
)
def test_columns_that_do_not_fit_are_refused(columns, message):
    with pytest.raises(SettingsError, match=message):
        export_sql(parse_program("t(x) :- exists y: father(x, y)."), "duckdb", columns)
