"""What was read from some data, for people: objects by type, predicates, examples, worlds, and what looks wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from dlm.data.arrays import Indices
from dlm.data.facts import Facts, Numbers
from dlm.data.grouping import components, worlds_of
from dlm.data.memory import format_bytes
from dlm.data.problem import DataProblem
from dlm.data.sources.building import build_problem
from dlm.data.sources.options import ProblemOptions
from dlm.data.sources.reading import find_layout, read_source
from dlm.data.sources.typed import assemble
from dlm.errors import SettingsError
from dlm.logic.display import Displayed

__all__ = ["Inspection", "inspect_data"]

NAME_BYTES = 64
"""What the name of an object takes, about."""

SAMPLED_NAMES = 3


@dataclass(frozen=True)
class TypeSummary:
    """Objects of one type; `names` are some of them."""

    type: str
    objects: int
    is_value: bool
    names: tuple[str, ...]


@dataclass(frozen=True)
class PredicateSummary:
    """A relation, with the types of its arguments; `used` says whether a program may be made of it."""

    name: str
    types: tuple[str, ...]
    facts: int
    used: bool


@dataclass(frozen=True)
class AttributeSummary:
    """A number or date that objects of a type have."""

    name: str
    type: str
    objects: int
    lowest: str
    highest: str


@dataclass(frozen=True)
class ExampleSummary:
    """The examples of a problem; `test` are those kept apart."""

    target: str
    types: tuple[str, ...]
    true: int
    false: int
    negatives: str
    test: int


@dataclass(frozen=True)
class WorldSummary:
    """How examples belong together; sizes are the fewest, the median and the most."""

    kind: str
    count: int
    reason: str
    examples: tuple[int, int, int]
    objects: tuple[int, int, int] | None


@dataclass(frozen=True)
class Inspection(Displayed):
    """All that `dlm inspect` says. `notes` are what looks wrong or was decided, `plan` what learning would do."""

    path: str
    objects: int
    facts: int
    bytes: int
    types: tuple[TypeSummary, ...]
    predicates: tuple[PredicateSummary, ...]
    attributes: tuple[AttributeSummary, ...]
    examples: ExampleSummary | None = None
    worlds: WorldSummary | None = None
    notes: tuple[str, ...] = ()
    plan: tuple[str, ...] = field(default=())

    def to_json(self) -> dict[str, object]:
        """The same as JSON values."""
        return asdict(self)

    def __str__(self) -> str:
        """In a few lines; `dlm inspect` has tables."""
        lines = [f"{self.path}: {self.objects:,} objects, {self.facts:,} facts, about {format_bytes(self.bytes)}"]
        lines += [f"type {one.type}: {one.objects:,} objects, such as {', '.join(one.names)}" for one in self.types]
        lines += [f"{one.name}({', '.join(one.types)}): {one.facts:,} facts" for one in self.predicates]
        lines += [f"{one.name}({one.type}): {one.lowest} to {one.highest}" for one in self.attributes]
        if self.examples is not None:
            asked = f"{self.examples.target}({', '.join(self.examples.types)})"
            lines.append(f"examples of {asked}: {self.examples.true:,} true, {self.examples.false:,} false")
        if self.worlds is not None:
            lines.append(f"worlds: {self.worlds.reason}")
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes), *self.plan])


def inspect_data(path: str | Path, target: str | None = None, **options: Any) -> Inspection:
    """What is in some files, as `dlm.read_problem` reads them; without a target, what could be learned."""
    layout, said = find_layout(path)
    asked = ProblemOptions(target=target, **options).over(said)
    source = read_source(layout, asked.target)
    if asked.target is None and not source.examples:
        facts = assemble(source.tables).facts
        hints = f": --target {', '.join(source.hints[:12])}" if source.hints else ""
        plan = (f"say what to learn{hints}",)
        return _summary(str(path), facts, source.tables.notes, (), plan)
    try:
        problem = build_problem(source, asked)
    except SettingsError as error:
        if asked.target is not None:
            raise
        return _summary(str(path), assemble(source.tables).facts, source.tables.notes, (), (str(error),))
    return inspect_problem(problem, str(path))


def inspect_problem(problem: DataProblem, path: str) -> Inspection:
    """What a problem consists of."""
    labels, facts = problem.labels, problem.facts
    types = _type_names(facts, problem.types, labels.arity)
    true = int(labels.truth.sum())
    tested = 0 if problem.test is None else problem.test.count
    examples = ExampleSummary(labels.target, types, true, labels.count - true, problem.negatives, tested)
    worlds = _worlds(problem)
    plan = [
        f"learning would look for {labels.target}({', '.join(types)}), with {true:,} true and "
        f"{labels.count - true:,} false atoms ({problem.negatives}); {worlds.reason}",
        f"{tested:,} examples are kept for the final check"
        if tested
        else "nothing is kept for a final check: --test PATH or --split 0.2 would",
    ]
    return _summary(path, facts, problem.notes, problem.bias.use, plan, examples, worlds)


def _summary(
    path: str,
    facts: Facts,
    notes: Sequence[str],
    use: Sequence[str],
    plan: Sequence[str],
    examples: ExampleSummary | None = None,
    worlds: WorldSummary | None = None,
) -> Inspection:
    relations = facts.relations
    return Inspection(
        path=path,
        objects=facts.size,
        facts=sum(map(len, relations.values())),
        bytes=sum(rows.nbytes for rows in relations.values()) + NAME_BYTES * facts.size,
        types=_types(facts),
        predicates=tuple(
            PredicateSummary(name, _signature(facts, name), len(rows), not use or name in use)
            for name, rows in relations.items()
        ),
        attributes=tuple(_attribute(name, numbers, facts) for name, numbers in facts.attributes.items()),
        examples=examples,
        worlds=worlds,
        notes=(*notes, *_suspicions(facts)),
        plan=tuple(plan),
    )


def _types(facts: Facts) -> tuple[TypeSummary, ...]:
    typing = facts.typing
    if typing is None:
        return (TypeSummary("object", facts.size, False, tuple(map(str, facts.objects[:SAMPLED_NAMES].tolist()))),)
    counts = np.bincount(typing.of, minlength=len(typing.names))
    found = []
    for number, name in enumerate(typing.names):
        few = np.flatnonzero(typing.of == number)[:SAMPLED_NAMES]
        names = tuple(map(str, facts.objects[few].tolist()))
        found.append(TypeSummary(name, int(counts[number]), number in typing.value_types, names))
    return tuple(found)


def _signature(facts: Facts, name: str) -> tuple[str, ...]:
    if facts.typing is None or name not in facts.typing.signatures:
        return ("object",) * facts.arities.get(name, 1)
    return _type_names(facts, facts.typing.signatures[name], 0)


def _type_names(facts: Facts, types: Sequence[int] | None, arity: int) -> tuple[str, ...]:
    if facts.typing is None or types is None:
        return ("object",) * arity
    return tuple(facts.typing.names[number] for number in types)


def _attribute(name: str, numbers: Numbers, facts: Facts) -> AttributeSummary:
    of = facts.typing.of[numbers.objects[0]] if facts.typing is not None and len(numbers.objects) else None
    type_ = "object" if facts.typing is None or of is None else facts.typing.names[int(of)]
    ends = (numbers.values.min(), numbers.values.max()) if len(numbers.values) else (np.nan, np.nan)
    lowest, highest = (_written(float(end), numbers.is_date) for end in ends)
    return AttributeSummary(name, type_, len(np.unique(numbers.objects)), lowest, highest)


def _written(number: float, is_date: bool) -> str:
    if is_date and np.isfinite(number):
        try:
            return (date(1970, 1, 1) + timedelta(days=number)).isoformat()
        except OverflowError:
            pass
    return f"{number:g}"


def _worlds(problem: DataProblem) -> WorldSummary:
    grouping = worlds_of(problem)
    sizes = np.bincount(grouping.of, minlength=1)
    objects = None
    if grouping.kind in ("key", "components") and problem.labels.count:
        root = components(problem.facts, [*problem.facts.relations.values()])
        things = problem.labels.rows[:, problem.key or 0]
        objects = _range(np.bincount(root, minlength=1)[np.unique(root[things])])
    return WorldSummary(grouping.kind, grouping.count, grouping.reason, _range(sizes), objects)


def _range(sizes: Indices) -> tuple[int, int, int]:
    return (int(sizes.min()), int(np.median(sizes)), int(sizes.max())) if len(sizes) else (0, 0, 0)


def _suspicions(facts: Facts) -> list[str]:
    """What looks wrong in facts."""
    found = []
    empty = [name for name, rows in facts.relations.items() if not len(rows)]
    if empty:
        found.append(f"without any fact: {', '.join(empty[:5])}")
    same = [name for name, numbers in facts.attributes.items() if len(np.unique(numbers.values)) == 1]
    if same:
        found.append(f"the same for all objects: {', '.join(same[:5])}")
    large = [name for name, arity in facts.arities.items() if arity > 4]
    if large:
        found.append(f"more than four arguments: {', '.join(large[:5])}")
    return found
