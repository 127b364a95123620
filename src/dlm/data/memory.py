"""How much memory there is, asked before it is taken."""

from __future__ import annotations

from dlm.errors import ResourceError

__all__ = ["available_bytes", "require_bytes"]

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
            f"not enough memory for {what}: about {needed / 2**30:.1f} GiB needed, {available / 2**30:.1f} GiB free; "
            f"{advice}"
        )
