"""How results are printed: the program, what is known of it, who made it, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import indent

from rich.text import Text

from dlm.api.summary import AnyResult, fit_table, headline, return_table, trial_table
from dlm.api.tables import TextTable
from dlm.cli.display import console, count, print_lines, print_program, print_table, size_of
from dlm.envs.evaluate import Mode
from dlm.learning.result import Result, ScheduleEnd, SoftResult, enough_for
from dlm.learning.rules.result import DataResult
from dlm.learning.settings import BASELINES
from dlm.learning.verify import TrialResult
from dlm.policies.policy import Policy
from dlm.policies.verify import Earned
from dlm.runs.problem import can_reopen

__all__ = ["decision_words", "print_result", "print_returns", "print_trials"]


def print_result(result: AnyResult) -> None:
    """The program, if there is one, and all that is known about what was learned."""
    out = console()
    if isinstance(result, DataResult):
        _print_data_result(result)
        return
    if not isinstance(result, SoftResult):
        print_program(result.program)
        out.print()
    said = headline(result)
    out.print(Text.assemble((said.state, "bold green" if said.good else "bold yellow"), said.rest))
    if isinstance(result, Policy):
        _print_returns(result)
    else:
        print_trials(result.trials if isinstance(result, SoftResult) else result.verification.trials)
        out.print()
    out.print(f"tested      {result.tested.removeprefix('tested ')}")
    if not isinstance(result, SoftResult):
        raw = f"; as extracted: {size_of(result.raw)}" if isinstance(result, Result) else ""
        out.print(f"size        {size_of(result.program)}{raw}")
    steps = f"{result.steps:,} environment steps" if isinstance(result, Policy) else count(result.steps, "step")
    out.print(f"effort      {result.seconds:.1f} s, {count(result.restarts, 'start')}, {steps}")
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
    _print(fit_table(result))
    out.print()
    front = [(">" if p.program == result.program else "", str(p.size), f"{p.errors:g}") for p in result.front]
    print_table(("CHOSEN", "SIZE", "ERRORS"), front)
    out.print()
    _print_failure(result)
    out.print(f"tested      {result.tested}")
    out.print(f"claim       {_claim(result)}")
    out.print(f"chosen      {result.chosen_because}")
    out.print(f"worlds      {result.worlds}")
    out.print(f"effort      {result.seconds:.1f} s, {count(result.restarts, 'stage')}, by {result.learner}")
    if result.run_dir is not None:
        out.print(f"run folder  {result.run_dir}")
        out.print()
        out.print(f"Next: dlm export {result.run_dir} --to sql   # or prolog, python, ...")


def _claim(result: DataResult) -> str:
    if result.claim is None:
        return f"none: {result.unclaimed}"
    state = (", met" if result.verified else ", not met") if result.test else ": nothing is held out to test it on"
    return f"at least {result.claim:.3f} right on unseen atoms{state}"


def _print_failure(result: DataResult) -> None:
    """The wrong atoms with the reasons, what stands in the way, and what to try; of a good result only which atoms."""
    failure = result.failure
    if failure.wrong and result.good:
        names = ", ".join(one.atom for one in failure.wrong)
        print_lines(f"wrong about {names}{', ...' if len(failure.wrong) > 4 else ''}; dlm explain says why", "  ")
        print()
    for one in () if result.good else failure.wrong:
        print_lines(f"{one.atom} should be {'true' if one.expected else 'false'}, but", "")
        print(indent(one.explanation, "  "))
        print()
    for reason in failure.reasons:
        print_lines(reason, "  ")
    if failure.advice:
        print("What to try:")
        for line in failure.advice:
            print_lines(f"- {line}", "  ")
    if failure.reasons or failure.advice:
        print()


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
    longer = "" if result.ended in ("interrupted", "stopped") else f" --time-limit {_more(result)}"
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


def _more(result: Result | SoftResult | Policy) -> int:
    """A time limit that lets a schedule end itself, or gives a run as long again as it had, in round numbers."""
    needed = None if isinstance(result, Policy) else result.seconds_needed
    return max(60, round(2 * result.seconds / 60) * 60) if needed is None else enough_for(needed)


def print_trials(trials: Sequence[TrialResult]) -> None:
    """A table of how often a program was right."""
    _print(trial_table(trials))


def print_returns(tests: Sequence[Earned]) -> None:
    """A table with a row for each test."""
    _print(return_table(tests))


def _print(table: TextTable) -> None:
    print_table(table.head, table.rows)
    if table.foot is not None:
        print(table.foot)


def _print_returns(result: Policy) -> None:
    out = console()
    if result.soft_tests:
        out.print("The soft policy:")
        print_returns(result.soft_tests)
        out.print("The program of its likeliest choices, printed above:")
    print_returns(result.tests)
    out.print()
    out.print(f"decision    {decision_words('sampled')}")
    out.print(f"learner     {result.learner}: {result.method}")


def decision_words(mode: Mode) -> str:
    """How one of several true actions is chosen, in a sentence."""
    if mode == "greedy":
        return (
            "of several true actions the first in the order of the objects is taken; if none is true, the first of all"
        )
    return "one of the true actions, uniformly at random; any action if none is true"
