"""SQL over one's own tables: what DuckDB answers are the keys of what `dlm.run` answers."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

import dlm
from dlm.data.sources.reading import find_layout, read_source
from dlm.data.sources.typed import assemble
from dlm.errors import SettingsError

SHOP = Path(__file__).parents[2] / "examples" / "shop"

PROGRAMS = [
    "t(x) :- exists y: customer(y, x) & (exists z: product(y, z) & category(z) = coffee) & age(x) > 47.5.",
    "t(x) :- is_customer(x) & ~(exists y: customer(y, x) & (exists z: product(y, z) & category(z) = tea)).",
    "t(x) :- ~(exists y: customer(y, x) & (exists z: product(y, z) & price(z) > 8)) & age(x) < 60.",
    "t(x) :- is_customer(x) & (forall y: ~customer(y, x) | (exists z: product(y, z) & price(z) <= 9)).",
    "t(x) :- exists y: customer(y, x) & (exists z != y: customer(z, x)).",
    "t(x) :- exists y != x: customer(y, x).",  # an order is no customer, though their keys may be the same
    "t(x, y) :- exists z != x, y: customer(z, x) & product(z, y).",
    "t(x, y) :- age(x) < age(y) & (exists c: city(x, c) & city(y, c)) & x != y.",
    "both(x, y) :- exists z: customer(z, x) & product(z, y). t(x) :- exists y: both(x, y) & category(y) = food.",
]


def answers(program: dlm.Program, folder: Path) -> list[tuple[object, ...]]:
    """What the program says, as keys of the kinds that its target is about."""
    facts = assemble(read_source(find_layout(folder)[0]).tables).facts
    assert facts.typing is not None
    assert facts.typing.keys is not None
    keys = dict(zip(facts.objects.tolist(), map(str, facts.typing.keys), strict=True))
    return sorted(tuple(keys[name] for name in row) for row in dlm.run(program, folder).names())


def by_database(program: dlm.Program, folder: Path) -> list[tuple[object, ...]]:
    database = duckdb.connect()
    for file in folder.glob("*.csv"):
        database.execute(f"CREATE TABLE {file.stem} AS SELECT * FROM '{file}'")
    rows = database.execute(dlm.export_program(program, "sql", tables=folder)).fetchall()
    assert len(set(rows)) == len(rows)
    return sorted(tuple(map(str, row)) for row in rows)


@pytest.mark.parametrize("text", PROGRAMS)
def test_a_database_answers_the_same(text: str) -> None:
    program = dlm.parse_program(text)
    found = by_database(program, SHOP)
    assert found == answers(program, SHOP)
    assert found


def test_flags_empty_cells_and_repeated_rows(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("id,name,born\n1,Ann,1937-11-30\n2,Bob,1949-10-08\n3,Cy,\n")
    (tmp_path / "films.csv").write_text(
        "id,title,year,genre,sequel\n1,A,1979,horror,false\n2,B,1986,horror,true\n3,C,1982,,\n"
    )
    (tmp_path / "directed.csv").write_text("person_id,film_id\n1,1\n3,2\n1,3\n1,3\n,2\n")
    for text in ("t(x) :- exists y: directed(x, y) & sequel(y).", "t(x) :- film(x) & ~sequel(x) & year(x) > 1980."):
        program = dlm.parse_program(text)
        assert by_database(program, tmp_path) == answers(program, tmp_path) != []
    query = dlm.export_program(dlm.parse_program("t(x) :- exists y: directed(x, y)."), "sql", tables=tmp_path)
    assert '"directed_2" AS' in query  # the name of the table itself is taken


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("t(x) :- ~(exists y: customer(y, x) & (exists z: q(z, y))).", "no columns for 'q'"),
        ("t(x) :- true.", "of what kind 'x'"),
        ("t(x) :- is_customer(x) & (exists y != x: ~is_product(y)).", "speaks of all objects"),
        ("t(x) :- is_customer(x) & is_product(x).", "of what kind 'x'"),
        ("t(x) :- is_customer(x) & (exists y != x: true).", "whose kind does not follow"),
    ],
)
def test_what_keys_cannot_say_is_refused(text: str, said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        dlm.export_program(dlm.parse_program(text), "sql", tables=SHOP)


def test_options_that_do_not_go_together() -> None:
    program = dlm.parse_program(PROGRAMS[0])
    assert "BOOLEAN" not in dlm.export_program(program, "sql", tables=SHOP, dialect="postgres")
    with pytest.raises(SettingsError, match="leave out columns"):
        dlm.export_program(program, "sql", tables=SHOP, create_tables=True)
    with pytest.raises(SettingsError, match="for SQL only"):
        dlm.export_program(program, "prolog", tables=SHOP)
    with pytest.raises(SettingsError, match="no SQL dialect"):
        dlm.export_program(program, "sql", tables=SHOP, dialect="klingon")
