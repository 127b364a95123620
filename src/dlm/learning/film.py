"""The logits of a machine through a restart of its training, in a few frames: what a report makes a picture of."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["FILM", "Film", "FilmFrame", "FilmRecorder"]

FILM = "film.safetensors"
"""The file of a run folder that keeps the film of its last restart."""

MOST_FRAMES = 24
MOST_NUMBERS = 4_000_000
"""Of all frames together; larger machines get fewer frames."""


@dataclass(frozen=True)
class FilmFrame:
    """A machine of some depth, in a restart and at a step of it: its logits, and how soft its choices are."""

    restart: int
    step: int
    depth: int
    temperature: float
    logits: NDArray[np.float32]


@dataclass(frozen=True)
class Film:
    """The frames of one restart, as arrays: steps, temperatures, and logits ``(frames, parameters)``."""

    depth: int
    steps: NDArray[np.int64]
    temperatures: NDArray[np.float64]
    logits: NDArray[np.float32]


@dataclass
class FilmRecorder:
    """Keeps frames evenly over a restart: where there are too many, every second one goes."""

    frames: list[FilmFrame] = field(default_factory=list)
    spacing: int = 1
    _seen: int = 0
    _last: FilmFrame | None = None

    def add(self, frame: FilmFrame) -> None:
        if self.frames and frame.restart != self.frames[-1].restart:
            self.frames, self.spacing, self._seen = [], 1, 0
        if self._seen % self.spacing == 0:
            self.frames.append(frame)
        self._seen, self._last = self._seen + 1, frame
        most = max(2, min(MOST_FRAMES, MOST_NUMBERS // max(frame.logits.size, 1)))
        if len(self.frames) > most:
            self.frames, self.spacing = self.frames[::2], 2 * self.spacing

    def film(self) -> Film | None:
        """The frames so far, the newest at the end."""
        if self._last is None:
            return None
        shown = self.frames if self.frames[-1] is self._last else [*self.frames, self._last]
        return Film(
            depth=self._last.depth,
            steps=np.array([frame.step for frame in shown], dtype=np.int64),
            temperatures=np.array([frame.temperature for frame in shown], dtype=np.float64),
            logits=np.stack([frame.logits for frame in shown]),
        )
