"""`dlm test`: a program on fresh instances of any size, a policy in fresh episodes."""

from __future__ import annotations

import json as json_text
import time
from typing import Annotated

import typer

import dlm
from dlm.api.trials import EPISODES
from dlm.cli.options import JsonOption, ProgramArgument
from dlm.cli.policy_options import GreedyOption, ProblemOption, TrustOption, WorldOption, mode_of, one_problem
from dlm.cli.results import decision_words, print_returns, print_trials
from dlm.learning.verify import INSTANCES

__all__ = ["test"]

NOT_RIGHT = 3


def test(
    source: ProgramArgument,
    task: ProblemOption = None,
    env: WorldOption = None,
    objects: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="Objects of each instance, or blocks. Default: the task's large size; a policy's published tests.",
        ),
    ] = None,
    instances: Annotated[
        int | None, typer.Option(min=1, metavar="N", help=f"How many fresh instances. Default: {INSTANCES}.")
    ] = None,
    episodes: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help=f"How many fresh episodes of a policy. Default: {EPISODES}; the published tests have their own.",
        ),
    ] = None,
    greedy: GreedyOption = None,
    soft: Annotated[
        bool, typer.Option("--soft", metavar="", help="Try the soft policy of a run learned with --keep-soft.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Seed of the instances.")] = 0,
    trust: TrustOption = False,
    json: JsonOption = False,
) -> None:
    """Try a program on fresh instances. Exit code 0 if it is right on all, 3 if not.

    A program for a task to act in (rl/...) is run as a policy. Exit code 0 if every episode reaches the goal or the
    mean return is as good as the optimum, 3 if not.
    """
    started = time.perf_counter()
    tried = dlm.test(
        source,
        one_problem(task, env),
        size=objects,
        instances=instances,
        episodes=episodes,
        mode=None if greedy is None else mode_of(greedy),
        soft=soft,
        seed=seed,
        progress=not json,
        trust=trust,
    )
    seconds = time.perf_counter() - started
    if json:
        print(json_text.dumps({**tried.to_json(), "seconds": round(seconds, 3)}))
    elif tried.trial is None:
        print_returns(tried.returns)
        print()
        print(f"tested    {tried.tested}")
        print(f"decision  {decision_words(mode_of(greedy))}")
        print(f"task      {tried.task}, seed {seed}, {seconds:.1f} s")
    else:
        trial = tried.trial
        print_trials([trial])
        print()
        verdict = "Right on all instances" if trial.passed else f"Wrong on {trial.instances - trial.right} instances"
        print(f"{verdict} of {tried.task}, seed {seed}, in {seconds:.1f} s.")
    raise typer.Exit(0 if tried.passed else NOT_RIGHT)
