"""Settings as the options of `dlm learn`."""

from __future__ import annotations

__all__ = ["option_text", "options_of"]

FLAGS = {
    "negation": ("--negation", "--no-negation"),
    "distinct": ("--distinct", "--plain"),
    "repeats": ("--repeats", "--no-repeats"),
    "residual": ("--residual", "--no-residual"),
    "forall": ("--forall", "--no-forall"),
    "incremental": ("--incremental", None),
    "keep_soft": ("--keep-soft", None),
    "repair": ("--repair", "--no-repair"),
}


def options_of(name: str, value: object) -> list[str]:
    """A setting as `dlm learn` takes it."""
    if name in FLAGS:
        flag = FLAGS[name][0 if value else 1]
        return [] if flag is None else [flag]
    return [f"--{name.replace('_', '-')}", option_text(value)]


def option_text(value: object) -> str:
    """A value as it stands behind an option: lists with commas, and lists in these with colons."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        parts = [":".join(map(str, part)) if isinstance(part, list | tuple) else str(part) for part in value]
        return ",".join(parts) or "none"
    return str(value)
