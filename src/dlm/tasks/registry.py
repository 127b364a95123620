"""The tasks that come with the package, by name."""

from __future__ import annotations

from dlm.errors import PluginError, UnknownTaskError, did_you_mean
from dlm.plugins import load_plugin, plugin_names
from dlm.space.settings import MachineSettings
from dlm.tasks import definitions, family, graphs
from dlm.tasks.task import Drawer, Labeller, Task

__all__ = ["get_task", "task_names"]

FAMILY_INPUTS = {"father": 2, "mother": 2, "son": 2, "daughter": 2}
FAMILY_READING = "father(x, y) says that y is x's father, son(x, y) that y is a son of x, and so on."
GRAPH_INPUTS = {"edge": 2}
COLOURED_INPUTS = {"edge": 2, **dict.fromkeys(graphs.COLOURS, 1)}

GRAPH_LAWS: dict[Drawer, str] = {
    graphs.draw_graphs: definitions.GRAPH_LAWS,
    graphs.draw_coloured_graphs: definitions.GRAPH_LAWS + definitions.COLOUR_LAWS,
    graphs.draw_geometric_graphs: definitions.GRAPH_LAWS + definitions.NEIGHBOUR_LAWS,
}

# Depth and breadth are those of the paper's table of architectures.
SHALLOW = MachineSettings(depth=5, breadth=3)
DEEP = MachineSettings(depth=9, breadth=3)
WIDE = MachineSettings(depth=7, breadth=4)


def _family(
    name: str, question: str, target: str, arity: int, label: Labeller, epochs: int, settings: MachineSettings
) -> Task:
    return Task(
        name=f"family/{name}",
        question=question,
        inputs=FAMILY_INPUTS,
        target=target,
        target_arity=arity,
        train_size=20,
        large_size=100,
        settings=settings,
        epochs=epochs,
        draw=family.draw_families,
        label=label,
        reading=FAMILY_READING,
        rules=definitions.RULES[target],
        laws=definitions.FAMILY_LAWS,
    )


def _graph(
    name: str,
    question: str,
    target: str,
    arity: int,
    label: Labeller,
    settings: MachineSettings,
    draw: Drawer = graphs.draw_graphs,
) -> Task:
    return Task(
        name=f"graph/{name}",
        question=question,
        inputs=COLOURED_INPUTS if draw is graphs.draw_coloured_graphs else GRAPH_INPUTS,
        target=target,
        target_arity=arity,
        train_size=10,
        large_size=50,
        settings=settings,
        epochs=200,
        draw=draw,
        label=label,
        # Connectivity is asked of different nodes; of the rest there is nothing to leave out.
        distinct_only=arity == 2,
        rules=definitions.RULES[target],
        laws=GRAPH_LAWS[draw],
    )


TASKS = {
    task.name: task
    for task in (
        _family("has-father", "Who has a father?", "has_father", 1, family.has_father, 50, SHALLOW),
        _family("has-sister", "Who has a sister?", "has_sister", 1, family.has_sister, 50, SHALLOW),
        _family(
            "is-grandparent", "Who is a grandparent of whom?", "is_grandparent", 2, family.is_grandparent, 100, SHALLOW
        ),
        _family("is-uncle", "Who is an uncle of whom?", "is_uncle", 2, family.is_uncle, 200, SHALLOW),
        _family("is-mguncle", "Who is a maternal great uncle of whom?", "is_mguncle", 2, family.is_mguncle, 200, DEEP),
        _graph(
            "adjacent-to-red",
            "Which nodes have a red neighbour?",
            "adjacent_to_red",
            1,
            graphs.adjacent_to_red,
            SHALLOW,
            graphs.draw_coloured_graphs,
        ),
        _graph(
            "4-connectivity",
            "Which nodes are at most 4 edges apart?",
            "connected_4",
            2,
            graphs.four_connectivity,
            SHALLOW,
        ),
        _graph(
            "6-connectivity",
            "Which nodes are at most 6 edges apart?",
            "connected_6",
            2,
            graphs.six_connectivity,
            DEEP,
            graphs.draw_geometric_graphs,
        ),
        _graph("1-outdegree", "Which nodes have exactly 1 neighbour?", "outdegree_1", 1, graphs.one_outdegree, SHALLOW),
        _graph("2-outdegree", "Which nodes have exactly 2 neighbours?", "outdegree_2", 1, graphs.two_outdegree, WIDE),
    )
}


def task_names() -> tuple[str, ...]:
    """The names of all tasks, families first, from easy to hard, then those of plug-ins."""
    return *TASKS, *plugin_names("dlm.tasks", TASKS)


def get_task(name: str) -> Task:
    """The task of that name."""
    if name in TASKS:
        return TASKS[name]
    if name in task_names():
        task = load_plugin("dlm.tasks", name, Task)
        if task.name != name:
            raise PluginError(f"the entry point of a task has its name: {task.name!r} is entered as {name!r}")
        return task
    raise UnknownTaskError(
        f"there is no task {name!r}.{did_you_mean(name, task_names())} Run `dlm tasks` to see all tasks."
    )
