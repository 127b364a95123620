"""What a column of a table says of its rows: a truth, a number, a value that rows share, a name, or another thing."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dlm.data.sources.raw import RawTable
from dlm.data.sources.typed import TypedColumn
from dlm.errors import DataError

__all__ = ["FEW_NUMBERS", "Role", "constants_of", "flags_of", "has_few_integers", "numbers_of", "present", "role_of"]

Role = Literal["flag", "number", "date", "value", "name", "text", "nothing"]

FEW_NUMBERS = 20
"""A column of at most so many different whole numbers is also one of values."""

MANY_ROWS = 20
"""In a table of more rows a text that is nearly always another is no value."""

NEARLY = 0.9
NAMES = {"name", "title", "label", "fullname", "full_name"}
TRUTHS = ({"true", "false"}, {"yes", "no"}, {"y", "n"}, {"t", "f"})


def role_of(table: RawTable, column: str, count: int) -> Role:
    """What a column says, by its type and how many different values it has in so many rows."""
    import pyarrow as pa

    kind = _type(table, column)
    filled = count - table.table.column(column).null_count
    if filled == 0 or pa.types.is_null(kind):
        return "nothing"
    if pa.types.is_boolean(kind):
        return "flag"
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return "date"
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "number"
    if pa.types.is_time(kind) or pa.types.is_duration(kind):
        return "number"
    if not _is_text(kind):
        return "nothing"
    values = table.distinct(column)
    if len(values) == 2 and {str(value).lower() for value in values.to_pylist()} in TRUTHS:
        return "flag"
    if len(values) == filled and (filled > MANY_ROWS or column.lower().replace(" ", "_") in NAMES):
        return "name"
    if column.lower() in NAMES and len(values) >= filled / 2:
        return "name"
    return "text" if len(values) >= NEARLY * filled and filled > MANY_ROWS else "value"


def _type(table: RawTable, column: str) -> object:
    import pyarrow as pa

    kind = table.table.schema.field(column).type
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _is_text(kind: object) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def constants_of(table: RawTable, column: str, type_: str, mask: NDArray[np.bool_] | None = None) -> TypedColumn:
    """The constants in a column, in the rows of a mask, which has none without one."""
    import pyarrow as pa

    values = table.table.column(column)
    if mask is not None:
        values = values.filter(pa.array(mask))
    kind = _type(table, column)
    if values.null_count:
        raise DataError(f"{table.origin}: column {column!r} is empty in some rows")
    if pa.types.is_integer(kind):
        try:
            return TypedColumn(type_, values.cast(pa.int64()).to_numpy())
        except pa.ArrowInvalid:
            raise DataError(f"{table.origin}: column {column!r} holds integers beyond 64 bits") from None
    if not _is_text(kind):
        if pa.types.is_floating(kind) and bool((np.mod(found := values.to_numpy(), 1) == 0).all()):
            return TypedColumn(type_, found.astype(np.int64))  # a column of integers with empty cells, from a frame
        values = values.cast(pa.string())
    encoded = values.cast(pa.large_string()).dictionary_encode().combine_chunks()
    return TypedColumn(type_, encoded.dictionary, encoded.indices.to_numpy())


def present(table: RawTable, *columns: str) -> NDArray[np.bool_]:
    """The rows in which none of some columns is empty."""
    mask = np.ones(table.count, dtype=np.bool_)
    for column in columns:
        values = table.table.column(column)
        if values.null_count:
            mask &= values.is_valid().to_numpy()
    return mask


def flags_of(table: RawTable, column: str) -> NDArray[np.bool_]:
    """The truth in every row; empty cells count as false."""
    import pyarrow as pa
    from pyarrow import compute

    values = table.table.column(column)
    kind = _type(table, column)
    if not pa.types.is_boolean(kind):
        if _is_text(kind):
            low = compute.utf8_lower(values.cast(pa.string()))
            values = compute.is_in(low, value_set=pa.array(["true", "yes", "y", "t", "1", "pos", "positive", "+"]))
        else:
            values = compute.greater(values, 0)
    found: NDArray[np.bool_] = values.fill_null(False).to_numpy().astype(np.bool_)
    return found


def numbers_of(table: RawTable, column: str, mask: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The numbers in some rows; dates in days since 1970-01-01."""
    import pyarrow as pa

    values = table.table.column(column).filter(pa.array(mask))
    kind = _type(table, column)
    if pa.types.is_date(kind):
        return values.cast(pa.date32()).cast(pa.int32()).to_numpy().astype(np.float64)  # type: ignore[no-any-return]
    if pa.types.is_timestamp(kind):
        micros = values.cast(pa.timestamp("us", tz=kind.tz)).cast(pa.int64()).to_numpy()  # type: ignore[attr-defined]
        return micros.astype(np.float64) / 86_400_000_000  # type: ignore[no-any-return]
    if pa.types.is_time(kind) or pa.types.is_duration(kind):
        return values.cast(pa.int64()).to_numpy().astype(np.float64)  # type: ignore[no-any-return]
    return values.cast(pa.float64()).to_numpy().astype(np.float64)  # type: ignore[no-any-return]


def has_few_integers(table: RawTable, column: str) -> bool:
    """Whether a column of numbers holds few different whole ones, which rows share, so that each is a value too."""
    values = table.distinct(column)
    if not len(values) <= min(FEW_NUMBERS, (table.count - table.table.column(column).null_count) - 1):
        return False
    return all(float(value).is_integer() for value in values.to_pylist())
