"""How results are printed: the program, what is known of it, who made it, and what to do next."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.text import Text

from dlm.cli.display import console, count, percent, print_program, print_table, size_of
from dlm.envs.evaluate import Mode
from dlm.learning.result import Result, ScheduleEnd, SoftResult
from dlm.learning.rules.result import DataResult, Interval
from dlm.learning.settings import BASELINES
from dlm.learning.verify import TrialResult
from dlm.policies.policy import Policy
from dlm.policies.verify import DIGITS, Earned
from dlm.runs.problem import can_reopen

__all__ = ["decision_words", "print_result", "print_returns", "print_trials"]

HEAD = ("TEST", "EPISODES", "MEAN RETURN", "95 % INTERVAL", "OPTIMUM", "SUCCESS")

WHY = {
    "time limit": "the time limit was reached",
    "interrupted": "interrupted",
    "stopped": "a callback ended the run",
    "finished": "the learner has nothing more to try",
}
RARE = 0.1
"""Where true atoms are a smaller share than this, recall and precision are shown instead of accuracy."""


def print_result(result: Result | SoftResult | Policy | DataResult) -> None:
    """The program, if there is one, and all that is known about what was learned."""
    out = console()
    if isinstance(result, DataResult):
        _print_data_result(result)
        return
    if not isinstance(result, SoftResult):
        print_program(result.program)
        out.print()
    if isinstance(result, Policy):
        _print_returns(result)
    else:
        out.print(_soft_headline(result) if isinstance(result, SoftResult) else _task_headline(result))
        print_trials(result.trials if isinstance(result, SoftResult) else result.verification.trials)
        out.print()
    out.print(f"tested      {result.tested.removeprefix('tested ')}")
    if not isinstance(result, SoftResult):
        raw = f"; as extracted: {size_of(result.raw)}" if isinstance(result, Result) else ""
        out.print(f"size        {size_of(result.program)}{raw}")
    steps = f"{result.steps:,} environment steps" if isinstance(result, Policy) else count(result.steps, "step")
    out.print(f"effort      {result.seconds:.1f} s, {count(result.restarts, 'restart')}, {steps}")
    if isinstance(result, Result) and result.schedule is not None:
        out.print(f"schedule    {_schedule_words(result.schedule)}")
    out.print(f"task        {result.task}, seed {result.seed}")
    if result.run_dir is None:
        return
    out.print(f"run folder  {result.run_dir}")
    out.print()
    for number, (command, why) in enumerate(_next(result)):
        out.print(f"{'Next: ' if number == 0 else '      '}{command}   # {why}")


def _print_data_result(result: DataResult) -> None:
    """The program, how it does, the front that it was chosen from, and why it was."""
    out = console()
    print_program(result.program)
    out.print()
    rows = [("learned from", result.train)] + ([("held out", result.test)] if result.test is not None else [])
    print_table(
        ("ATOMS", "TP", "FP", "FN", "TN", "ACCURACY"),
        [(name, *map(str, (f.hits, f.alarms, f.misses, f.rejections)), str(Interval.of(f))) for name, f in rows],
    )
    out.print()
    front = [(">" if p.program == result.program else "", str(p.size), f"{p.errors:g}") for p in result.front]
    print_table(("CHOSEN", "SIZE", "ERRORS"), front)
    out.print()
    out.print(f"tested      {result.tested}")
    out.print(f"claim       at least {result.claim:.3f} right on unseen atoms")
    out.print(f"chosen      {result.chosen_because}")
    out.print(f"worlds      {result.worlds}")
    out.print(f"effort      {result.seconds:.1f} s, {count(result.restarts, 'stage')}, by {result.learner}")
    if result.run_dir is not None:
        out.print(f"run folder  {result.run_dir}")
        out.print()
        out.print(f"Next: dlm export {result.run_dir} --to sql   # or prolog, python, ...")


def _schedule_words(schedule: ScheduleEnd) -> str:
    """When the program was first right on the way, and whether it is at the end."""
    first = schedule.first_verified
    on_the_way = "never verified" if first is None else f"first verified at step {first:,}"
    return f"{on_the_way}; the program at its end is {'right' if schedule.verified else 'wrong'}"


def _next(result: Result | SoftResult | Policy) -> list[tuple[str, str]]:
    """Commands that make sense now, and why."""
    run = result.run_dir
    assert run is not None
    found, takes_trust = can_reopen(run)
    trust = " --trust" if takes_trust else ""
    if not found:
        return [(f"dlm show {run}", "the program; what needs the problem itself wants it again: --task or --env")]
    longer = "" if result.ended in ("interrupted", "stopped") else f" --time-limit {_more(result.seconds)}"
    resume = f"dlm learn --resume {run}{longer}{trust}"
    if isinstance(result, SoftResult) and (result.verified or result.ended == "finished"):
        return [(f"dlm test {run} --objects {2 * result.train.sizes[0]}{trust}", "the soft model at any size")]
    if not result.verified and isinstance(result, Result) and result.schedule is not None:
        schedule = "" if result.learner in BASELINES else " --schedule paper"
        other = f"dlm learn {result.task} --learner {result.learner}{schedule} --seed {result.seed + 1}"
        return [(other, "the schedule has one start: another seed")]
    if not result.verified:
        again = isinstance(result, Policy) and result.ended == "finished"
        return [(resume, "another attempt; the best program is kept" if again else "go on")]
    if isinstance(result, Policy):
        larger = 2 * max(result.tested_sizes)
        lines = [
            (f"dlm play {run} --explain{trust}", "an episode, with the reason of each action"),
            (f"dlm test {run} --objects {larger}{trust}", "fresh episodes of any size"),
        ]
        if result.ended != "finished" and not result.optimal:
            lines.append((resume, "go on: it may earn more"))
        return lines
    return [
        (f"dlm show {run} --raw", "the program as extracted, before pruning"),
        (f"dlm test {run} --objects 200{trust}", "one more trial, at any size"),
    ]


def _more(seconds: float) -> int:
    """A time limit that gives a run as long again as it had, in round numbers."""
    return max(60, round(2 * seconds / 60) * 60)


# ---------------------------------------------------------------------- tasks


def _task_headline(result: Result) -> Text:
    if result.verified:
        instances = sum(trial.instances for trial in result.verification.trials)
        return Text.assemble(
            ("Verified", "bold green"), f": no error on {instances} fresh instances. Learned by {result.learner}."
        )
    by = "no learner had a program yet" if result.learner == "none" else f"learned by {result.learner}"
    return Text.assemble(
        ("Not verified", "bold yellow"), f": {WHY[result.ended]}. This is the best program so far, {by}."
    )


def _soft_headline(result: SoftResult) -> Text:
    instances = sum(trial.instances for trial in result.trials)
    if result.verified:
        return Text.assemble(
            ("Soft model", "bold green"), f": no error on {instances} fresh instances. Learned by {result.learner}."
        )
    return Text.assemble(
        ("Soft model", "bold yellow"), f", not right everywhere: {WHY[result.ended]}. Learned by {result.learner}."
    )


def print_trials(trials: Sequence[TrialResult]) -> None:
    """A table of how often a program was right."""
    fits = [trial.fit for trial in trials]
    true = sum(fit.hits + fit.misses for fit in fits)
    rare = true < RARE * (true + sum(fit.alarms + fit.rejections for fit in fits))
    heads = ("RECALL", "PRECISION") if rare else ("SUCCESS RATE",)
    rows = []
    for trial in trials:
        shares = (trial.fit.recall, trial.fit.precision) if rare else (trial.success_rate,)
        rows.append((str(trial.instances), _sizes(trial.sizes), str(trial.right), *map(percent, shares)))
    print_table(("INSTANCES", "OBJECTS", "WHOLLY RIGHT", *heads), rows)


def _sizes(sizes: tuple[int, ...]) -> str:
    if len(sizes) > 2 and list(sizes) == list(range(sizes[0], sizes[-1] + 1)):
        return f"{sizes[0]} to {sizes[-1]}"
    return ", ".join(map(str, sizes))


# ---------------------------------------------------------------------- policies


def _print_returns(result: Policy) -> None:
    out = console()
    out.print(_policy_headline(result))
    if result.soft_tests:
        out.print("The soft policy:")
        print_returns(result.soft_tests)
        out.print("The program of its likeliest choices, printed above:")
    print_returns(result.tests)
    out.print()
    out.print(f"decision    {decision_words('sampled')}")
    out.print(f"learner     {result.learner}: {result.method}")


def _policy_headline(result: Policy) -> Text:
    tests = result.soft_tests or result.tests
    episodes = sum(test.episodes for test in tests)
    if not result.verified:
        return Text.assemble(
            ("Not verified", "bold yellow"), f": {WHY[result.ended]}. This is the best program so far."
        )
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


def print_returns(tests: Sequence[Earned]) -> None:
    """A table with a row for each test."""
    print_table(HEAD, [_row(test) for test in tests])
    if any(not test.exact and test.optimum is not None for test in tests):
        print("* the best known: a lower bound of the optimum")


def decision_words(mode: Mode) -> str:
    """How one of several true actions is chosen, in a sentence."""
    if mode == "greedy":
        return (
            "of several true actions the first in the order of the objects is taken; if none is true, the first of all"
        )
    return "one of the true actions, uniformly at random; any action if none is true"


def _short(value: float) -> str:
    """Three digits, the same before and after a result was saved."""
    return f"{round(value, DIGITS):.3f}"


def _row(test: Earned) -> tuple[str, ...]:
    low, high = test.interval
    return (
        test.name,
        str(test.episodes),
        _short(test.mean),
        "-" if math.isnan(low) else f"{_short(low)} to {_short(high)}",
        "unknown" if test.optimum is None else _short(test.optimum) + ("" if test.exact else "*"),
        percent(test.success),
    )
