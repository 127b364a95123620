"""Where tensors live: the processor, or a graphics card; and how a processor counts while a machine is trained."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from os import environ

import torch

from dlm.errors import SettingsError

__all__ = ["find_device", "while_training"]


def find_device(name: str) -> torch.device:
    """The device of a setting: `auto` is a graphics card if there is one."""
    if name == "cuda" and not torch.cuda.is_available():
        raise SettingsError("The 'device' setting is 'cuda', but torch finds no CUDA device; use 'cpu' or 'auto'")
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return torch.device(name)


@contextmanager
def while_training() -> Iterator[None]:
    """Denormal numbers count as zero, and one thread counts. Afterwards torch is as before: it is not ours alone.

    Cold weights are numbers so small that a processor takes fifteen times longer. The operations of a machine are so
    short that threads which wait for each other gain little on a free machine and lose most of the time on a busy one;
    who wants them all the same sets OMP_NUM_THREADS.
    """
    flushed = sys.float_info.min / 2 == 0.0  # torch does not say
    threads = torch.get_num_threads()
    torch.set_flush_denormal(True)
    if "OMP_NUM_THREADS" not in environ:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_flush_denormal(flushed)
        torch.set_num_threads(threads)
