"""The page of learned programs that act: one of `auto` for each task, its returns, and an episode in pictures.

Run as ``python -m benchmarks.learned_policies`` after ``python -m benchmarks.rl --parts auto``; reads ``rl.json`` and
writes ``docs/learned-policies.md`` and the pictures beside it. Episodes are played and drawn by ``dlm play``. Of the
seeds of a task the smallest program with optimal returns is shown, or the one that earns most if none is optimal.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from itertools import dropwhile, takewhile
from pathlib import Path

from benchmarks.pages import OUT, Record, render
from benchmarks.strip import draw_strip
from benchmarks.sweep import by_task
from dlm.cli.display import wrapped
from dlm.envs import domain_names, get_domain
from dlm.envs.registry import goal_of

__all__ = ["main"]

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


def main() -> None:
    """Choose programs, play them, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--records", type=Path, default=OUT / "rl.json", help="the runs")
    parser.add_argument("--out", type=Path, default=OUT.parent, help="where the page and the folder of pictures go")
    parser.add_argument("--tasks", choices=domain_names(), nargs="+", help="only these tasks")
    options = parser.parse_args()
    (options.out / PICTURES).mkdir(parents=True, exist_ok=True)
    records = json.loads(options.records.read_text()).values()
    done = [run for run in records if "error" not in run and run["part"] == "auto"]
    groups = by_task(options.tasks or domain_names(), done)
    shown = [_shown(min(runs, key=_rank), len(runs), options.out) for runs in groups.values()]
    (options.out / "learned-policies.md").write_text(render("learned-policies", {"shown": shown, "pictures": PICTURES}))


def _rank(run: Record) -> tuple[object, ...]:
    """Smaller is better."""
    earned = -sum(test["mean"] for test in run["returns"])
    return (0, run["literals"], earned) if run["optimal"] else (1, not run["verified"], earned)


def _shown(run: Record, count: int, out: Path) -> Record:
    """What is shown of a run, one of `count`."""
    task, stem = run["task"], run["task"].partition("/")[2]
    return {
        **run,
        **_play(run, out / PICTURES / f"policy-{stem}"),
        "stem": stem,
        "goal": goal_of(get_domain(task)),
        "count": count,
        "lines": [short for line in run["program"].splitlines() for short in wrapped(line, WIDTH)],
        "objects": OBJECTS[task],
        "domain": get_domain(task),
    }


def _play(run: Record, picture: Path) -> Record:
    """Play an episode, draw it as a strip and as a moving picture, and ask why its first action."""
    with tempfile.TemporaryDirectory(prefix="dlm-policy-") as folder:
        program, frames = Path(folder) / "program.dlm", Path(folder) / "frames"
        program.write_text(run["program"])
        asked = ("play", program, "--task", run["task"], "--objects", OBJECTS[run["task"]])
        episode: Record = json.loads(_dlm(*asked, "--json", "--render", "png", "--out", frames))
        _dlm(*asked, "--render", "gif", "--out", picture.with_suffix(".gif"))
        actions = [step["action"] for step in episode["steps"]]
        draw_strip(sorted(frames.iterdir()), actions, picture.with_suffix(".png"))
        explained = _dlm(*asked, "--explain", "--levels", LEVELS).splitlines()
    first = list(takewhile(bool, dropwhile(lambda line: not line.startswith("step 1:"), explained)))
    return {"episode": episode, "reason": first if 1 < len(first) <= LINES else []}


def _dlm(*arguments: object) -> str:
    command = [sys.executable, "-m", "dlm", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in PLAYED:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
