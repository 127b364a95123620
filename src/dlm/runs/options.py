"""Settings as the options of `dlm learn`."""

from __future__ import annotations

from dlm.space.settings import option_text

__all__ = ["options_of"]

FLAGS = {
    "negation": ("--negation", "--no-negation"),
    "distinct": ("--distinct", "--plain"),
    "repeats": ("--repeats", "--no-repeats"),
    "residual": ("--residual", "--no-residual"),
    "forall": ("--forall", "--no-forall"),
    "incremental": ("--incremental", None),
    "keep_soft": ("--keep-soft", None),
    "rollouts": ("--rollouts", None),
    "repair": ("--repair", "--no-repair"),
}


def options_of(name: str, value: object) -> list[str]:
    """A setting as `dlm learn` takes it."""
    if name in FLAGS:
        flag = FLAGS[name][0 if value else 1]
        return [] if flag is None else [flag]
    return [f"--{name.replace('_', '-')}", option_text(value)]
