"""Where tensors live: the processor, or a graphics card; and how a processor counts while a machine is trained."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from dlm.errors import SettingsError

__all__ = ["find_device", "flushed_denormals"]


def find_device(name: str) -> torch.device:
    """The device of a setting: `auto` is a graphics card if there is one."""
    if name == "cuda" and not torch.cuda.is_available():
        raise SettingsError("The 'device' setting is 'cuda', but torch finds no CUDA device; use 'cpu' or 'auto'")
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return torch.device(name)


@contextmanager
def flushed_denormals() -> Iterator[None]:
    """Cold weights are numbers so small that a processor takes fifteen times longer; meanwhile they count as zero.

    Afterwards this thread counts as before: what others compute in it is not ours to round.
    """
    before = sys.float_info.min / 2 == 0.0  # torch does not say
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(before)
