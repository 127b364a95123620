"""The page of learned programs that act: one of `auto` for each task, its returns, and an episode in pictures.

Run as ``python -m benchmarks.policy_page`` after ``python -m benchmarks.rl --part auto``; reads ``rl.json`` and writes
``docs/learned-policies.md`` and the pictures beside it. Episodes are played and drawn by ``dlm play``. Of the seeds of
a task the smallest program with optimal returns is shown, or the one that earns most if none is optimal.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.rl_parts import Record
from benchmarks.strip import draw_strip
from dlm.envs import domain_names, get_domain
from dlm.envs.registry import GOALS
from dlm.policies.verify import Earned

__all__ = ["main"]

RECORDS = Path("docs/benchmarks/rl.json")
OUT = Path("docs")
PAGE = "learned-policies.md"
PICTURES = "pictures"
OBJECTS = {
    "rl/unstack": 5,
    "rl/stack": 5,
    "rl/on": 5,
    "rl/sorting": 7,
    "rl/path": 10,
    "rl/blocksworld": 5,
}
"""Of the episode that is shown: enough to see what is going on, few enough for a picture."""
PLAYED = (0, 3)
"""Exit codes of `dlm play` with an episode: the goal is reached, or not."""
WIDTH = 110
LEVELS, LINES = 2, 16
"""How deep the reason of the first action goes, and how long it may be to be shown."""

INTRODUCTION = """# Learned policies

Programs that `dlm learn rl/...` learned, one a task, and an episode of each. Written by `make bench-rl`: of the seeds
of `auto` in [benchmarks/rl.md](benchmarks/rl.md), the smallest program with optimal returns, or the one that earns most
where none is optimal. In each state one of the actions that the program makes true is drawn at random; any action, if
none is true.

Learn, test and watch one yourself:

```sh
dlm learn rl/stack --seed 0 --out runs/stack
dlm test runs/stack --objects 12 --episodes 50
dlm play runs/stack --objects 5 --explain
dlm play runs/stack --objects 5 --render gif --out stack.gif
```
"""


def main() -> None:
    """Choose programs, play them, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--records", type=Path, default=RECORDS, help="the runs: rl.json")
    parser.add_argument("--out", type=Path, default=OUT, help="where the page and the folder of pictures go")
    parser.add_argument("--task", choices=domain_names(), action="append", help="only these tasks")
    options = parser.parse_args()
    records: list[Record] = list(json.loads(options.records.read_text()).values())
    (options.out / PICTURES).mkdir(parents=True, exist_ok=True)
    lines = [INTRODUCTION]
    for task in options.task or domain_names():
        runs = [run for run in records if (run["part"], run["task"]) == ("auto", task) and "error" not in run]
        if runs:
            lines += _section(min(runs, key=_rank), len(runs), options.out)
    (options.out / PAGE).write_text("\n".join(lines).rstrip() + "\n")


def _rank(run: Record) -> tuple[object, ...]:
    """Smaller is better."""
    earned = -sum(test["mean"] for test in run["returns"])
    return (0, run["literals"], earned) if run["optimal"] else (1, not run["verified"], earned)


def _section(run: Record, count: int, out: Path) -> Iterator[str]:
    task, stem = run["task"], run["task"].partition("/")[2]
    episode = _play(run, out / PICTURES / f"policy-{stem}.png", out / PICTURES / f"policy-{stem}.gif")
    yield f"## {stem.capitalize()}\n\n{_introduction(run, count)}\n"
    yield f"```text\n{_wrapped(run['program'])}\n```\n"
    yield "| test | episodes | mean return | optimum | success |\n|---|---|---|---|---|"
    for test in map(Earned.from_json, run["returns"]):
        known = f"{'' if test.exact else '≥ '}{test.mean + test.lost:.3f}"
        yield f"| {test.name} | {test.episodes} | {test.mean:.3f} | {known} | {100 * test.success:.3g} % |"
    domain = get_domain(task)
    late = " The last action collects the reward and moves nothing." if domain.collects_late else ""
    yield f"\nAn episode with {OBJECTS[task]} {domain.counts}, {episode.outcome}.{late}"
    yield f"As a [moving picture]({PICTURES}/policy-{stem}.gif), and step by step:\n"
    yield f"![{stem}]({PICTURES}/policy-{stem}.png)\n"
    if episode.reason:
        yield f"Why the first action:\n\n```text\n{episode.reason}\n```\n"


def _wrapped(program: str) -> str:
    """A program with short lines; where they end means nothing."""
    return "\n".join(
        textwrap.fill(line, WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
        for line in program.splitlines()
    )


def _introduction(run: Record, count: int) -> str:
    state = "Verified, with optimal returns" if run["optimal"] else "Verified" if run["verified"] else "Not verified"
    of = f", one of {count} seeds" if count > 1 else ""
    return (
        f"{GOALS[run['task']]} {state}. Learned with seed {run['seed']}{of}, in {run['wall_seconds']:.0f} s, by "
        f"`{run['learner']}`: {run['method']}. {run['literals']} literals, commit {run['commit']}."
    )


@dataclass(frozen=True)
class _Episode:
    """What is said of an episode."""

    outcome: str
    reason: str


def _play(run: Record, strip: Path, gif: Path) -> _Episode:
    """Play an episode, draw it as a strip and as a moving picture, and ask why its first action."""
    with tempfile.TemporaryDirectory(prefix="dlm-policy-") as folder:
        program, frames = Path(folder) / "program.dlm", Path(folder) / "frames"
        program.write_text(run["program"])
        asked = ("play", program, "--task", run["task"], "--objects", OBJECTS[run["task"]])
        episode: dict[str, Any] = json.loads(_dlm(*asked, "--json", "--render", "png", "--out", frames))
        _dlm(*asked, "--render", "gif", "--out", gif)
        draw_strip(sorted(frames.iterdir()), [step["action"] for step in episode["steps"]], strip)
        text = _dlm(*asked, "--explain", "--levels", LEVELS)
    end = "solved" if episode["solved"] else "not solved"
    steps = len(episode["steps"])
    outcome = f"{end} in {steps} steps with a return of {episode['return']:.2f} (optimum {episode['optimum']:.2f})"
    return _Episode(outcome, _first_reason(text.splitlines()))


def _first_reason(lines: Sequence[str]) -> str:
    """What is said of the first step, if it is not too long to read."""
    begin = next((number for number, line in enumerate(lines) if line.startswith("step 1:")), len(lines))
    reason = []
    for line in lines[begin:]:
        if not line:
            break
        reason.append(line)
    return "\n".join(reason) if 1 < len(reason) <= LINES else ""


def _dlm(*arguments: object) -> str:
    command = [sys.executable, "-m", "dlm", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in PLAYED:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
