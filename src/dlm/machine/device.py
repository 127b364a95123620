"""Where tensors live: the processor, or a graphics card."""

from __future__ import annotations

import torch

from dlm.errors import SettingsError

__all__ = ["find_device"]


def find_device(name: str) -> torch.device:
    """The device of a setting: `auto` is a graphics card if there is one."""
    available = torch.cuda.is_available()
    if name == "cuda" and not available:
        raise SettingsError("The 'device' setting is 'cuda', but torch finds no CUDA device; use 'cpu' or 'auto'")
    if name not in ("cpu", "cuda", "auto"):
        raise SettingsError(f"The 'device' setting must be 'cpu', 'cuda' or 'auto'. Got {name!r} instead.")
    return torch.device("cuda" if available and name != "cpu" else "cpu")
