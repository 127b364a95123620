"""`dlm explain`."""

from pathlib import Path

import pytest

from cli.conftest import Command, Run, one_object

PROGRAM = "parent(x, y) :- father(x, y) | mother(x, y).\ngrandparent(x, y) :- exists z: parent(x, z) & parent(z, y).\n"
FACTS = "mother(ann, amy). mother(amy, amelia). father(steve, amy). father(gavin, 'Amelia B.').\n"


@pytest.fixture
def family(tmp_path: Path) -> Path:
    (tmp_path / "family.dlm").write_text(PROGRAM)
    (tmp_path / "family.pl").write_text(FACTS)
    return tmp_path


@pytest.mark.usefixtures("family")
def test_why_and_why_not(dlm: Run) -> None:
    why = dlm("explain", "family.dlm", "family.pl", "grandparent(ann, amelia)")
    assert (why.returncode, why.stderr) == (0, "")
    assert why.stdout.startswith("grandparent(ann, amelia) is true, because\n  there is a fitting z: amy, because\n")
    insisted = dlm("explain", "family.dlm", "family.pl", "grandparent(ann, amelia)", "--why-not")
    assert insisted.stdout == f"Nothing is missing: grandparent(ann, amelia) is true.\n{why.stdout}"
    not_so = one_object(
        dlm("explain", "family.dlm", "family.pl", "grandparent(steve, 'Amelia B.')", "--why-not", "--json").stdout
    )
    assert (not_so["value"], not_so["asked"], not_so["atom"]) == (False, "why not", "grandparent(steve, 'Amelia B.')")
    assert not_so["repair"]["add"] == ["father(amy, 'Amelia B.')"]


@pytest.mark.parametrize(
    ("atom", "message"),
    [
        ("grandparent(ann, amelie)", "error: the facts have no object 'amelie'. Did you mean 'amelia'"),
        ("uncle(ann, amelia)", "nothing is known of a predicate 'uncle'"),
        ("grandparent(ann, Amelia B.)", "<atom>:1:25: expected ',' or ')'"),
    ],
)
def test_errors(dlm: Run, family: Path, atom: str, message: str) -> None:
    done = dlm("explain", family / "family.dlm", family / "family.pl", atom)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_ctrl_c_ends_a_verb(call: Command, family: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dlm.cli.explain.parse_query", interrupted)
    assert call("explain", family / "family.dlm", family / "family.pl", "t()") == (130, "", "interrupted\n")


def test_missing_predicates(dlm: Run, family: Path) -> None:
    (family / "family.pl").write_text("mother(ann, amy).\n")
    done = dlm("explain", "family.dlm", "family.pl", "parent(ann, amy)")
    assert done.returncode == 2
    assert "the program reads 'father', which the facts lack" in done.stderr
    done = dlm("explain", "family.dlm", "family.pl", "parent(amy, ann)", "--missing", "empty")
    assert done.returncode == 0
    assert "father(amy, ann) is not a fact" in done.stdout
