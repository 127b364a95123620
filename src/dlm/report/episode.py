"""An episode of a policy for the page: a picture of each state, what was done in it, and why."""

from __future__ import annotations

import base64
import io
import math
from dataclasses import dataclass

from dlm.api.trials import Episode, play
from dlm.envs.domain import AnyDomain, State
from dlm.envs.picture import draw
from dlm.errors import DlmError
from dlm.policies.episode import Move, explain_move
from dlm.report.subject import Subject
from dlm.report.typeset import ProofLine, proof_of

__all__ = ["Frame", "ShownEpisode", "show_episode"]

MOST = 80
"""Steps that are shown."""


@dataclass(frozen=True)
class Frame:
    """A state, as a picture where there is one, the step that was made in it, and what was earned so far."""

    text: str
    picture: str | None
    action: str
    reward: float
    earned: float
    proof: list[ProofLine]


@dataclass(frozen=True)
class ShownEpisode:
    """The frames of an episode, and how it ended next to the optimum."""

    frames: list[Frame]
    solved: bool
    earned: float
    optimum: float | None
    exact: bool
    note: str | None


def show_episode(subject: Subject, seed: int) -> ShownEpisode | None:
    """An episode of the subject's policy in the first of its tests."""
    if subject.domain is None or subject.program is None:
        return None
    episode: Episode = play(subject.program, subject.domain, seed=seed)
    domain, frames, earned, solved = episode.domain, [], 0.0, False
    last: State = episode.start
    note = None
    for number, move in enumerate(episode, 1):
        earned += move.reward
        last, solved = move.after, move.solved
        if number <= MOST:
            frames.append(_frame(domain, subject, move, earned))
    if len(frames) == MOST:
        note = f"Only the first {MOST} steps are shown."
    elif not (domain.collects_late and solved):
        frames.append(Frame(domain.describe(last, 0), _picture(domain, last), "the end", 0.0, earned, []))
    best = domain.optimal_return(episode.start)
    optimum = float(best.returns[0])
    return ShownEpisode(frames, solved, earned, None if math.isnan(optimum) else optimum, bool(best.exact[0]), note)


def _frame(domain: AnyDomain, subject: Subject, move: Move, earned: float) -> Frame:
    assert subject.program is not None
    action, proof = str(move), []
    if domain.collects_late and move.solved:
        action = "the goal is there, and its reward is collected"
    elif not move.chosen:
        action += " (no action is true: any was as good)"
    else:
        action += f" (one of {move.true} true actions)" if move.true > 1 else ""
        proof = proof_of(explain_move(subject.program, move))
    return Frame(domain.describe(move.before, 0), _picture(domain, move.before), action, move.reward, earned, proof)


def _picture(domain: AnyDomain, state: State) -> str | None:
    """A PNG as a data address; None where nothing draws such states, or nothing can draw."""
    try:
        image = draw(domain, state, 0)
    except DlmError:
        return None
    content = io.BytesIO()
    image.quantize(32).save(content, "PNG", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(content.getvalue()).decode()}"
