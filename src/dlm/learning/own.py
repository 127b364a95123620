"""`search` and `gradient` on one's own data: small worlds cut out of the facts, of which only some atoms are asked for.

A world is what belongs together (the objects of a key, connected things), with copies of the values that it names, or
the surroundings of one labelled atom. Two of them stand side by side, or a program would speak of anything there is,
which is too much where there are other worlds. Worlds of one size make a batch, so that none is padded. The learners
draw worlds from these again and again; what they find is checked on all facts by an engine.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dlm.data.bits import BoolArray
from dlm.data.derived import derive
from dlm.data.facts import Facts
from dlm.data.grouping import worlds_of
from dlm.data.problem import DataProblem
from dlm.data.surroundings import radius_of
from dlm.data.worlds import Examples, Worlds
from dlm.errors import SettingsError
from dlm.learning.portfolio import learn as learn_task
from dlm.learning.rules.check import check_atoms, check_everything
from dlm.learning.rules.failure import explain_failure
from dlm.learning.rules.prior import join_definitions, whole_program
from dlm.learning.rules.result import DataResult, DataRunSettings, Front, FrontPoint
from dlm.learning.rules.universe import build_universe
from dlm.learning.settings import LearnSettings
from dlm.logic.comparison import comparison_of
from dlm.runs.folder import RunFolder
from dlm.runs.observer import Observer
from dlm.seeds import fixed_rng
from dlm.space.settings import MachineSettings
from dlm.tasks.task import Task

__all__ = ["DataTask", "cut_worlds", "learn_by_machine", "settings_for", "task_of"]

LARGEST, MOST, FACTS = 24, 400, 200_000
"""Objects of a world, worlds, and facts, at most: tables are dense."""

INPUTS = 60
"""Predicates that a machine reads, at most."""

DEPTH = 4
"""Layers of a machine, unless a depth of formulas was said."""


@dataclass(frozen=True)
class DataTask(Task):
    """A task whose worlds are given: drawing picks some of them, of the size that is nearest to what is asked for."""

    given_only: ClassVar[bool] = True
    given: tuple[Examples, ...] = ()

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        return np.array([batch.size for batch in self.given])

    def sample(self, rng: np.random.Generator, count: int, size: int) -> Examples:
        batch = self.given[int(np.abs(self.sizes - size).argmin())]
        if count >= batch.count:  # all of them, and some again
            more = rng.integers(batch.count, size=count - batch.count)
            return batch.take(np.concatenate([np.arange(batch.count), more]))
        return batch.take(rng.choice(batch.count, count, replace=False))


def learn_by_machine(
    problem: DataProblem, settings: DataRunSettings, folder: RunFolder | None, observer: Observer
) -> DataResult:
    """Learn a program by `search` or `gradient` from worlds of the data, and check it on all of them."""
    for note in problem.notes:
        observer.on_note(note)
    joined = join_definitions(problem)
    task = task_of(joined)
    observer.on_note(f"{sum(b.count for b in task.given):,} worlds of {task.sizes.min()} to {task.sizes.max()} objects")
    found = learn_task(task, settings_for(task, settings), folder, observer)
    program = whole_program(joined, found.program)
    train = check_everything(program, problem)
    test = None if problem.test is None else check_atoms(program, problem, problem.test)
    wrong = float(train.fit.misses + train.fit.alarms)
    result = DataResult(
        task=problem.name,
        seed=settings.seed,
        learner=found.learner,
        program=program,
        seconds=found.seconds,
        restarts=found.restarts,
        steps=found.steps,
        ended=found.ended,
        run_dir=found.run_dir,
        front=Front([FrontPoint(program.literals, wrong, program)]),
        train=train.fit,
        test=None if test is None else test.fit,
        folds=None,
        worlds=worlds_of(problem).reason,
        chosen_because=f"the best program of {found.learner}",
        notes=problem.notes,
        facts=problem.facts,
    )
    failure = explain_failure(program, joined, problem.facts, train, test, found.ended, result.good)
    result = replace(result, failure=failure)
    if folder is not None:
        folder.write_program("program.dlm", program)
        folder.write_json("result.json", result.to_json())
    return result


def settings_for(task: DataTask, settings: DataRunSettings) -> LearnSettings:
    """What the learner of the task is told of a run on one's own data."""
    return LearnSettings(
        task=task.name,
        machine=task.settings,
        seed=settings.seed,
        learner=settings.learner,
        time_limit=settings.time_limit,
        device=settings.device,
    )


def task_of(problem: DataProblem) -> DataTask:
    """A task for the learners by machine."""
    if sum(map(len, problem.facts.relations.values())) > FACTS:
        raise SettingsError(f"machines learn from up to {FACTS:,} facts; use --learner rules, or fewer facts")
    batches, inputs = cut_worlds(problem)
    bias, arity = problem.bias, problem.labels.arity
    machine = MachineSettings(
        depth=DEPTH if bias.depth is None else bias.depth + 2,
        breadth=max(2, arity, *inputs.values()),
        negation=bias.negation,
        quantifiers=("exists", "forall") if bias.forall else ("exists",),
    )
    size = max(batch.size for batch in batches)
    return DataTask(
        name=problem.name,
        question=f"Of what is {problem.labels.target} true?",
        inputs=inputs,
        target=problem.labels.target,
        target_arity=arity,
        train_size=size,
        large_size=size,
        settings=machine,
        epochs=30,
        draw=_no_draw,
        label=_no_label,
        given=tuple(batches),
    )


def _no_draw(rng: np.random.Generator, count: int, size: int) -> Worlds:  # noqa: ARG001
    raise AssertionError("worlds of data are given")


def _no_label(worlds: Worlds) -> BoolArray:  # noqa: ARG001
    raise AssertionError("worlds of data are given")


def cut_worlds(problem: DataProblem) -> tuple[list[Examples], dict[str, int]]:
    """Worlds of the data by size, and the predicates that they have."""
    facts = _with_comparisons(problem)
    bias, labels = problem.bias, problem.labels
    names = [
        name
        for name, rows in facts.relations.items()
        if name != labels.target
        and name not in bias.leave_out
        and (not bias.use or name in bias.use or comparison_of(name) is not None)
        and len(rows)
        and 1 <= rows.shape[1] <= 3
    ][:INPUTS]
    worlds = _object_sets(problem, facts, names)
    by_size: dict[int, list[tuple[NDArray[np.int64], NDArray[np.int64]]]] = defaultdict(list)
    for objects, atoms in worlds:
        by_size[len(objects)].append((objects, atoms))
    arities = {name: int(facts.relations[name].shape[1]) for name in names}
    return [_batch(problem, facts, arities, by_size[size]) for size in sorted(by_size)], arities


def _with_comparisons(problem: DataProblem) -> Facts:
    """The facts with the comparisons that rules would use: few values, and cuts of numbers."""
    universe = build_universe(replace(problem, key=None), problem.labels)
    names = [link.predicate for link in universe.unary if comparison_of(link.predicate) is not None]
    return derive(problem.facts, names[: INPUTS // 2])


def _object_sets(
    problem: DataProblem, facts: Facts, names: Iterable[str]
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """For each world its objects, and the labelled atoms in it."""
    labels = problem.labels
    if facts.size <= LARGEST:
        return [(np.arange(facts.size), np.arange(labels.count))]
    groups = worlds_of(problem)
    if groups.kind in ("key", "components"):
        sets, radii = [np.flatnonzero(groups.of == group) for group in range(groups.count)], [LARGEST]
    else:
        asked = radius_of(problem.world)
        sets, radii = [np.array([atom]) for atom in range(labels.count)], [2, 1] if asked is None else [asked]
    step = max(1, len(sets) // MOST)
    next_to = _neighbours(facts, names)
    for radius in radii:
        found = [(_near(labels.rows[atoms].ravel(), next_to, facts, radius), atoms) for atoms in sets[::step][:MOST]]
        small = [(objects, atoms) for objects, atoms in found if len(objects) <= LARGEST // 2]
        if 2 * len(small) >= len(found) or (small and radius == radii[-1]):
            return _side_by_side(small)
    raise SettingsError(
        f"the worlds of these data have more than {LARGEST // 2} objects, too many for dense tables; use --learner "
        "rules, or --world radius=1"
    )


def _side_by_side(
    worlds: list[tuple[NDArray[np.int64], NDArray[np.int64]]],
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Two worlds as one, each with another."""
    order = fixed_rng().permutation(len(worlds))
    pairs = [[worlds[place] for place in order[begin : begin + 2]] for begin in range(0, len(order), 2)]
    return [tuple(np.unique(np.concatenate(parts)) for parts in zip(*pair, strict=True)) for pair in pairs]  # type: ignore[misc]


def _neighbours(facts: Facts, names: Iterable[str]) -> dict[int, set[int]]:
    found: dict[int, set[int]] = defaultdict(set)
    for name in names:
        for row in facts.relations[name].tolist() if facts.relations[name].shape[1] > 1 else ():
            for one in row:
                found[one].update(row)
    return found


def _near(start: NDArray[np.int64], next_to: dict[int, set[int]], facts: Facts, radius: int) -> NDArray[np.int64]:
    """Objects that some steps lead to; values are taken along, and lead nowhere."""
    values = frozenset() if facts.typing is None else facts.typing.value_types
    seen = edge = set(start.tolist())
    for _ in range(radius):
        open_ = [one for one in edge if facts.typing is None or int(facts.typing.of[one]) not in values]
        edge = set().union(*(next_to[one] for one in open_ if one in next_to)) - seen
        seen = seen | edge
        if not edge or len(seen) > LARGEST:
            break
    return np.array(sorted(seen), dtype=np.int64)


def _batch(
    problem: DataProblem,
    facts: Facts,
    arities: dict[str, int],
    worlds: list[tuple[NDArray[np.int64], NDArray[np.int64]]],
) -> Examples:
    count, size, labels = len(worlds), len(worlds[0][0]), problem.labels
    relations = {name: np.zeros((count,) + (size,) * arity, dtype=np.bool_) for name, arity in arities.items()}
    target = np.zeros((count,) + (size,) * labels.arity, dtype=np.bool_)
    scored = target.copy()
    local = np.full(facts.size, -1)
    for world, (objects, atoms) in enumerate(worlds):
        local[objects] = np.arange(size)
        for name in arities:
            rows = local[facts.relations[name]]
            rows = rows[(rows >= 0).all(axis=1)]
            relations[name][(world, *rows.T)] = True
        asked = local[labels.rows[atoms]]
        target[(world, *asked.T)] = labels.truth[atoms]
        scored[(world, *asked.T)] = True
        local[objects] = -1
    return Examples(Worlds(count, size, relations), target, scored)
