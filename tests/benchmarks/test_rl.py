"""The tables of policies, and the page of learned programs, on a small scale."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from benchmarks.rl import page
from benchmarks.rl_parts import PARTS
from benchmarks.strip import key_frames
from PIL import Image

from dlm.logic import parse_program
from dlm.sweeps.curve import POINTS, read_curve

Script = Callable[..., str]
CHOSEN = ("--tasks", "rl/unstack", "--seeds", "100", "--jobs", 1, "--out", ".")


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory, script: Script) -> Path:
    """A folder with a run of two tables."""
    folder = tmp_path_factory.mktemp("bench")
    script("rl", "--parts", "auto", *CHOSEN, cwd=folder)
    script("rl", "--parts", "curves", *CHOSEN, "--learners", "ppo", "--time-limit", 1, cwd=folder)
    return folder


def test_runs_are_kept_and_not_repeated(bench: Path, script: Script) -> None:
    kept = json.loads((bench / "rl.json").read_text())
    assert sorted(kept) == ["auto auto rl/unstack 100", "curves ppo rl/unstack 100"]
    record = kept["auto auto rl/unstack 100"]
    assert (record["verified"], record["learner"], record["curve"]) == (True, "search", [])
    assert record["wall_seconds"] > record["seconds"]
    assert len(record["commit"]) >= 7
    assert kept["curves ppo rl/unstack 100"]["curve"]
    assert script("rl", "--parts", "auto", *CHOSEN, cwd=bench) == ""
    assert json.loads((bench / "rl.json").read_text()) == kept


def test_the_page_shows_returns_beside_the_papers_and_a_picture(bench: Path) -> None:
    text = (bench / "rl.md").read_text()
    assert "| rl/unstack | 1 | 1 | 1 | 1 | 1 | 30 |" in text
    assert (
        "| rl/unstack | mean of the five starts | 0.920 | 0.920 to 0.920 | 0.920 | 0.920 | 0.000 | 100 % | .920 |"
        in text
    )
    assert "![PPO with the critic against REINFORCE](rl-critic.png)" in text
    with Image.open(bench / "rl-critic.png") as picture:
        assert picture.width > 2 * picture.height


def earned(name: str, mean: float, optimum: float, success: float) -> dict[str, Any]:
    interval = [mean - 0.01, mean + 0.01]
    return {
        "name": name, "size": 10, "episodes": 100, "mean": mean, "interval": interval, "optimum": optimum,
        "exact": True, "success": success,
    }  # fmt: skip


def blocksworld(seed: int, means: tuple[float, float], success: float) -> dict[str, Any]:
    tests = [earned("10 blocks", means[0], 0.91, success), earned("50 blocks", means[1], 0.37, success)]
    return {
        "part": "auto", "asked": "auto", "task": "rl/blocksworld", "seed": seed, "learner": "search", "verified": True,
        "returns": tests, "soft_returns": [], "literals": 20 + seed, "wall_seconds": 500.0 + 500 * seed,
        "ended": "finished", "commit": "abc", "steps": 5, "limit": 880.0,
    }  # fmt: skip


def test_failures_are_shown_as_failures(tmp_path: Path) -> None:
    (tmp_path / "rl-notes.md").write_text("## Why\n\nBecause.\n")
    records = {
        "auto auto rl/blocksworld 0": blocksworld(0, (0.905, 0.31), 1.0),
        "auto auto rl/blocksworld 1": blocksworld(1, (0.905, 0.31), 1.0),
        "auto auto rl/blocksworld 2": blocksworld(2, (0.895, 0.31), 1.0),
        "auto auto rl/blocksworld 3": {**blocksworld(3, (0, 0), 0), "error": "out of memory"},
    }
    text = page(records, tmp_path)
    # Three ended, all verified, none optimal, two as good as asked, one of them in time.
    assert "| rl/blocksworld | 3 | 3 | 0 | 2 | 1 | 900 | 1000.0 | 1500.0 | 21 (20 to 22) | search 3 |" in text
    assert "| rl/blocksworld | 10 blocks | 0.902 | 0.896 to 0.907 | 0.905 | 0.910 | 0.008 | 100 % | - |" in text
    assert "| auto auto rl/blocksworld 2 | finished | 1500.0 | 0.895, 0.31 | 1, 1 |" in text
    assert "auto auto rl/blocksworld 3: out of memory" in text
    assert text.endswith("## Why\n\nBecause.\n")


def test_what_was_asked_for() -> None:
    auto = PARTS["auto"]
    assert auto.is_reached(blocksworld(0, (0.9, 0.3), 1.0))
    assert not auto.is_reached(blocksworld(0, (0.9, 0.3), 0.99))
    assert not auto.is_reached(blocksworld(0, (0.9, 0.29), 1.0))
    soft = {"task": "rl/sorting", "soft_returns": [earned("10 numbers", 0.93, 0.932, 1), earned("50 numbers", 0, 1, 0)]}
    assert [test.name for test in PARTS["soft"].returns(soft)] == ["10 numbers", "50 numbers"]
    assert PARTS["soft"].is_reached(soft)
    assert all(set(part.limits) <= set(part.asked) for part in PARTS.values())
    assert all(math.isfinite(limit) for part in PARTS.values() for limit in part.limits.values())


def test_long_curves_are_thinned_to_their_ends(tmp_path: Path) -> None:
    lines = [{"env_steps": step, "returns": step / 1000, "success": 0.0} for step in range(1000)]
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    curve = read_curve(tmp_path)
    assert len(curve) == POINTS
    assert (curve[0][0], curve[-1][0]) == (0, 999)
    assert read_curve(tmp_path / "none") == []


def test_the_page_of_programs_has_a_program_its_returns_and_an_episode(bench: Path, script: Script) -> None:
    script("learned_policies", "--records", bench / "rl.json", "--out", bench, cwd=bench)
    text = (bench / "learned-policies.md").read_text()
    program = json.loads((bench / "rl.json").read_text())["auto auto rl/unstack 100"]["program"]
    (shown,) = (block for block in text.split("```text\n")[1:] if block.startswith("move") or block.startswith("p1"))
    assert parse_program(shown.partition("```")[0]) == parse_program(program)
    assert "| 7 blocks | 100 | 0.880 | 0.880 | 100 % |" in text
    assert "An episode with 5 blocks, solved in 5 steps with a return of 0.92 (optimum 0.92)." in text
    assert "step 1: move(e, floor)" in text
    for name in ("policy-unstack.png", "policy-unstack.gif"):
        assert f"(pictures/{name})" in text
        assert (bench / "pictures" / name).stat().st_size < 150_000
    with Image.open(bench / "pictures" / "policy-unstack.png") as picture:
        assert picture.size == (3 * 416 + 2 * 8, 2 * 290)


def test_a_strip_shows_the_ends_and_nothing_twice() -> None:
    assert key_frames([b"a"]) == [0]
    assert key_frames([b"a", b"b", b"b", b"c"]) == [0, 1, 3]
    many = [bytes([number]) for number in range(40)]
    assert (key_frames(many)[0], key_frames(many)[-1], len(key_frames(many))) == (0, 39, 6)
