"""One file of triples: subject, predicate, object in each line, with or without a header."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dlm.data.sources.raw import read_table
from dlm.data.sources.typed import UNTYPED, TypedColumn, TypedNumbers, TypedTable, TypedTables
from dlm.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["is_triples", "read_triples", "triple_tables"]

HEADS = (
    {"subject", "predicate", "object"},
    {"head", "relation", "tail"},
    {"s", "p", "o"},
    {"h", "r", "t"},
    {"source", "relation", "target"},
    {"from", "relation", "to"},
)
RELATIONS = {"predicate", "relation", "p", "r"}


def is_triples(path: Path) -> bool:
    """Whether a file of text has three columns of which no header says anything else, or says just that."""
    first = _first_line(path)
    return len(first) == 3 and (path.suffix == ".tsv" or path.suffix == ".txt" or _is_head(first))


def read_triples(path: Path) -> TypedTables:
    """The relations in a file of triples."""
    first = _first_line(path)
    if len(first) != 3:
        raise DataError(f"{path} has {len(first)} columns; triples have three: subject, predicate, object")
    table = read_table(path, header=_is_head(first)).table
    names = [name.lower() for name in table.column_names]
    place = next((index for index, name in enumerate(names) if name in RELATIONS), 1)
    ends = [index for index in range(3) if index != place]
    return triple_tables(table.column(ends[0]), table.column(place), table.column(ends[1]))


def triple_tables(subjects: pa.ChunkedArray, predicates: pa.ChunkedArray, objects: pa.ChunkedArray) -> TypedTables:
    """The relations in three columns. Rows with an empty cell are no facts."""
    import pyarrow as pa
    from pyarrow import compute

    result = TypedTables()
    valid = compute.and_(compute.and_(subjects.is_valid(), predicates.is_valid()), objects.is_valid())
    empty = len(subjects) - int(compute.sum(valid).as_py() or 0)
    if empty:
        result.notes.append(f"{empty:,} triples with an empty cell are no facts")
        subjects, predicates, objects = (column.filter(valid) for column in (subjects, predicates, objects))
    texts = [column.cast(pa.large_string()) for column in (subjects, objects)]
    both = (
        pa.chunked_array([*texts[0].chunks, *texts[1].chunks], pa.large_string()).dictionary_encode().combine_chunks()
    )
    codes = both.indices.to_numpy()
    first, second = codes[: len(subjects)], codes[len(subjects) :]
    named = predicates.cast(pa.large_string()).dictionary_encode().combine_chunks()
    order = np.argsort(named.indices.to_numpy(), kind="stable")
    ends = np.cumsum(np.bincount(named.indices.to_numpy(), minlength=len(named.dictionary)))
    is_subject = np.zeros(len(both.dictionary), dtype=np.bool_)
    is_subject[first] = True
    numbers = _numbers(both.dictionary)
    parts = dict(zip(named.dictionary.to_pylist(), np.split(order, ends[:-1]), strict=True))
    said = {
        name: bool(np.isfinite(numbers[second[rows]]).all() and not is_subject[second[rows]].any())
        for name, rows in parts.items()
    }
    is_thing = is_subject
    for name, rows in parts.items():
        if not said[name]:
            is_thing[second[rows]] = True
    things, place = both.dictionary.filter(pa.array(is_thing)), np.cumsum(is_thing) - 1
    for name, rows in parts.items():
        subject = TypedColumn(UNTYPED, things, place[first[rows]])
        if said[name]:
            used, codes = np.unique(second[rows], return_inverse=True)
            other = TypedColumn(name, both.dictionary.take(pa.array(used)), codes)
            result.value_types.add(name)
            result.numbers.append(TypedNumbers(name, subject, numbers[second[rows]]))
        else:
            other = TypedColumn(UNTYPED, things, place[second[rows]])
        result.tables.append(TypedTable(name, (subject, other), len(rows)))
    return result


def _numbers(constants: pa.Array) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Constants as numbers; what is none is NaN."""
    from pyarrow import compute

    like = compute.match_substring_regex(constants, r"^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$").to_numpy(
        zero_copy_only=False
    )
    found = np.full(len(constants), np.nan)
    if like.any():
        found[like] = constants.filter(like).cast("float64").to_numpy()
    return found


def _first_line(path: Path) -> list[str]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return next(csv.reader(file, delimiter="," if path.suffix == ".csv" else "\t"), [])
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None


def _is_head(words: list[str]) -> bool:
    return {word.strip().lower() for word in words} in HEADS
