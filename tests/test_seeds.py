"""Random streams: no two of them draw the same numbers, and nobody makes generators another way."""

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dlm
from dlm import seeds
from dlm.policies import verify
from dlm.seeds import Stream, derive_seed, fixed_rng

SOURCE = Path(__file__).parents[1] / "src" / "dlm"

PARTS = ((), (0,), (0, 0), (1,), (0, 1), (1, 0), (6,))


def first(rng: np.random.Generator) -> tuple[int, ...]:
    return tuple(rng.integers(2**63, size=4).tolist())


def test_all_streams_differ() -> None:
    drawn = [first(seeds.rng(seed, stream, *parts)) for seed in (0, 1, 7) for stream in Stream for parts in PARTS]
    assert len(set(drawn)) == len(drawn)


@given(
    st.tuples(st.integers(0, 2**40), st.sampled_from(Stream), st.lists(st.integers(0, 9), max_size=3)),
    st.tuples(st.integers(0, 2**40), st.sampled_from(Stream), st.lists(st.integers(0, 9), max_size=3)),
)
def test_another_name_is_another_stream(
    one: tuple[int, Stream, list[int]], other: tuple[int, Stream, list[int]]
) -> None:
    same = first(seeds.rng(one[0], one[1], *one[2])) == first(seeds.rng(other[0], other[1], *other[2]))
    assert same == (one == other)


def test_derived_seeds_differ_and_repeat() -> None:
    derived = [derive_seed(0, stream, part) for stream in (Stream.PHASE, Stream.ATTEMPT) for part in range(50)]
    assert all(a != b for a, b in combinations(derived, 2))
    assert derived[0] == derive_seed(0, Stream.PHASE, 0)
    assert first(fixed_rng()) == first(fixed_rng())


def test_a_part_that_fills_two_words_is_refused() -> None:
    with pytest.raises(ValueError, match="numbers from 0"):
        seeds.rng(0, Stream.PHASE, 2**32)


def test_nobody_else_makes_generators() -> None:
    made = re.compile(r"default_rng\(|SeedSequence\(|RandomState\(")
    others = [p for p in SOURCE.rglob("*.py") if p.name != "seeds.py" and made.search(p.read_text(encoding="utf-8"))]
    assert not others


def test_a_later_test_draws_other_episodes_than_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[tuple[int, ...]] = []
    try_trials = verify.try_trials

    def watch(play: verify.Play, domain: object, rng: np.random.Generator, *rest: object, **more: object) -> object:
        drawn.append(first(np.random.Generator(np.random.PCG64(rng.bit_generator.seed_seq))))  # type: ignore[arg-type]
        return try_trials(play, domain, rng, *rest, **more)  # type: ignore[arg-type]

    for module in ("run", "policy"):
        monkeypatch.setattr(f"dlm.policies.{module}.try_trials", watch)
    policy = dlm.learn_policy("rl/unstack", learner="search", seed=0)
    policy.evaluate(episodes=2)
    assert len(drawn) == len(set(drawn)) == 2


def test_a_later_test_of_a_task_draws_other_instances_than_the_run() -> None:
    later = first(seeds.rng(0, Stream.LATER_TEST))
    assert later not in {first(seeds.rng(0, Stream.VERIFICATION, attempt)) for attempt in range(100)}
