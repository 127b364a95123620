"""`dlm export`, and programs in JSON wherever a program is read."""

import json
import subprocess
from pathlib import Path

import pytest

from cli.conftest import Run
from dlm import export_program, parse_program
from dlm.export.json import parse_json

TEXT = "p(x, y) :- father(x, y) & true.\nhas_father(x) :- exists y: p(x, y).\n"
PROGRAM = parse_program(TEXT)


@pytest.fixture(autouse=True)
def _files(tmp_path: Path) -> None:
    (tmp_path / "program.dlm").write_text(TEXT)
    (tmp_path / "program.json").write_text(export_program(PROGRAM, "json"))


def test_prints_or_writes_a_file(dlm: Run, tmp_path: Path) -> None:
    printed = dlm("export", "program.dlm", "--to", "python")
    assert (printed.returncode, printed.stdout, printed.stderr) == (0, export_program(PROGRAM, "python"), "")
    written = dlm("export", "program.json", "--to", "latex", "-o", "listing.tex")
    assert (written.returncode, written.stdout) == (0, "")
    assert (tmp_path / "listing.tex").read_text() == export_program(PROGRAM, "latex")
    assert {path.name for path in tmp_path.iterdir()} == {"program.dlm", "program.json", "listing.tex"}


def test_sql_in_a_dialect(dlm: Run) -> None:
    pytest.importorskip("sqlglot")
    assert dlm("export", "program.dlm", "--to", "sql", "--dialect", "spark").stdout == export_program(
        PROGRAM, "sql", dialect="spark"
    )


def test_sql_with_columns_of_one_s_own(dlm: Run) -> None:
    pytest.importorskip("sqlglot")
    columns = {"father": ("child", "parent"), "has_father": ("person",)}
    arguments = ("export", "program.dlm", "--to", "sql", "--columns", "father=child,parent")
    done = dlm(*arguments, "--columns", "has_father=person")
    assert done.stdout == export_program(PROGRAM, "sql", columns=columns)
    assert '"t1"."child" AS "person"' in done.stdout


def test_sql_that_makes_absent_tables(dlm: Run) -> None:
    pytest.importorskip("sqlglot")
    done = dlm("export", "program.dlm", "--to", "sql", "--create-tables")
    assert done.stdout == export_program(PROGRAM, "sql", create_tables=True)
    assert 'CREATE TABLE IF NOT EXISTS "father" AS' in done.stdout


def test_a_run(dlm: Run, learned: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    run, _ = learned
    done = dlm("export", run, "--to", "json")
    assert str(parse_json(done.stdout)) == (run / "program.dlm").read_text()


def test_json_goes_where_text_goes(dlm: Run, tmp_path: Path) -> None:
    assert dlm("show", "program.json", "--raw").stdout == dlm("show", "program.dlm", "--raw").stdout
    (tmp_path / "unnamed").write_text("\n" + export_program(PROGRAM, "json"))
    done = dlm("test", "unnamed", "--task", "family/has-father", "--instances", "5", "--objects", "5", "--json")
    assert json.loads(done.stdout)["right"] == 5


def test_show_in_another_language(dlm: Run) -> None:
    simplified = parse_program("has_father(x) :- exists y: father(x, y).")
    assert dlm("show", "program.json", "--to", "mermaid").stdout == export_program(simplified, "mermaid")
    assert dlm("show", "program.json", "--raw", "--to", "text").stdout == TEXT


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("export", "program.dlm", "--to", "latx"), "error: there is no export 'latx'. Did you mean 'latex'"),
        (("export", "newer.json", "--to", "dot"), "error: newer.json: this is version 9 of the format"),
        (("export", "program.dlm", "--to", "dot", "-o", "no/such/file"), "error: cannot write no/such/file"),
        (
            ("export", "program.dlm", "--to", "sql", "--columns", "child"),
            "error: --columns takes a table and its columns",
        ),
        (
            ("export", "program.dlm", "--to", "dot", "--columns", "father=x,y"),
            "error: dialects, columns and tables are for SQL",
        ),
        (("show", "program.dlm", "--to", "dot", "--json"), "error: --json and --to exclude each other"),
    ],
)
def test_errors(dlm: Run, tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    (tmp_path / "newer.json").write_text(export_program(PROGRAM, "json").replace('"version": 1', '"version": 9'))
    done = dlm(*arguments)
    assert done.returncode == 2
    assert done.stderr.startswith(message)
    assert "Traceback" not in done.stderr


def test_a_failed_write_leaves_what_was_there(dlm: Run, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    done = dlm("export", "program.dlm", "--to", "dot", "-o", "folder")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert list((tmp_path / "folder").iterdir()) == []
