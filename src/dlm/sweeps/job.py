"""One run of a sweep: who learns what, with which seed and settings, as a command and as a name."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dlm.policies.settings import PolicyRunSettings
from dlm.runs.options import options_of
from dlm.runs.settings import RunSettings
from dlm.runs.version import code_version
from dlm.space.settings import option_text

__all__ = ["Job", "Record", "goes_on", "key_of", "limit_of"]

Record = dict[str, Any]
"""What is known of a run, as it stands in a file: the JSON of `dlm learn`, what was asked for, and what it cost."""


@dataclass(frozen=True)
class Job:
    """One run. `asked` names its row in a table: the learner, or what a table calls it with these settings."""

    problem: str
    learner: str
    seed: int
    limit: float | None = None
    """Seconds of learning; None for the default."""
    settings: Mapping[str, object] = field(default_factory=dict)
    asked: str = ""
    data: str = ""
    """What the files of one's own data hold (`fingerprint`); other data make another run of the same name."""

    @property
    def key(self) -> str:
        """The name of the run: no two runs of a sweep have the same."""
        return key_of(self.asked or self.learner, self.problem, self.seed, self.settings)

    @property
    def folder(self) -> str:
        """The name of the run's folder."""
        name = f"{self.key} {self.data}".strip()
        return "".join(letter if letter.isalnum() or letter in "-_.=" else "-" for letter in name)

    @property
    def about(self) -> Record:
        """What every record says of its run."""
        return {
            "asked": self.asked or self.learner,
            "task": self.problem,
            "seed": self.seed,
            "settings": dict(self.settings),
            "limit": self.limit,
            "commit": code_version(),
            **({"data": self.data} if self.data else {}),
        }

    def command(self, out: Path, *, resume: bool = False) -> list[str]:
        """The process that learns in a folder, or goes on with what is there."""
        command = [sys.executable, "-m", "dlm.sweeps.child", "learn", "--json"]
        limit = [] if self.limit is None else ["--time-limit", str(self.limit)]
        if resume:
            return [*command, *limit, "--resume", str(out)]
        command += [self.problem, "--learner", self.learner, "--seed", str(self.seed), *limit, "--out", str(out)]
        return command + [word for name, value in self.settings.items() for word in options_of(name, value)]


def key_of(asked: str, problem: str, seed: int, settings: Mapping[str, object]) -> str:
    """The name of a run."""
    words = [f"{name}={option_text(value)}" for name, value in sorted(settings.items())]
    return " ".join([asked, problem, str(seed), *words])


def limit_of(kind: object, limit: float | None) -> float:
    """The seconds that a run of this kind is given if it is asked for this limit, or for none."""
    if limit is not None:
        return limit
    return PolicyRunSettings.time_limit if kind == PolicyRunSettings.kind else RunSettings.time_limit


def goes_on(found: Record, before: float | None, limit: float | None) -> bool:
    """Whether a run that its time limit ended without a verified program is now given more time."""
    if found.get("verified") or found.get("ended") != "time limit":
        return False
    return limit_of(found.get("kind"), limit) > limit_of(found.get("kind"), before)
