"""The page of policies: tables from the runs, the paper's figures beside them."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.rl_curves import AGAINST, ALL_TASKS
from benchmarks.rl_parts import MEAN, PAPER, PAPER_HEAD, PARTS, Part, Record, is_reached, returns_of
from dlm.policies.verify import Earned, all_passed

__all__ = ["page"]

NOTES = "rl-notes.md"

INTRODUCTION = """
Written by `make bench-rl` from `rl.json`, which holds every run. Settings are the defaults of the commit named with
each table, frozen before its seeds were run. [learned-policies.md](../learned-policies.md) shows programs of `auto`
and episodes of them.

`search` plans on small instances and searches for rules: it is not reinforcement learning. `ppo` and `reinforce` are,
by policy gradient. `imitation` has a teacher. `auto` begins with `search` and goes on with `ppo` if need be; *made
by* says whose programs came out. `ppo+repair` made a program that a local search over programs changed or completed
(`policies/gradient/local_search.py`, `fallback.py`); runs on commits 3e0ce34 and 841a1a0 say `ppo` for both.

Returns are those of fresh episodes, run by an evaluator that shares no code with the learners (soft policies are run
by themselves). *verified*: in every test all episodes reach the goal or the mean is within .005 of the optimum.
*optimal*: every mean is within .005 of it. *reached*: what was asked for, which is the optimum, but in Blocksworld a
return that is named below the table. *in time*: reached, within the seconds asked for. Seconds are wall time from the
start of the process to the tested program; the notes at the end say what else ran on the two cores. *mean*: over all
seeds, failed ones too, with a 95 % interval for these policies in other episodes. *lost*: mean difference to the
optimum of the same episodes. *best seed*: of the seed whose returns add up to most, as the paper has it.
"""

CURVES = """
What the soft policy (`--keep-soft`) earns in training, against the steps in the environment (training and exams):
mean over the seeds, and from the worst to the best of them. A run ends when an exam finds the optimum; it then stays
at what its policy earned in fresh episodes. The paper's figure shows success rates averaged over the same three tasks
and five seeds, without numbers.
"""

TRAINING = """A line a run: what the policy earns in training. Returns fall where a lesson with more objects begins, and
while a policy is hardened into a program.
"""


def page(records: dict[str, Record], folder: Path) -> Iterator[str]:
    """The lines of the page. Pictures and notes are those that are in the folder."""
    done = {key: record for key, record in records.items() if "error" not in record}
    yield "# Policies: six tasks, four learners"
    yield INTRODUCTION
    for name, part in PARTS.items():
        runs = [record for record in done.values() if record["part"] == name]
        if runs:
            yield f"## {part.title}\n\nRun on commit {', '.join(sorted({run['commit'] for run in runs}))}.\n"
            yield from _against(runs, part) if name == "curves" else _tables(runs, part)
            yield ""
    if (folder / ALL_TASKS).exists():
        yield f"## Training by `ppo`\n\n{TRAINING}\n![ppo on all tasks]({ALL_TASKS})\n"
    yield from _paper()
    yield from _misses(done) if done else ["\nNo runs yet."]
    errors = {key: record["error"] for key, record in records.items() if "error" in record}
    if errors:
        yield "\n## Runs that ended in an error\n\n```text"
        yield from (f"{key}: {error}" for key, error in sorted(errors.items()))
        yield "```"
    if (folder / NOTES).exists():
        yield f"\n{(folder / NOTES).read_text().strip()}"


def _tables(runs: Sequence[Record], part: Part) -> Iterator[str]:
    yield "| task | seeds | verified | optimal | reached | in time | asked s | median s | worst | literals | made by |"
    yield "|---|---|---|---|---|---|---|---|---|---|---|"
    for task, group in _by_task(runs, part):
        yield _row(task, *_counts(group, part), *_effort(group, part))
    yield ""
    yield f"| task | test | mean | interval | best seed | optimum | lost | success | paper, {part.paper} |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for task, group in _by_task(runs, part):
        best = max(group, key=lambda run: sum(test.mean for test in returns_of(run, part)))
        for name, columns in _test_rows([returns_of(run, part) for run in group], returns_of(best, part)):
            yield _row(task, name, *columns, _published(task, name, part.paper))
    wanted = [f"{mean:g} ({name})" for (_, name), mean in part.wanted.items() if mean > 0]
    if wanted:
        every = ", and every episode at its goal" if part.alone else ""
        yield f"\nAsked for in Blocksworld: a mean of at least {', '.join(wanted)}{every}."


def _by_task(runs: Sequence[Record], part: Part) -> Iterator[tuple[str, list[Record]]]:
    for task in part.tasks:
        group = [run for run in runs if run["task"] == task]
        if group:
            yield task, group


def _counts(group: Sequence[Record], part: Part) -> Iterator[object]:
    yield len(group)
    tests = [returns_of(run, part) for run in group]
    yield sum(map(all_passed, tests))
    yield sum(all(test.optimal for test in each) for each in tests)
    reached = [run for run in group if is_reached(run, part)]
    yield len(reached)
    yield sum(run["wall_seconds"] <= part.asked[run["task"]] for run in reached)


def _effort(group: Sequence[Record], part: Part) -> Iterator[object]:
    seconds = [run["wall_seconds"] for run in group]
    literals = [run["literals"] for run in group]
    yield f"{part.asked[group[0]['task']]:g}"
    yield f"{statistics.median(seconds):.1f}"
    yield f"{max(seconds):.1f}"
    yield "-" if part.keep_soft else f"{statistics.median(literals):g} ({min(literals)} to {max(literals)})"
    yield ", ".join(f"{name} {count}" for name, count in Counter(run["learner"] for run in group).most_common())


def _test_rows(
    runs: Sequence[tuple[Earned, ...]], best: tuple[Earned, ...]
) -> Iterator[tuple[str, tuple[object, ...]]]:
    """A row for each test over all runs; for more than two tests their mean first."""
    for name, chosen in [(MEAN, slice(None))] * (len(best) > 2) + [
        (test.name, slice(place, place + 1)) for place, test in enumerate(best)
    ]:
        tests = [test for run in runs for test in run[chosen]]
        mean = statistics.mean(test.mean for test in tests)
        half = _half_width(tests)
        columns = (
            f"{mean:.3f}",
            f"{mean - half:.3f} to {mean + half:.3f}",
            f"{statistics.mean(test.mean for test in best[chosen]):.3f}",
            f"{'' if all(test.exact for test in tests) else '≥ '}{statistics.mean(map(_optimum, tests)):.3f}",
            f"{statistics.mean(test.lost for test in tests):.3f}",
            f"{100 * statistics.mean(test.success for test in tests):.3g} %",
        )
        yield name, columns


def _optimum(test: Earned) -> float:
    """The built-in tasks know it."""
    assert test.optimum is not None
    return test.optimum


def _half_width(tests: Sequence[Earned]) -> float:
    """Of the interval of a mean over independent tests with intervals of their own."""
    squares = [((test.interval[1] - test.interval[0]) / 2) ** 2 for test in tests]
    return float(sum(squares) ** 0.5 / len(tests))


def _against(runs: Sequence[Record], part: Part) -> Iterator[str]:
    yield CURVES
    yield f"![PPO with the critic against REINFORCE]({AGAINST})\n"
    yield "| task | learner | seeds | optimal | median steps | median s | worst s | mean return | optimum |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for task, group in _by_task(runs, part):
        for learner in part.learners:
            own = [run for run in group if run["asked"] == learner]
            if own:
                first = [returns_of(run, part)[0] for run in own]
                seconds = [run["wall_seconds"] for run in own]
                yield _row(
                    task,
                    learner,
                    len(own),
                    sum(test.optimal for test in first),
                    f"{statistics.median(run['env_steps'] for run in own):,.0f}",
                    f"{statistics.median(seconds):.1f}",
                    f"{max(seconds):.1f}",
                    f"{statistics.mean(test.mean for test in first):.3f}",
                    f"{_optimum(first[0]):.3f}",
                )
    yield f"\nReturns at the training start, four blocks. The time limit is {max(run['limit'] for run in runs):g} s."


def _paper() -> Iterator[str]:
    yield "## The paper\n\nMean rewards of the best seed. NLM and nIDLM are not interpretable. A dash: no working"
    yield "program could be extracted. N/A: out of memory.\n"
    yield f"| task | test | {' | '.join(PAPER_HEAD)} |"
    yield f"|---|---|{'---|' * len(PAPER_HEAD)}"
    for (task, test), figures in PAPER.items():
        yield _row(task, test, *figures)


def _misses(done: dict[str, Record]) -> Iterator[str]:
    yield "\n## Runs that did not reach what was asked for\n"
    missed = sorted(
        key for key, run in done.items() if run["part"] != "curves" and not is_reached(run, PARTS[run["part"]])
    )
    yield "none" if not missed else "| run | ended by | seconds | returns | success |\n|---|---|---|---|---|"
    for key in missed:
        run = done[key]
        tests = returns_of(run, PARTS[run["part"]])
        returns, success = (", ".join(f"{getattr(test, name):.3g}" for test in tests) for name in ("mean", "success"))
        yield _row(key, run["ended"], run["wall_seconds"], returns, success)


def _published(task: str, test: str, column: str) -> str:
    figures = PAPER.get((task, test))
    return "" if figures is None else figures[PAPER_HEAD.index(column)]


def _row(*cells: object) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"
