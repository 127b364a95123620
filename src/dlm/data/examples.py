"""What a program should answer, from a file: the examples that `dlm check` holds a program against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from dlm.data.facts import Facts, Rows
from dlm.data.readers.arrow import read_parquet
from dlm.data.readers.csv_files import read_csv
from dlm.data.readers.prolog import read_examples
from dlm.data.readers.tables import Column, Table
from dlm.errors import DataError

__all__ = ["Labels", "read_labels"]

FORMS = "a .csv or .parquet table of the true answers, or a Prolog file of pos(...) and neg(...)"


@dataclass(frozen=True)
class Labels:
    """The tuples that a target should have, and those it should not; None stands for all others."""

    true: Rows
    false: Rows | None = None


def read_labels(
    path: str | Path, facts: Facts, predicate: str, arity: int, types: Sequence[int | None] | None = None
) -> Labels:
    """The examples of a predicate in a file, about the objects of some facts.

    A CSV or Parquet table holds all that is true, one column an argument, or has a further column ``label`` that says
    which rows are. A Prolog file (.pl) holds atoms in ``pos(...)`` and ``neg(...)``; like a label it says nothing about
    others. `types` are those of the arguments, where they are known: they tell objects of the same name apart.
    """
    naming = _Naming(facts, types or (None,) * arity, Path(path))
    path = Path(path)
    if not path.exists():
        raise DataError(f"there are no examples at {path}; give {FORMS}")
    if path.suffix == ".pl":
        return _read_prolog(path, naming, predicate, arity)
    if path.suffix not in (".csv", ".parquet"):
        raise DataError(f"cannot tell what examples {path} holds; give {FORMS}")
    table = read_csv(path) if path.suffix == ".csv" else read_parquet(path)
    label = _label(table, arity)
    columns = [column for column in table.columns if column is not label]
    if len(columns) != arity:
        raise DataError(f"{path} has {len(columns)} columns, {predicate!r} takes {arity} arguments")
    rows = np.zeros((table.count, arity), dtype=np.int64)
    for index, column in enumerate(columns):
        found = naming.numbers(column.values.tolist(), index)
        rows[:, index] = found if column.codes is None else found[column.codes]
    if label is None:
        return Labels(_distinct(rows))
    words = [str(value).lower() for value in label.values.tolist()]
    truth = np.array([word in TRUE for word in words], dtype=np.bool_)
    truth = truth if label.codes is None else truth[label.codes]
    return _separate(_distinct(rows[truth]), _distinct(rows[~truth]), naming, predicate)


TRUE = ("1", "true", "yes", "pos", "positive", "+", "t", "y")


def _label(table: Table, arity: int) -> Column | None:
    """The column that says which rows are true, if there is one more than arguments and it is called so."""
    if len(table.columns) != arity + 1:
        return None
    return next((column for column in table.columns if column.name.lower() in ("label", "class", "truth")), None)


def _read_prolog(path: Path, naming: _Naming, predicate: str, arity: int) -> Labels:
    found = read_examples(path)
    for name, length, _ in found:
        if (name, length) != (predicate, arity):
            raise DataError(f"{path} has examples of {name}/{length}, the program's target is {predicate}/{arity}")
    if not found:
        raise DataError(f"{path} has no example; expected lines such as pos({predicate}(...)).")
    rows = []
    for label in ("pos", "neg"):
        named = found.get((predicate, arity, label), [])
        columns = [naming.numbers([row[place] for row in named], place) for place in range(arity)]
        rows.append(_distinct(np.array(columns, dtype=np.int64).reshape(arity, len(named)).T))
    return _separate(rows[0], rows[1], naming, predicate)


def _separate(true: Rows, false: Rows, naming: _Naming, predicate: str) -> Labels:
    both = set(map(tuple, true.tolist())) & set(map(tuple, false.tolist()))
    if both:
        names = ", ".join(str(naming.facts.objects[number]) for number in min(both))
        raise DataError(f"{naming.path} has {predicate}({names}) both as pos and as neg")
    return Labels(true, false)


@dataclass(frozen=True)
class _Naming:
    """Objects by the names and keys that examples use for them."""

    facts: Facts
    types: Sequence[int | None]
    path: Path

    def numbers(self, names: Sequence[object], place: int) -> Rows:
        """The objects of some names that can be this argument."""
        texts = [str(name) for name in names]
        try:
            return np.array([self._known(place)[text] for text in texts], dtype=np.int64)
        except KeyError as error:
            raise DataError(
                f"{self.path} names {error.args[0]!r}, an object that the facts lack; an object of which nothing else "
                "is said can be listed in a facts table of one column, for example one named objects"
            ) from None

    def _known(self, place: int) -> Mapping[str, int]:
        typing, type_ = self.facts.typing, self.types[place]
        if typing is None:
            return self.facts.numbers
        if type_ not in self._tables:
            chosen = np.arange(self.facts.size) if type_ is None else np.flatnonzero(typing.of == type_)
            shown = self.facts.objects[chosen].tolist()
            keys = shown if typing.keys is None else typing.keys[chosen].tolist()
            numbers = chosen.tolist()
            self._tables[type_] = dict(zip(keys, numbers, strict=True)) | dict(
                zip(map(str, shown), numbers, strict=True)
            )
        return self._tables[type_]

    @cached_property
    def _tables(self) -> dict[int | None, dict[str, int]]:
        return {}


def _distinct(rows: Rows) -> Rows:
    return np.unique(rows, axis=0) if rows.shape[1] else rows[:1]
