"""Learning curves: what a policy earned in training against the steps it was given."""

from __future__ import annotations

import json
from pathlib import Path

__all__ = ["POINTS", "Curve", "read_curve"]

POINTS = 150
"""Points of a curve that are kept."""

Curve = list[list[float]]
"""Environment steps, mean return and mean success of training episodes, as they came."""

EARLIER = {"starts": "restarts", "env_steps": "steps"}
"""What earlier commits call the counts of a run."""


def read_curve(run: Path) -> Curve:
    """The curve in a run folder's metrics; empty for learners that do not train."""
    path = run / "metrics.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []
    named = [{EARLIER.get(name, name): value for name, value in line.items()} for line in lines]
    points = [
        [line["steps"], round(line["returns"], 4), round(line["success"], 4)]
        for line in named
        if line.get("returns") is not None and line.get("success") is not None
    ]
    if len(points) <= POINTS:
        return points
    last = len(points) - 1
    return [points[place] for place in dict.fromkeys(round(last * i / (POINTS - 1)) for i in range(POINTS))]
