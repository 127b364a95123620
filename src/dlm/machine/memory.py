"""Memory of a training process: what a step will need, and how to keep it between steps."""

from __future__ import annotations

import ctypes
import math

from dlm.machine.layout import largest_defect, row_count
from dlm.space.wiring import Wiring

__all__ = ["estimate_bytes", "keep_memory"]

# Of glibc's malloc.h.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_LARGEST_MMAP_THRESHOLD = 32 * 2**20


def keep_memory(megabytes: int = 1024) -> bool:
    """Ask the C library to keep up to that much freed memory for the next step. Whether it could be asked.

    Tensors of some megabytes otherwise go back to the system after every step and are zeroed by it before the next,
    which cost 10 to 25 % of a step of IsGrandparent (20 objects), and nothing at 10 objects. This concerns the whole
    process: call it once, in a program's entry point.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    return bool(mallopt(_M_MMAP_THRESHOLD, _LARGEST_MMAP_THRESHOLD) and mallopt(_M_TRIM_THRESHOLD, megabytes * 2**20))


def estimate_bytes(
    wiring: Wiring, size: int, batch: int, distinct_only: bool = False, training: bool = True, bytes_per_value: int = 4
) -> int:
    """About how much memory a fast step allocates, index tables included, so that a caller can refuse in time."""
    rows = {arity: row_count(size, arity, largest_defect(wiring, arity, distinct_only)) for arity in range(6)}
    widths = {(0, arity): len(names) for arity, names in wiring.inputs_by_arity.items()}
    widths |= {unit.key: len(unit.modules) for unit in wiring.units}
    values = tables = 0
    for unit in wiring.units:
        slots, columns = math.factorial(unit.arity), len(unit.modules) * (unit.modules[0].atoms + 1)
        values += batch * rows[unit.arity] * slots * columns
        for key, reading in dict.fromkeys((source.unit, source.reading) for source in unit.sources):
            if reading == "expand":
                values += batch * rows[key[1]] * slots * unit.arity * columns
                tables += batch * rows[unit.arity] * unit.arity * 2
            else:
                values += batch * rows[unit.arity] * slots * widths[key]
            if reading in ("exists", "forall"):
                values += batch * rows[unit.arity] * size * slots * widths[key]
                tables += batch * rows[unit.arity] * size + batch * rows[key[1]] * key[1]
        matrices = unit.choices * len(unit.modules) * unit.modules[0].atoms * slots
        values += batch * matrices
        tables += 2 * batch * matrices // len(unit.modules)
    return values * bytes_per_value * (2 if training else 1) + tables * 8
