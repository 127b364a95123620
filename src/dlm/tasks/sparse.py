"""One instance of a task with as many objects as there is memory for, as facts, and its true answers.

`Task.sample` makes tables with a cell for every tuple of objects, which ends at a few thousand objects. Here a relation
takes as much memory as it has tuples. `sparse_family` and `sparse_graphs` draw and answer.

On disk an instance is a folder::

    facts/NAME.parquet   one table a predicate (or .csv); `objects` lists all objects
    answers.parquet      the tuples of the task's target
    instance.json        what was asked for, and how many rows came out
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from dlm import seeds
from dlm.data.draft import draft
from dlm.data.facts import Facts, Rows
from dlm.data.writing import TableFormat, write_table
from dlm.errors import DataError, SettingsError, require_packages
from dlm.seeds import Stream
from dlm.tasks import sparse_family as family
from dlm.tasks import sparse_graphs as graphs
from dlm.tasks.registry import get_task

__all__ = ["Instance", "draw_instance", "require_writable"]

Note = Callable[[str], None]


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

    def summary(self) -> dict[str, object]:
        """What was asked for, and how many rows came out."""
        return {
            "task": self.task,
            "objects": self.facts.size,
            "edges": self.edges,
            "seed": self.seed,
            "target": get_task(self.task).target,
            "answers": len(self.answers),
            "facts": {name: len(rows) for name, rows in self.facts.relations.items()},
        }

    def write(self, folder: str | Path, format: TableFormat = "parquet") -> None:  # noqa: A002 - the word users know
        """Write a folder that appears when it is complete; if anything goes wrong on the way, nothing is left."""
        folder = Path(folder)
        require_writable(folder, format)
        everything = {**self.facts.relations, "objects": np.arange(self.facts.size).reshape(-1, 1)}
        with draft(folder) as beside:
            from dlm.data.readers import write_facts

            write_facts(Facts(self.facts.objects, everything), beside / "facts", format)
            columns = get_task(self.task).definition.target.parameters
            write_table(beside / f"answers.{format}", columns, self.facts.objects, [self.answers], format)
            (beside / "instance.json").write_text(json.dumps(self.summary(), indent=1) + "\n", encoding="utf-8")


def require_writable(folder: Path, format: TableFormat) -> None:  # noqa: A002
    """Refuse, before any work is done, what could not be written after it."""
    if format == "parquet":
        require_packages("pyarrow", extra="scale", purpose="writing Parquet (CSV works without)")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DataError(f"{folder} is there already; give the name of a new or empty folder")
    if not folder.absolute().parent.is_dir():
        raise DataError(f"cannot write {folder}: its parent folder is missing")


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
    rng = seeds.rng(seed, Stream.GENERATED_FACTS)
    draw = partial(GRAPHS[name], edges=edges) if name in GRAPHS else family.draw_family
    facts = draw(rng, objects, note=note)
    note("working out the answers")
    return Instance(name, seed, facts, ANSWERS[name](facts, note))
