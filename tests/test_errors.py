import pytest

from dlm.errors import COMPARED, did_you_mean


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
