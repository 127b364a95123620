"""`dlm test` for a policy: fresh episodes, at the published sizes or at any."""

from __future__ import annotations

import json as json_text
import time
from contextlib import nullcontext
from typing import Any

import numpy as np
from rich.console import Console

from dlm.cli.returns import decision_words, print_returns
from dlm.envs import Domain
from dlm.envs.evaluate import Mode, check_policy
from dlm.logic.syntax import Program
from dlm.policies.verify import STREAM, all_passed, try_policy, try_size

__all__ = ["EPISODES", "run_policy_test"]

EPISODES = 100


def run_policy_test(
    program: Program,
    domain: Domain[Any],
    *,
    size: int | None,
    episodes: int | None,
    mode: Mode,
    seed: int,
    json: bool,
) -> bool:
    """Run a program on fresh episodes and print what it earned. Whether it passed everywhere."""
    check_policy(program, domain)
    rng = np.random.default_rng([seed, STREAM])
    started = time.perf_counter()
    err = Console(stderr=True)
    with err.status("testing") if err.is_terminal and not json else nullcontext():
        if size is None:
            tests = try_policy(program, domain, rng, mode=mode, episodes=episodes)
        else:
            tests = (try_size(program, domain, rng, size, episodes or EPISODES, mode=mode),)
    seconds = time.perf_counter() - started
    passed = all_passed(tests)
    if json:
        figures = {
            "task": domain.name,
            "seed": seed,
            "mode": mode,
            "passed": passed,
            "returns": [test.to_json() for test in tests],
            "seconds": round(seconds, 3),
        }
        print(json_text.dumps(figures))
        return passed
    print_returns(tests)
    print()
    print(f"decision  {decision_words(mode)}")
    print(f"task      {domain.name}, seed {seed}, {seconds:.1f} s")
    return passed
