"""`dlm tasks`: the problems that come with the package, and those of plug-ins."""

from __future__ import annotations

import json as json_text
from collections.abc import Mapping
from dataclasses import asdict
from itertools import groupby
from typing import Annotated

import typer

from dlm.cli.display import print_lines, print_table
from dlm.envs import domain_names, env_id, get_domain
from dlm.envs.domain import AnyDomain
from dlm.envs.registry import DOMAINS, goal_of
from dlm.tasks import Task, get_task, task_names

__all__ = ["tasks"]

HEAD = ("TASK", "QUESTION", "LEARN", "L", "B", "n_O", "n_A")
ACT_HEAD = ("TASK", "GOAL", "LEARN", "A STEP COSTS", "TESTS")


def tasks(
    json: Annotated[bool, typer.Option("--json", metavar="", help="Print a JSON list.")] = False,
) -> None:
    """List the built-in problems."""
    known = [get_task(name) for name in task_names()]
    domains = [get_domain(name) for name in domain_names()]
    if json:
        everything = [*map(_to_json, known), *map(_domain_to_json, domains)]
        print(json_text.dumps(everything, indent=2))
        return
    for _, group in groupby(known, key=_world):
        alike = list(group)
        print_table(HEAD, [_row(task) for task in alike])
        _print_worlds(alike[0])
        print()
    print_lines(
        "LEARN: the predicate asked for, with its number of arguments. The paper's settings: depth L, breadth B, "
        "n_O predicates a unit, n_A atoms a predicate."
    )
    print()
    print_lines("Tasks to act in: the program learned is a policy, and its predicate is the action.")
    print_table(ACT_HEAD, [_act_row(domain) for domain in domains])
    for domain in domains:
        if domain.differs:
            print_lines(f"{domain.name} differs from the paper. {domain.differs}", "  ")
    print()
    print(f"Next: dlm learn {known[0].name}")
    print(f"      dlm learn {domains[0].name}")


def _world(task: Task) -> tuple[object, ...]:
    """What tasks about the same kind of worlds have in common."""
    return dict(task.inputs), task.train_size, task.large_size


def _print_worlds(task: Task) -> None:
    sizes = f"{task.train_size} objects in training, {task.large_size} in the large test"
    print_lines(f"  from {_signature(task.inputs)}; {sizes}", "  ")
    if task.reading:
        print_lines(f"  {task.reading}", "  ")


def _row(task: Task) -> tuple[str, ...]:
    settings = task.settings
    return (
        task.name,
        task.question,
        _signature({task.target: task.target_arity}),
        str(settings.depth),
        str(settings.breadth),
        str(settings.outputs),
        str(settings.atoms),
    )


def _act_row(domain: AnyDomain) -> tuple[str, ...]:
    sizes = sorted({trial.size for trial in domain.trials()})
    return (
        domain.name,
        goal_of(domain),
        _signature({domain.action: domain.action_arity}),
        f"{domain.step_cost:g}",
        f"{', '.join(map(str, sizes))} {domain.counts}",
    )


def _signature(predicates: Mapping[str, int]) -> str:
    return ", ".join(f"{name}/{arity}" for name, arity in predicates.items())


def _to_json(task: Task) -> dict[str, object]:
    return {
        "name": task.name,
        "question": task.question,
        "reading": task.reading,
        "inputs": dict(task.inputs),
        "target": {task.target: task.target_arity},
        "train_size": task.train_size,
        "large_size": task.large_size,
        "settings": asdict(task.settings),
    }


def _domain_to_json(domain: AnyDomain) -> dict[str, object]:
    return {
        "name": domain.name,
        "question": goal_of(domain),
        "inputs": dict(domain.predicates),
        "target": {domain.action: domain.action_arity},
        "step_cost": domain.step_cost,
        "lessons": list(domain.lessons),
        "trials": [{"name": trial.name, "size": trial.size, "episodes": trial.episodes} for trial in domain.trials()],
        "differs": domain.differs,
        "env_id": env_id(domain.name) if domain.name in DOMAINS else None,
    }
