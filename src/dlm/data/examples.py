"""What a program should answer, from a file: the examples that `dlm check` holds a program against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dlm.data.facts import Facts, Rows
from dlm.data.readers.arrow import read_parquet
from dlm.data.readers.csv_files import read_csv
from dlm.data.readers.prolog import read_examples
from dlm.data.readers.tables import Table
from dlm.errors import DataError

__all__ = ["Labels", "read_labels"]

FORMS = "a .csv or .parquet table of the true answers, or a Prolog file of pos(...) and neg(...)"


@dataclass(frozen=True)
class Labels:
    """The tuples that a target should have, and those it should not; None stands for all others."""

    true: Rows
    false: Rows | None = None


def read_labels(path: str | Path, facts: Facts, predicate: str, arity: int) -> Labels:
    """The examples of a predicate in a file, about the objects of some facts.

    A CSV or Parquet table holds all that is true, one column an argument. A Prolog file (.pl) holds atoms in
    ``pos(...)`` and ``neg(...)``, and says nothing about others.
    """
    path = Path(path)
    if not path.exists():
        raise DataError(f"there are no examples at {path}; give {FORMS}")
    if path.suffix == ".pl":
        return _read_prolog(path, facts, predicate, arity)
    if path.suffix not in (".csv", ".parquet"):
        raise DataError(f"cannot tell what examples {path} holds; give {FORMS}")
    table = read_csv(path) if path.suffix == ".csv" else read_parquet(path)
    if len(table.columns) != arity:
        raise DataError(f"{path} has {len(table.columns)} columns, {predicate!r} takes {arity} arguments")
    return Labels(_distinct(_table_rows(table, facts, path)))


def _table_rows(table: Table, facts: Facts, path: Path) -> Rows:
    rows = np.zeros((table.count, len(table.columns)), dtype=np.int64)
    for index, column in enumerate(table.columns):
        rows[:, index] = _numbers(column.values.tolist(), facts, path)[column.codes]
    return rows


def _read_prolog(path: Path, facts: Facts, predicate: str, arity: int) -> Labels:
    found = read_examples(path)
    for name, length, _ in found:
        if (name, length) != (predicate, arity):
            raise DataError(f"{path} has examples of {name}/{length}, the program's target is {predicate}/{arity}")
    if not found:
        raise DataError(f"{path} has no example; expected lines such as pos({predicate}(...)).")
    rows = {
        label: _distinct(_numbers([name for row in named for name in row], facts, path).reshape(len(named), arity))
        for label in ("pos", "neg")
        for named in [found.get((predicate, arity, label), [])]
    }
    both = set(map(tuple, rows["pos"].tolist())) & set(map(tuple, rows["neg"].tolist()))
    if both:
        names = ", ".join(str(facts.objects[number]) for number in min(both))
        raise DataError(f"{path} has {predicate}({names}) both as pos and as neg")
    return Labels(rows["pos"], rows["neg"])


def _numbers(names: Sequence[object], facts: Facts, path: Path) -> Rows:
    numbers = facts.numbers
    try:
        return np.array([numbers[str(name)] for name in names], dtype=np.int64)
    except KeyError as error:
        raise DataError(
            f"{path} names {error.args[0]!r}, an object that the facts lack; an object of which nothing else is said "
            "can be listed in a facts table of one column, for example one named objects"
        ) from None


def _distinct(rows: Rows) -> Rows:
    return np.unique(rows, axis=0) if rows.shape[1] else rows[:1]
