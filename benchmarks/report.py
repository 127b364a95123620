"""What a report costs: ``make bench-report`` writes ``docs/benchmarks/report.md`` and JSON.

Seconds are those of whole commands; paint and clicks are measured inside headless Chromium by its own clock.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.browser import open_browser
from benchmarks.pages import OUT, Record, commit, machine, render, write
from dlm.tasks import get_task

RUNS = ("family/is-grandparent", "family/is-uncle", "graph/6-connectivity", "rl/unstack")
PEOPLE = 400_000
"""Objects of the large world: about four facts each."""
PLAYED = ("family/is-grandparent", "family/is-uncle", "graph/4-connectivity", "graph/6-connectivity")
PLAYED_OBJECTS, CLICKS, OPENED = 30, 40, 5
PAINTS = "performance.getEntriesByName('first-contentful-paint').map((entry) => entry.startTime)"
CLICK = """() => {
  const buttons = [...document.querySelectorAll('#facts button')];
  const start = performance.now();
  buttons[Math.floor(Math.random() * buttons.length)].click();
  document.body.getBoundingClientRect();  // the layout is part of it
  return performance.now() - start;
}"""
"""Take out a fact at random, and wait until the answers stand on the page."""


def main() -> None:
    with tempfile.TemporaryDirectory() as name, open_browser() as browser:
        folder = Path(name)
        runs = [_report_of_run(problem, folder, browser) for problem in RUNS]
        large = _report_of_many(folder, browser)
        played = [_play(task, folder, browser) for task in PLAYED]
    figures = {**machine(), "load": os.getloadavg()[0], "commit": commit()}
    figures |= {"runs": runs, "large": large, "played": played, "objects": PLAYED_OBJECTS, "clicks": CLICKS}
    write(OUT, "report", figures, page(figures))


def page(figures: Record) -> str:
    """The page, in Markdown."""
    return render("report", figures)


def _report_of_run(problem: str, folder: Path, browser: Any) -> Record:
    run, page = folder / problem.replace("/", "-"), folder / "run.html"
    learner = ["--learner", "search"] if problem.startswith("rl/") else []
    _dlm("learn", problem, *learner, "--out", run)
    return {"what": problem, **_report(page, run), **_paint(browser, page)}


def _report_of_many(folder: Path, browser: Any) -> Record:
    program, page = folder / "p.dlm", folder / "many.html"
    program.write_text(get_task("family/is-grandparent").rules)
    _dlm("generate", "family/is-grandparent", "--objects", str(PEOPLE), "--out", folder / "many")
    made = json.loads((_dlm("inspect", folder / "many" / "facts", "--json")).stdout)
    facts = sum(row["facts"] for row in made["predicates"])
    return {"facts": facts, **_report(page, program, "--facts", folder / "many" / "facts"), **_paint(browser, page)}


def _report(page: Path, *what: Path | str) -> Record:
    """The command that writes a page: its seconds, and the page's size."""
    before, started = os.times(), time.monotonic()
    _dlm("report", *what, "-o", page)
    wall, after = time.monotonic() - started, os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return {"wall_seconds": wall, "cpu_seconds": cpu, "bytes": page.stat().st_size}


def _paint(browser: Any, path: Path) -> Record:
    """When something is first seen, after the page was asked for: the median of several times."""
    seen = []
    for _ in range(OPENED):
        page = browser.new_page()
        page.goto(path.as_uri())
        while not (painted := page.evaluate(PAINTS)):
            page.wait_for_timeout(20)
        seen.append(painted[0])
        page.close()
    return {"paint_ms": statistics.median(seen)}


def _play(task: str, folder: Path, browser: Any) -> Record:
    """Clicks in the playground of a world, by the task's own definition."""
    found = get_task(task)
    world = found.sample(np.random.default_rng(0), 1, PLAYED_OBJECTS).worlds
    facts, program, page = folder / f"{found.target}.pl", folder / f"{found.target}.dlm", folder / "play.html"
    rows = [(name, row) for name, array in world.relations.items() for row in np.argwhere(array[0]).tolist()]
    facts.write_text("".join(f"{name}({', '.join(f'o{n}' for n in row)}).\n" for name, row in rows))
    program.write_text(found.rules)
    _dlm("report", program, "--facts", facts, "-o", page)
    opened = browser.new_page()
    opened.goto(page.as_uri())
    took = [opened.evaluate(CLICK) for _ in range(CLICKS)]
    opened.close()
    return {"what": task, "median_ms": statistics.median(took), "worst_ms": max(took)}


def _dlm(*words: Path | str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "dlm", *map(str, words)]
    return subprocess.run(command, check=True, capture_output=True, text=True)


if __name__ == "__main__":
    main()
