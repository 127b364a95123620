"""SQL text: run as exported, on tables named by people."""

import duckdb
import numpy as np
import pytest
import sqlglot
from hypothesis import given, settings
from hypothesis import strategies as st

from dlm.engines.query.sql import Names, export_sql
from dlm.errors import SettingsError
from dlm.logic import evaluate, parse_program
from strategies import programs, signatures, structures

HOSTILE = """
'a"b; drop table objects'(x, y) :- '名前'(x, y) | '*/ select 1'(x, y).
'objects'(x) :- exists y: 'a"b; drop table objects'(x, y) & 'Q1'(y) & ~q1(y) & 'arg1'() & ~(exists z: ''(z, z)).
"""


def answers(program, structure, text):
    names = Names.of(program.inputs)
    with duckdb.connect(":memory:", config={"threads": 1}) as connection:
        tables = {names.tables[name]: structure.relations[name] for name in program.inputs}
        for table, rows in (*tables.items(), (names.objects, {(n,) for n in range(len(structure.objects))})):
            arity = (
                1 if table == names.objects else next(a for p, a in program.inputs.items() if names.tables[p] == table)
            )
            columns = np.array(sorted(rows), dtype=np.int64).reshape(-1, arity).T if arity else [np.ones(len(rows))]
            connection.register("arrays", {f"arg{k + bool(arity)}": column for k, column in enumerate(columns)})
            quoted = table.replace('"', '""')
            connection.execute(f'CREATE TABLE "{quoted}" AS SELECT * FROM arrays')
        found = connection.execute(text).fetchall()
    assert len(set(found)) == len(found)
    return frozenset(found if program.target.arity else [() for _ in found])


@settings(max_examples=40)
@given(st.data())
def test_exported_queries_agree_with_the_interpreter(data):
    signature = data.draw(signatures(odd_names=True))
    program = data.draw(programs(signature, odd_names=True))
    structure = data.draw(structures(signature, max_size=3))
    wanted = evaluate(program, structure)[program.target.name]
    assert answers(program, structure, export_sql(program, "duckdb")) == wanted


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
