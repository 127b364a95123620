"""`dlm test` for a policy: fresh episodes, at the published sizes or at any."""

from __future__ import annotations

import json as json_text
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from rich.console import Console

from dlm import seeds
from dlm.cli.returns import decision_words, print_returns
from dlm.envs import Domain
from dlm.envs.evaluate import Mode
from dlm.policies.gradient.soft_file import load_soft
from dlm.policies.verify import Play, Tested, try_size, try_trials
from dlm.runs.folder import RunFolder
from dlm.seeds import Stream

__all__ = ["EPISODES", "run_policy_test", "soft_play"]

EPISODES = 100


def run_policy_test(
    play: Play,
    domain: Domain[Any],
    *,
    size: int | None,
    episodes: int | None,
    mode: Mode,
    seed: int,
    json: bool,
) -> bool:
    """Play fresh episodes and print what they earned. Whether the policy passed everywhere."""
    rng = seeds.rng(seed, Stream.LATER_TEST)
    started = time.perf_counter()
    err = Console(stderr=True)
    with err.status("testing") if err.is_terminal and not json else nullcontext():
        if size is None:
            tested = try_trials(play, domain, rng, episodes)
        else:
            tested = Tested((try_size(play, domain, rng, size, episodes or EPISODES),))
    seconds = time.perf_counter() - started
    passed = tested.passed
    if json:
        figures = {
            "task": domain.name,
            "seed": seed,
            "mode": mode,
            "passed": passed,
            "returns": [test.to_json() for test in tested.tests],
            **tested.sizes_json(),
            "seconds": round(seconds, 3),
        }
        print(json_text.dumps(figures))
        return passed
    print_returns(tested.tests)
    print()
    print(f"tested    {tested}")
    print(f"decision  {decision_words(mode)}")
    print(f"task      {domain.name}, seed {seed}, {seconds:.1f} s")
    return passed


def soft_play(source: Path, domain: Domain[Any], mode: Mode) -> Play:
    """Episodes by the soft policy of a run. It is the actor itself that plays: there is no program to evaluate."""
    soft = load_soft(RunFolder.open(source), domain)
    return lambda start, rng: soft.run(start, rng, mode)
