"""What a run has cost so far, in a file of its folder that is written while it goes on."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from dlm.data.draft import draft
from dlm.runs.codec import decode

__all__ = ["Cost", "read_cost", "write_cost"]

COST = "cost.json"


@dataclass(frozen=True)
class Cost:
    """Seconds from the start of the process, those that the system counted for it, and its largest memory."""

    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_megabytes: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        wall, cpu = self.wall_seconds + other.wall_seconds, self.cpu_seconds + other.cpu_seconds
        return Cost(round(wall, 2), round(cpu, 2), round(max(self.peak_megabytes, other.peak_megabytes), 1))


def read_cost(out: Path) -> Cost:
    """What is known of the run in a folder; nothing if it was never written."""
    try:
        return decode(json.loads((out / COST).read_text()), Cost)
    except (OSError, LookupError, TypeError, ValueError):
        return Cost()


def write_cost(out: Path, cost: Cost) -> None:
    """Note the cost in a run folder, if there is one."""
    if out.is_dir():
        with draft(out / COST) as path:
            path.write_text(json.dumps(asdict(cost)) + "\n")
