"""Where tensors live: the processor, or a graphics card."""

from __future__ import annotations

import torch

from dlm.errors import SettingsError

__all__ = ["find_device"]


def find_device(name: str) -> torch.device:
    """The device of a setting: `auto` is a graphics card if there is one."""
    if name == "cuda" and not torch.cuda.is_available():
        raise SettingsError("The 'device' setting is 'cuda', but torch finds no CUDA device; use 'cpu' or 'auto'")
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return torch.device(name)
