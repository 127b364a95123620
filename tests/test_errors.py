from pathlib import Path

import pytest

from dlm.errors import COMPARED, did_you_mean, nearest_paths


@pytest.mark.parametrize(
    ("name", "known", "question"),
    [
        ("fater", ["father", "mother"], " Did you mean 'father'?"),
        ("Is_Uncel", ["family/is-uncle", "rl/stack"], " Did you mean 'family/is-uncle'?"),
        ("son", ["sun", "sons"], " Did you mean 'sons' or 'sun'?"),
        ("q", ["father"], ""),
        ("q", [], ""),
    ],
)
def test_nearest_names_are_asked_for(name: str, known: list[str], question: str) -> None:
    assert did_you_mean(name, known) == question


def test_the_nearest_of_very_many_names_is_found() -> None:
    names = [f"person-{number}" for number in range(10 * COMPARED)] + ["amelia"]
    assert did_you_mean("amelie", names) == " Did you mean 'amelia'?"


def test_a_mistyped_path_is_near_one_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "examples" / "shop").mkdir(parents=True)
    (tmp_path / "examples" / "shop" / "orders.csv").touch()
    right, file = tmp_path / "examples" / "shop", tmp_path / "examples" / "shop" / "orders.csv"
    assert nearest_paths(tmp_path / "examples" / "shp") == [str(right)]
    assert nearest_paths(tmp_path / "exmples" / "shop" / "orders.csv") == [str(file)]
    assert nearest_paths(file.with_suffix(".cvs")) == [str(file)]
    assert nearest_paths(tmp_path / "exmples" / "shp") == [], "one mistake at a time"
    assert nearest_paths(file / "nobody") == [], "a file is no folder"
