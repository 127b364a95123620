"""`Problem`: a problem from facts and examples that are in Python already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dlm.data.labelled import LabelledAtoms
from dlm.data.problem import DataProblem, Negatives
from dlm.data.sources.building import build_problem
from dlm.data.sources.frames import as_rows, frame_table, is_frame, is_graph, source_of_values
from dlm.data.sources.options import DataLayout, ProblemOptions
from dlm.data.sources.reading import read_problem, read_test
from dlm.data.sources.source import DataSource, GivenExamples
from dlm.data.sources.typed import TypedTable, TypedTables, coded, texts_of
from dlm.errors import DataError, SettingsError

__all__ = ["Problem"]


def Problem(
    facts: object,
    examples: object = None,
    *,
    target: str | None = None,
    negatives: Negatives | None = None,
    types: Mapping[str, str | Sequence[str]] | None = None,
    keys: Mapping[str, str] | None = None,
    values: Sequence[str] = (),
    key: str | None = None,
    test: object = None,
    seed: int = 0,
    **options: Any,
) -> DataProblem:
    """A problem of one's own, for `dlm.learn`.

    `facts` is a path, a mapping from names to data frames (pandas, polars, pyarrow) or lists of tuples, a networkx
    graph, a `dlm.Facts` or a `dlm.Structure`. `examples` are a data frame with a column for each argument of the target
    and maybe one called ``label``; a list of tuples, all that is true; a mapping from tuples to truth values; or a
    mapping with ``pos`` and ``neg``. Without them the target is a relation, a table or a ``table.column`` of the facts.

    `types` gives the type of ``table.column``, and of the target's arguments; `keys` the key column of a table;
    `values` types that are only values; `key` the type whose objects are worlds. `test` are examples, or a path to
    them, that are kept for the final check. Other options are `split`, `world`, `use`, `leave_out`, `negation`,
    `forall`, `depth`, `definitions` and `start`.
    """
    said = dict(types or {})
    arguments = said.pop(target, None) if target is not None else None
    if isinstance(facts, str | Path) and examples is None and not (said or keys or values):
        return read_problem(facts, target, negatives, seed=seed, test=test, **_world(key, options))
    asked = ProblemOptions(target=target, negatives=negatives, **_world(key, options))
    wrong = [place for place, type_ in said.items() if not isinstance(type_, str)]
    if wrong:
        raise SettingsError(f"the type of {wrong[0]} is one name. Got {said[wrong[0]]!r} instead.")
    layout = DataLayout(Path("the facts"), keys=keys or {}, types=said, values=tuple(values))  # type: ignore[arg-type]
    name = target or "target"
    framed = is_frame(examples) and (is_graph(facts) or _has_frames(facts))
    more = [frame_table(name, examples)] if framed else []
    source = source_of_values(facts, name if framed else target if examples is None else None, layout, *more)
    if examples is not None and not framed:
        _add(source, _given(examples, name, arguments, source.tables))
    if test is not None:
        known = next(iter(source.examples.values()))
        source.test = (
            read_test(Path(test), source, None)
            if isinstance(test, str | Path)
            else _given(test, known.target, known.types, source.tables)
        )
    return build_problem(source, asked, seed=seed)


def _world(key: str | None, options: Mapping[str, Any]) -> dict[str, Any]:
    if key is not None and options.get("world") is not None:
        raise SettingsError("key and world both say what a world is: leave out one of them")
    return {**options, "world": key} if key is not None else dict(options)


def _has_frames(facts: object) -> bool:
    return isinstance(facts, Mapping) and any(map(is_frame, facts.values()))


def _add(source: DataSource, given: GivenExamples) -> None:
    source.examples = {given.target: given}
    source.tables.tables = [table for table in source.tables.tables if table.name != given.target]
    source.tables.examples = [given.table]


def _given(examples: object, target: str, types: str | Sequence[str] | None, tables: TypedTables) -> GivenExamples:
    """Examples in Python as coded atoms."""
    rows, truth, closed = _atoms(examples, target)
    lengths = {len(row) for row in rows}
    if len(lengths) != 1:
        raise DataError("examples are tuples of one length, one at least; a single name stands for a tuple of length 1")
    said = (types,) if isinstance(types, str) else types
    if said is not None and len(said) != (arity := lengths.pop()):
        raise SettingsError(f"types[{target!r}] has {len(said)} types, the examples {arity} arguments")
    names = [[str(value) for value in column] for column in zip(*rows, strict=True)]
    found = [_typed(column, tables, None if said is None else said[place]) for place, column in enumerate(names)]
    columns = tuple(coded(type_, column) for type_, column in found)
    return GivenExamples(TypedTable(target, columns, len(rows)), truth, closed)


def _atoms(examples: object, target: str) -> tuple[list[tuple[object, ...]], NDArray[np.bool_], bool]:
    """Tuples, which of them are true, and whether these are all that is."""
    if isinstance(examples, LabelledAtoms):
        raise DataError("labelled atoms speak of object numbers; give examples by name, as tuples")
    if is_frame(examples):
        from dlm.data.sources.columns import flags_of
        from dlm.data.sources.targets import label_column

        table = frame_table(target, examples)
        label = label_column(table, target)
        columns = [table.table.column(column).to_pylist() for column in table.columns if column != label]
        truth = np.ones(table.count, dtype=np.bool_) if label is None else flags_of(table, label)
        return list(zip(*columns, strict=True)), truth, label is None
    if isinstance(examples, Mapping) and set(examples) <= {"pos", "neg"} and examples:
        true, false = as_rows(examples.get("pos", ())), as_rows(examples.get("neg", ()))
        return true + false, np.arange(len(true) + len(false)) < len(true), not false
    if isinstance(examples, Mapping):
        return as_rows(examples), np.array([bool(value) for value in examples.values()], dtype=np.bool_), False
    if not isinstance(examples, Iterable) or isinstance(examples, str):
        raise DataError(
            "examples are a data frame, a list of tuples, a mapping from tuples to truth values, or a mapping with pos "
            f"and neg. Got {type(examples).__name__} instead."
        )
    rows = as_rows(examples)
    return rows, np.ones(len(rows), dtype=np.bool_), True


def _typed(names: list[str], tables: TypedTables, said: str | None) -> tuple[str, list[str]]:
    """The type of some objects, which are named by their constants or as they are shown, and their constants."""
    by_type: dict[str, dict[str, str]] = {}
    for column in tables.columns():
        if said is None or column.type == said:
            values = column.values if isinstance(column.values, np.ndarray) else column.values.to_numpy(False)
            known = by_type.setdefault(column.type, {})
            known.update((text, text) for text in texts_of(values).tolist())
    for type_, (column, texts) in tables.shown.items():
        if said is None or type_ == said:
            values = column.values if isinstance(column.values, np.ndarray) else column.values.to_numpy(False)
            constants = texts_of(values if column.codes is None else values[column.codes]).tolist()
            by_type.setdefault(type_, {}).update(zip(texts.tolist(), constants, strict=True))
    wanted = set(names)
    things = {type_: known for type_, known in by_type.items() if type_ not in tables.value_types} or by_type
    share = {type_: len(wanted & known.keys()) for type_, known in things.items()}
    best = max(share.values(), default=0)
    fitting = [type_ for type_, found in share.items() if found == best]
    if said is None and len(fitting) > 1:
        raise DataError(
            f"the examples name {names[0]!r} and others that could be of type {' or '.join(fitting)}; say which with "
            "types={target: (...)}"
        )
    type_ = said or (fitting[0] if fitting else "object")
    known = by_type.get(type_, {})
    return type_, [known.get(name, name) for name in names]
