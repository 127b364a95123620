"""`dlm learn rl/...`: from a world to act in to a verified policy."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Any

from rich.text import Text

from dlm.api import resume_policy
from dlm.cli.display import console, count, print_program, size_of
from dlm.cli.progress import open_watch
from dlm.cli.returns import decision_words, print_returns
from dlm.envs import Domain
from dlm.policies.outcome import PolicyRun
from dlm.policies.run import learn_policy_task
from dlm.policies.settings import PolicyRunSettings

__all__ = ["learn_policy_run", "print_policy_run", "resume_policy_run"]

NOT_VERIFIED = 3


def learn_policy_run(domain: Domain[Any], settings: PolicyRunSettings, out: Path | None, *, json: bool) -> int:
    """Learn a policy and print it. The exit code."""
    with open_watch(f"Learning a policy for {domain.name}", quiet=json) as watch:
        result = learn_policy_task(domain, settings, out=out, observer=watch)
    return _show(result, json=json)


def resume_policy_run(run: Path, time_limit: float | None, *, json: bool) -> int:
    """Go on with the run in a folder and print what comes out. The exit code."""
    with open_watch(f"Resuming {run}", quiet=json) as watch:
        policy = resume_policy(run, time_limit=time_limit, observer=watch)
    return _show(policy.run, json=json)


def _show(result: PolicyRun, *, json: bool) -> int:
    if json:
        print(json_text.dumps(result.to_json()))
    else:
        print_policy_run(result)
    return 0 if result.verified else NOT_VERIFIED


def print_policy_run(result: PolicyRun) -> None:
    """The program, what it earns, how it decides, who made it, and what to do next."""
    print_program(result.program)
    out = console()
    out.print()
    out.print(_headline(result))
    if result.soft_tests:
        out.print("The soft policy:")
        print_returns(result.soft_tests)
        out.print("The program of its likeliest choices, printed above:")
    print_returns(result.tests)
    out.print()
    out.print(f"tested      {result.tested}")
    out.print(f"decision    {decision_words('sampled')}")
    out.print(f"learner     {result.learner}: {result.method}")
    out.print(f"size        {size_of(result.program)}")
    starts, steps = count(result.starts, "start"), f"{result.env_steps:,} environment steps"
    out.print(f"effort      {result.seconds:.1f} s, {starts}, {steps}")
    out.print(f"task        {result.task}, seed {result.seed}")
    if result.run_dir is None:
        return
    out.print(f"run folder  {result.run_dir}")
    out.print()
    longer = f" --time-limit {max(60, round(2 * result.seconds / 60) * 60)}"
    resume = f"dlm learn --resume {result.run_dir}{'' if result.ended == 'interrupted' else longer}"
    if not result.verified:
        other = "another attempt; the best program is kept" if result.ended == "finished" else "go on"
        out.print(f"Next: {resume}   # {other}")
        return
    out.print(f"Next: dlm play {result.run_dir} --explain   # an episode, with the reason of each action")
    out.print(f"      dlm test {result.run_dir} --objects {2 * max(test.size for test in result.tests)}")
    if result.ended != "finished" and not result.optimal:
        out.print(f"      {resume}   # go on: it may earn more")


def _headline(result: PolicyRun) -> Text:
    tests = result.soft_tests or result.tests
    episodes = sum(test.episodes for test in tests)
    if not result.verified:
        why = {
            "time limit": "the time limit was reached",
            "interrupted": "interrupted",
            "finished": "the learner has nothing more to try",
        }[result.ended]
        return Text.assemble(("Not verified", "bold yellow"), f": {why}. This is the best program so far.")
    if not all(test.success == 1.0 for test in tests):
        found = f"the mean return over {episodes} fresh episodes is as good as the optimum"
    elif result.optimal:
        found = f"all {episodes} fresh episodes reach the goal, with the best return possible"
    elif any(test.optimum is None for test in tests):
        found = f"all {episodes} fresh episodes reach the goal"
    else:
        gap = max(test.lost for test in tests)
        found = f"all {episodes} fresh episodes reach the goal, with at most {gap:.3f} less return than possible"
    return Text.assemble(("Verified", "bold green"), f": {found}.")
