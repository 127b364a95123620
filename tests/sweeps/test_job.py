"""A job is a command and a name."""

from pathlib import Path

from dlm.runs.version import code_version
from dlm.sweeps.job import Job


def test_settings_become_the_options_of_learn() -> None:
    settings = {
        "depth": 6,
        "breadth": (2, 3),
        "unit_outputs": ((1, 2, 16), (2, 2, 4)),
        "quantifiers": (),
        "distinct": True,
        "repeats": False,
        "residual": True,
        "keep_soft": True,
        "incremental": False,
    }
    words = Job("graph/1-outdegree", "gradient", 3, 20, settings).command(Path("out"))
    assert words[1:] == [
        *("-m", "dlm.sweeps.child", "learn", "--json", "graph/1-outdegree", "--learner", "gradient", "--seed", "3"),
        *("--time-limit", "20", "--out", "out", "--depth", "6", "--breadth", "2,3", "--unit-outputs", "1:2:16,2:2:4"),
        *("--quantifiers", "none", "--distinct", "--no-repeats", "--residual", "--keep-soft"),
    ]


def test_a_run_that_is_gone_on_with_keeps_its_settings() -> None:
    words = Job("graph/1-outdegree", "gradient", 3, 20, {"depth": 6}).command(Path("out"), resume=True)
    assert words[3:] == ["learn", "--json", "--time-limit", "20", "--resume", "out"]


def test_names_tell_runs_apart_in_any_order_of_settings() -> None:
    one = Job("family/has-father", "search", 1, settings={"depth": 4, "outputs": 8})
    other = Job("family/has-father", "search", 1, settings={"outputs": 8, "depth": 4})
    assert one.key == other.key == "search family/has-father 1 depth=4 outputs=8"
    assert one.folder == "search-family-has-father-1-depth=4-outputs=8"
    assert Job("family/has-father", "ppo", 1, asked="nIDLM").key == "nIDLM family/has-father 1"


def test_a_checkout_says_its_commit() -> None:
    assert 7 <= len(code_version()) <= 12
