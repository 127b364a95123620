"""One instance of a task with as many objects as there is memory for, as facts, and its true answers.

`Task.sample` makes tables with a cell for every tuple of objects, which ends at a few thousand objects. Here a relation
takes as much memory as it has tuples. `sparse_family` and `sparse_graphs` draw and answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from dlm.data.facts import Facts, Rows
from dlm.errors import SettingsError
from dlm.tasks import sparse_family as family
from dlm.tasks import sparse_graphs as graphs
from dlm.tasks.registry import get_task

__all__ = ["Instance", "draw_instance"]

Note = Callable[[str], None]

STREAM = 6
"""Of a seed's random streams, one that learning, verification and `dlm test` do not use."""


@dataclass(frozen=True)
class Instance:
    """Facts, and the tuples of the task's target that are true of them."""

    task: str
    seed: int
    facts: Facts
    answers: Rows

    @property
    def edges(self) -> int | None:
        """Rows of the table of edges; None if there is no such table."""
        rows = self.facts.relations.get("edge")
        return None if rows is None else len(rows)


GRAPHS = {
    "graph/adjacent-to-red": graphs.draw_coloured_graph,
    "graph/4-connectivity": graphs.draw_graph,
    "graph/6-connectivity": graphs.draw_geometric_graph,
    "graph/1-outdegree": graphs.draw_graph,
    "graph/2-outdegree": graphs.draw_graph,
}

ANSWERS: dict[str, Callable[[Facts, Note], Rows]] = {
    "family/has-father": lambda facts, _: family.has_father(facts),
    "family/has-sister": lambda facts, _: family.has_sister(facts),
    "family/is-grandparent": lambda facts, _: family.is_grandparent(facts),
    "family/is-uncle": lambda facts, _: family.is_uncle(facts),
    "family/is-mguncle": lambda facts, _: family.is_mguncle(facts),
    "graph/adjacent-to-red": lambda facts, _: graphs.adjacent_to_red(facts),
    "graph/4-connectivity": graphs.four_connectivity,
    "graph/6-connectivity": graphs.six_connectivity,
    "graph/1-outdegree": lambda facts, _: graphs.one_outdegree(facts),
    "graph/2-outdegree": lambda facts, _: graphs.two_outdegree(facts),
}


def draw_instance(
    task: str, objects: int, *, edges: int | None = None, seed: int = 0, note: Note = lambda _: None
) -> Instance:
    """A fresh instance of a built-in task, and its answers.

    `edges` is for graphs: the rows of the table of edges, two for each pair of neighbours. Without it a graph is as
    dense as those the task is learned from. `note` is told what is going on.
    """
    name = get_task(task).name
    if objects < 0:
        raise SettingsError(f"the number of objects must be at least 0, got {objects}")
    if edges is not None and name not in GRAPHS:
        raise SettingsError(f"{name} has no edges; leave --edges out")
    rng = np.random.default_rng([seed, STREAM])
    draw = partial(GRAPHS[name], edges=edges) if name in GRAPHS else family.draw_family
    facts = draw(rng, objects, note=note)
    note("working out the answers")
    return Instance(name, seed, facts, ANSWERS[name](facts, note))
