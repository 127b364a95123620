"""One episode of a program, step by step, with what there was to choose from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dlm.data.facts import Facts
from dlm.data.lookup import FactLookups
from dlm.data.structure import Structure
from dlm.engines import evaluate_target
from dlm.envs.domain import AnyDomain, State
from dlm.envs.evaluate import Mode, check_policy, choose
from dlm.logic.explain.explain import Explanation, explain
from dlm.logic.explain.query import Query, format_query
from dlm.logic.syntax import Program

__all__ = ["Move", "explain_move", "play_episode"]


@dataclass(frozen=True)
class Move:
    """A step: the state it was made in, the atom chosen, how many atoms were true, and what it led to."""

    before: State
    structure: Structure
    atom: Query
    chosen: bool
    """Whether the atom is true; if not, none was and any was as good."""
    true: int
    reward: float
    after: State
    done: bool
    solved: bool

    def __str__(self) -> str:
        return format_query(self.atom)


def play_episode(
    program: Program,
    domain: AnyDomain,
    rng: np.random.Generator,
    start: State,
    *,
    mode: Mode = "sampled",
) -> Iterator[Move]:
    """Act from a start state, a batch of one, until the episode is over. Decisions are those of `dlm.envs.evaluate`."""
    check_policy(program, domain)
    asked = domain.asked(domain.size(start))
    state = start
    done = bool(state.finished[0])
    while not done:
        outputs = evaluate_target(program, domain.observe(state))
        action = choose(rng, outputs, asked, mode=mode)
        step = domain.step(state, action)
        done = bool(step.done[0])
        structure = domain.structure(state, 0)
        yield Move(
            before=state,
            structure=structure,
            atom=Query(domain.action, tuple(structure.objects[number] for number in action[0])),
            chosen=bool(outputs[(0, *action[0])]),
            true=int(outputs[0][asked].sum()),
            reward=float(step.rewards[0]),
            after=step.state,
            done=done,
            solved=bool(step.solved[0]),
        )
        state = step.state


def explain_move(program: Program, move: Move) -> Explanation:
    """Why the program's target is true of the chosen atom, or why it is not."""
    query = Query(program.target.name, move.atom.names)
    return explain(program, FactLookups(Facts.from_structure(move.structure)), query)
