"""`dlm report` and `dlm show --rules` as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.conftest import Command

PROGRAM = "parent(x, y) :- father(x, y) | mother(x, y).\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "parent.dlm").write_text(PROGRAM)
    (tmp_path / "facts").mkdir()
    (tmp_path / "facts" / "father.csv").write_text("a,b\nx,y\n")
    (tmp_path / "facts" / "mother.csv").write_text("a,b\nx,y\nz,y\n")
    (tmp_path / "true.csv").write_text("a,b\nx,y\n")
    return tmp_path


def test_report(call: Command, files: Path) -> None:
    code, out, _ = call("report", "parent.dlm", "--facts", "facts", "--examples", "true.csv", "-o", "r.html")
    assert code == 0
    assert out.startswith("r.html: ")
    assert "parent(z, y)" in (files / "r.html").read_text()


def test_rules(call: Command, files: Path) -> None:
    assert files.exists()
    code, out, _ = call("show", "parent.dlm", "--rules", "--facts", "facts", "--examples", "true.csv")
    assert code == 0
    assert out.splitlines()[2].split() == ["mother(x,", "y)", "2", "1", "1"]
    code, out, _ = call("show", "parent.dlm", "--rules", "--facts", "facts", "--json")
    assert [rule["covers"] for rule in json.loads(out)["rules"]] == [1, 2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("report", "parent.dlm", "-o", "r.pdf"), "-o takes a file ending in .html, got r.pdf"),
        (("report", "parent.dlm", "-o", "no/r.html"), "cannot write no/r.html: its folder is missing"),
        (("report", "nothing.dlm"), "cannot read nothing.dlm"),
        (("report", "parent.dlm", "--examples", "true.csv"), "give the facts too (--facts)"),
        (("show", "parent.dlm", "--rules"), "give facts (--facts) or a task (--task)"),
        (("show", "parent.dlm", "--facts", "facts"), "use them with --rules"),
    ],
)
def test_bad_input(call: Command, files: Path, arguments: tuple[str, ...], message: str) -> None:
    code, _, err = call(*arguments)
    assert code == 2
    assert message in err
    assert not list(files.glob("*.html"))
