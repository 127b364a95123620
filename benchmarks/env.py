"""How fast the domains are, and how well the hand-written programs act in them.

Run as ``python -m benchmarks.env`` (``make bench-env``); writes ``docs/benchmarks/env.md`` and JSON.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dlm.envs import Domain, State, domain_names, get_domain, get_teacher, make_env, run_trial, teacher_names
from dlm.envs.evaluate import Mode, choose

__all__ = ["main"]

OUT = Path("docs/benchmarks")
BATCH = 1024
REPEATS = 5
MODES: tuple[Mode, ...] = ("sampled", "greedy")
REQUIRED = {"rl/unstack": 50_000, "rl/blocksworld": 20_000}
"""Steps a second that were asked for, on one core."""


@dataclass(frozen=True)
class Speed:
    """Steps of unfinished episodes a second, and episodes started a second."""

    domain: str
    size: int
    steps: float
    with_legal: float
    with_observation: float
    starts: float
    gymnasium: float


@dataclass(frozen=True)
class Score:
    """What a hand-written program earns in a published test."""

    program: str
    trial: str
    episodes: int
    mode: str
    mean: float
    low: float
    high: float
    optimum: float
    optimum_exact: bool
    success: float


def main() -> None:
    """Measure, and write the page."""
    speeds = [_speed(get_domain(name), size) for name in domain_names() for size in _sizes(name)]
    scores = list(_scores())
    OUT.mkdir(parents=True, exist_ok=True)
    results = {"speeds": list(map(asdict, speeds)), "scores": list(map(asdict, scores))}
    (OUT / "env.json").write_text(json.dumps(results, indent=1) + "\n")
    (OUT / "env.md").write_text("\n".join(_page(speeds, scores)) + "\n")
    print((OUT / "env.md").read_text())


def _sizes(name: str) -> tuple[int, ...]:
    return tuple(sorted({trial.size for trial in get_domain(name).trials()} & {4, 7, 10, 50}))


def _speed(domain: Domain[Any], size: int) -> Speed:
    """Medians over several batches of episodes in which legal actions are drawn at random; the drawing is not timed."""

    def nothing(state: State) -> object:
        return state

    def rate(look: Callable[[State], object]) -> float:
        return statistics.median(_steps_a_second(domain, size, seed, look) for seed in range(REPEATS))

    begin = time.process_time()
    domain.reset(np.random.default_rng(0), BATCH, size)
    starts = BATCH / (time.process_time() - begin)
    return Speed(
        domain=domain.name,
        size=size,
        steps=rate(nothing),
        with_legal=rate(domain.legal),
        with_observation=rate(lambda state: (domain.legal(state), domain.observe(state))),
        starts=starts,
        gymnasium=_gymnasium_steps_a_second(domain, size),
    )


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


def _scores() -> Iterator[Score]:
    for name in teacher_names():
        domain = get_domain(f"rl/{name.partition('-')[0]}")
        for trial in domain.trials():
            for mode in MODES:
                found = run_trial(get_teacher(name), domain, np.random.default_rng(0), trial, mode=mode)
                yield Score(
                    name,
                    trial.name,
                    found.episodes,
                    mode,
                    found.mean,
                    *found.interval,
                    found.optimum_mean,
                    bool(found.exact.all()),
                    found.success,
                )


def _page(speeds: list[Speed], scores: list[Score]) -> Iterator[str]:
    yield "# Environments: speed, and what hand-written programs earn\n"
    yield f"Written by `make bench-env`. CPU seconds of one core, {BATCH} episodes at once, random legal actions."
    yield "Steps a second of episodes that are not over, median of 5 batches. *step*: the step alone, with its"
    yield "check of legality, its reward and its end; *+ legal*: with the mask of all legal actions; *+"
    yield "observation*: with that and the tables a policy reads. *starts*: episodes drawn a second. *Gymnasium*:"
    yield "one episode at a time, observed as structures.\n"
    yield "| domain | size | step | + legal | + observation | starts | Gymnasium | asked for |"
    yield "|---|---|---|---|---|---|---|---|"
    for s in speeds:
        numbers = (s.steps, s.with_legal, s.with_observation, s.starts, s.gymnasium)
        asked = f"{REQUIRED[s.domain]:,}" if s.domain in REQUIRED and s.size in (4, 10) else ""
        yield f"| {s.domain} | {s.size} | {' | '.join(f'{n:,.0f}' for n in numbers)} | {asked} |"
    yield "\nReturns of the programs in `src/dlm/envs/programs` in the published tests, with 95 % intervals."
    yield "A program named *-paper* is as the paper prints it. *optimum*: the best possible on the same episodes"
    proved = all(score.optimum_exact for score in scores)
    yield f"({'proved for every one of them' if proved else 'a lower bound where marked ≥'}).\n"
    yield "| program | test | episodes | choice | return | interval | optimum | success |"
    yield "|---|---|---|---|---|---|---|---|"
    for score in scores:
        optimum = f"{'' if score.optimum_exact else '≥ '}{score.optimum:.3f}"
        yield (
            f"| {score.program} | {score.trial} | {score.episodes} | {score.mode} | {score.mean:.3f} | "
            f"{score.low:.3f} to {score.high:.3f} | {optimum} | {score.success:.2f} |"
        )


if __name__ == "__main__":
    main()
