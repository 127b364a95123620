"""A film of a training: few frames, evenly spread, of the last restart, the newest at the end."""

from __future__ import annotations

import numpy as np

from dlm.learning.film import MOST_FRAMES, FilmFrame, FilmRecorder


def frame(restart: int, step: int, size: int = 3) -> FilmFrame:
    return FilmFrame(restart, step, 4, 0.5, np.full(size, step, dtype=np.float32))


def test_frames_are_spread_over_the_restart() -> None:
    recorder = FilmRecorder()
    for step in range(1000):
        recorder.add(frame(1, step))
    film = recorder.film()
    assert film is not None
    assert MOST_FRAMES // 2 <= len(film.steps) <= MOST_FRAMES + 1
    assert (film.steps[0], film.steps[-1]) == (0, 999)
    assert len(set(np.diff(film.steps[:-1]))) == 1
    assert film.logits[:, 0].tolist() == film.steps.tolist()


def test_a_new_restart_begins_a_new_film() -> None:
    recorder = FilmRecorder()
    assert recorder.film() is None
    for step in range(10):
        recorder.add(frame(1, step))
    recorder.add(frame(2, 0))
    film = recorder.film()
    assert film is not None
    assert film.steps.tolist() == [0]


def test_large_machines_get_fewer_frames() -> None:
    recorder = FilmRecorder()
    for step in range(9):
        recorder.add(frame(1, step, size=1_500_000))
    film = recorder.film()
    assert film is not None
    assert len(film.steps) <= 3
