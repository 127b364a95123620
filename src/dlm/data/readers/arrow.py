"""Arrow tables, as Parquet files and databases give them, to coded tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dlm.data.facts import Constants, Rows
from dlm.data.readers.tables import Column, Table
from dlm.data.writing import NULLARY
from dlm.errors import DataError, require_packages

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["code", "code_table", "merge_text", "read_parquet"]


def read_parquet(path: Path) -> Table:
    """The table in a Parquet file, or in a folder of parts; the predicate is named after it."""
    require_packages("pyarrow", extra="scale", purpose="reading Parquet")
    import pyarrow as pa
    from pyarrow import parquet

    try:
        table = parquet.read_table(path, partitioning=None)
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}") from None
    except pa.ArrowException as error:
        raise DataError(f"cannot read {path}: {error}") from None
    return code_table(path.stem, table, str(path))


def code_table(predicate: str, table: pa.Table, origin: str) -> Table:
    """A `pyarrow.Table` as a coded table."""
    if table.column_names == [NULLARY]:
        return Table(predicate, origin, (), table.num_rows)
    if not table.num_columns:
        raise DataError(f"{origin} has no column; a predicate without arguments has one, named {NULLARY}")
    columns = tuple(code(name, table.column(index), origin) for index, name in enumerate(table.column_names))
    return Table(predicate, origin, columns, table.num_rows)


def code(name: str, column: pa.ChunkedArray, origin: str) -> Column:
    """A `pyarrow.ChunkedArray` as a coded column."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
        column = column.cast(kind)
    if column.null_count:
        row = int(np.flatnonzero(column.is_null().to_numpy())[0]) + 1
        raise DataError(f"{origin}: column {name!r} is null in row {row}; write a constant there or remove the row")
    if not len(column):
        return Column(name, np.zeros(0, dtype=object), np.zeros(0, dtype=np.int64))
    if pa.types.is_integer(kind):
        try:
            return Column(name, column.cast(pa.int64()).to_numpy(), None)
        except pa.ArrowInvalid:
            raise DataError(f"{origin}: column {name!r} holds integers beyond 64 bits; store them as text") from None
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)):
        raise DataError(
            f"mixed types: {origin}: column {name!r} holds {kind}, constants must be text or integers; "
            "convert the column to one of them"
        )
    encoded = column.cast(pa.large_string()).dictionary_encode().combine_chunks()
    return Column(name, encoded.dictionary, encoded.indices.to_numpy())


def merge_text(parts: Sequence[NDArray[np.object_] | pa.Array]) -> tuple[Constants, list[Rows]]:
    """All different values of some arrays, sorted, and for each array the places of its values among them."""
    import pyarrow as pa
    from pyarrow import compute

    together = pa.concat_arrays([pa.array(part, type=pa.large_string()) for part in parts]).dictionary_encode()
    order = compute.sort_indices(together.dictionary)
    places = np.empty(len(order), dtype=np.int64)
    places[order.to_numpy()] = np.arange(len(order))
    numbers = places[together.indices.to_numpy()]
    ends = np.cumsum([len(part) for part in parts])
    return together.dictionary.take(order).to_numpy(zero_copy_only=False), np.split(numbers, ends[:-1])
