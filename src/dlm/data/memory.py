"""How much memory there is, asked before it is taken."""

from __future__ import annotations

import math

from dlm.errors import ResourceError

__all__ = ["available_bytes", "format_bytes", "require_bytes"]

UNKNOWN_BYTES = 1 << 34
"""What is assumed where the system does not say."""


def available_bytes() -> int:
    """The memory a process can still get without swapping."""
    try:
        with open("/proc/meminfo") as lines:  # noqa: PTH123 - a kernel table, not a file
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return UNKNOWN_BYTES


def require_bytes(needed: int, what: str, advice: str = "use fewer objects or instances") -> None:
    """Refuse work that would need more memory than there is. `what` names it, with its size."""
    available = available_bytes()
    if needed > available:
        raise ResourceError(
            f"not enough memory for {what}: about {format_bytes(needed)} needed, {format_bytes(available)} free; "
            f"{advice}"
        )


def format_bytes(number: int) -> str:
    """A number of bytes in words, however large."""
    for power, name in ((40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")):
        if number >> power >= 10_000:
            return f"10^{round(number.bit_length() * math.log10(2))} bytes"
        if number >> power:
            return f"{number / 2**power:.3g} {name}" if number >> power < 1000 else f"{number >> power} {name}"
    return f"{number} bytes"
