"""Grids of settings, and what they refuse."""

import pytest

from dlm.errors import SettingsError
from dlm.sweeps.grid import check_settings, parse_grid
from dlm.sweeps.sweep import parse_seeds


def test_a_grid_is_all_combinations() -> None:
    assert parse_grid(["depth=4,6", "negation=true,false"]) == [
        {"depth": 4, "negation": True},
        {"depth": 4, "negation": False},
        {"depth": 6, "negation": True},
        {"depth": 6, "negation": False},
    ]
    assert parse_grid([]) == [{}]


def test_values_of_several_parts_have_a_plus() -> None:
    (found,) = parse_grid(["breadth=2+3+3", "unit-outputs=1:2:16+2:2:4", "quantifiers=exists+forall"])
    assert found == {
        "breadth": (2, 3, 3),
        "unit_outputs": ((1, 2, 16), (2, 2, 4)),
        "quantifiers": ("exists", "forall"),
    }
    assert [each["quantifiers"] for each in parse_grid(["quantifiers=none,exists"])] == [(), ("exists",)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dept=4", "there is no setting 'dept' to make a grid of. Did you mean 'depth'?"),
        ("depth", "a grid is given as SETTING=VALUE"),
        ("depth=", "a grid is given as SETTING=VALUE"),
        ("seed=1,2", "that is --seeds"),
        ("time_limit=4,8", "that is --time-limit"),
        ("breadth=two", "breadth takes whole numbers"),
        ("unit_outputs=1:2", "unit_outputs takes LAYER:ARITY:N triples"),
    ],
)
def test_what_is_no_grid(text: str, message: str) -> None:
    with pytest.raises(SettingsError) as error:
        parse_grid([text])
    assert message in str(error.value)


def test_a_setting_is_given_once() -> None:
    with pytest.raises(SettingsError, match="the grid has depth twice"):
        parse_grid(["depth=4", "depth=5"])


def test_runs_that_could_not_begin_are_refused_beforehand() -> None:
    check_settings("family/has-father", parse_grid(["depth=4,6", "schedule=fast,paper"]))
    with pytest.raises(SettingsError, match="'depth' setting must be at least 2"):
        check_settings("family/has-father", parse_grid(["depth=4,1"]))
    with pytest.raises(SettingsError, match="keep_soft"):
        check_settings("family/has-father", parse_grid(["keep_soft=true"]))


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ("residual=yes,no", "'residual' setting must be true or false. Got 'yes'"),
        ("incremental=maybe", "'incremental' setting must be true or false"),
        ("depth=4,x", "'depth' setting must be a whole number. Got 'x'"),
        ("depth=4.5", "'depth' setting must be a whole number"),
        ("outputs=2.5", "'outputs' setting must be a whole number"),
        ("breadth=3+3", "one whole number, or one for each of the 4 layers"),
        ("repair=false", "nothing to act in"),
    ],
)
def test_values_of_the_wrong_kind_are_refused_beforehand(grid: str, message: str) -> None:
    with pytest.raises(SettingsError) as error:
        check_settings("family/has-father", parse_grid([grid]))
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("text", "seeds"), [("3", (3,)), ("0-2", (0, 1, 2)), ("0-1, 7", (0, 1, 7)), ("5,3-5", (5, 3, 4))]
)
def test_seeds_are_ranges_and_lists(text: str, seeds: tuple[int, ...]) -> None:
    assert parse_seeds(text) == seeds


@pytest.mark.parametrize("text", ["", "a", "-1", "1,,2", "1-2-3"])
def test_what_are_no_seeds(text: str) -> None:
    with pytest.raises(SettingsError, match="seeds are given as numbers and ranges"):
        parse_seeds(text)
