"""How fast the domains are, and how well the hand-written programs act in them.

Run as ``python -m benchmarks.env`` (``make bench-env``); writes ``docs/benchmarks/env.md`` and JSON.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np

from benchmarks.pages import OUT, Record, render, write
from dlm.envs import Domain, State, domain_names, get_domain, get_teacher, make_env, run_trial, teacher_names
from dlm.envs.evaluate import Mode, choose

__all__ = ["main", "page"]

BATCH = 1024
REPEATS = 5
MODES: tuple[Mode, ...] = ("sampled", "greedy")
REQUIRED = {"rl/unstack": 50_000, "rl/blocksworld": 20_000}
"""Steps a second that were asked for, on one core."""


def main() -> None:
    """Measure, and write the page."""
    speeds = [_speed(get_domain(name), size) for name in domain_names() for size in _sizes(name)]
    figures = {"speeds": speeds, "scores": list(_scores())}
    write(OUT, "env", figures, page(figures))
    print(page(figures))


def page(figures: Record) -> str:
    """The page of these figures."""
    proved = all(score["optimum_exact"] for score in figures["scores"])
    return render("env", {**figures, "batch": BATCH, "repeats": REPEATS, "required": REQUIRED, "proved": proved})


def _sizes(name: str) -> tuple[int, ...]:
    return tuple(sorted({trial.size for trial in get_domain(name).trials()} & {4, 7, 10, 50}))


def _speed(domain: Domain[Any], size: int) -> Record:
    """Medians over several batches of episodes in which legal actions are drawn at random; the drawing is not timed."""

    def nothing(state: State) -> object:
        return state

    def rate(look: Callable[[State], object]) -> float:
        return statistics.median(_steps_a_second(domain, size, seed, look) for seed in range(REPEATS))

    begin = time.process_time()
    domain.reset(np.random.default_rng(0), BATCH, size)
    starts = BATCH / (time.process_time() - begin)
    return {
        "domain": domain.name,
        "size": size,
        "steps": rate(nothing),
        "with_legal": rate(domain.legal),
        "with_observation": rate(lambda state: (domain.legal(state), domain.observe(state))),
        "starts": starts,
        "gymnasium": _gymnasium_steps_a_second(domain, size),
    }


def _steps_a_second(domain: Domain[Any], size: int, seed: int, look: Callable[[State], object]) -> float:
    rng = np.random.default_rng(seed)
    state, asked = domain.reset(rng, BATCH, size), domain.asked(size)
    steps, seconds = 0, 0.0
    for _ in range(20):
        actions = choose(rng, domain.legal(state), asked)
        steps += int((~state.finished).sum())
        begin = time.process_time()
        look(state)
        state = domain.step(state, actions).state
        seconds += time.process_time() - begin
        if state.finished.all():
            break
    return steps / seconds


def _gymnasium_steps_a_second(domain: Domain[Any], size: int) -> float:
    env = make_env(domain.name, **{domain.counts: size})
    _, info = env.reset(seed=0)
    env.action_space.seed(0)
    steps, seconds = 0, 0.0
    while steps < 100:
        action = env.action_space.sample(info["action_mask"])
        begin = time.process_time()
        _, _, terminated, truncated, info = env.step(action)
        seconds += time.process_time() - begin
        steps += 1
        if terminated or truncated:
            _, info = env.reset()
    return steps / seconds


def _scores() -> Iterator[Record]:
    """What the hand-written programs earn in the published tests."""
    for name in teacher_names():
        domain = get_domain(f"rl/{name.partition('-')[0]}")
        for trial, mode in product(domain.trials(), MODES):
            found = run_trial(get_teacher(name), domain, np.random.default_rng(0), trial, mode=mode)
            low, high = found.interval
            yield {
                "program": name,
                "trial": trial.name,
                "episodes": found.episodes,
                "mode": mode,
                "mean": found.mean,
                "low": low,
                "high": high,
                "optimum": found.optimum_mean,
                "optimum_exact": bool(found.exact.all()),
                "success": found.success,
            }


if __name__ == "__main__":
    main()
