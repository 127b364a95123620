"""The differentiable machine, in torch. Read `operations`, `unit`, `machine`, then `kernels`."""

from dlm.machine.device import find_device, while_training
from dlm.machine.extract import extract, hard_choices
from dlm.machine.kernels import fast_apply
from dlm.machine.layout import Layout
from dlm.machine.machine import Machine, apply, unit_logits, unit_views, weights_of
from dlm.machine.memory import estimate_bytes, keep_memory
from dlm.machine.selection import Selection, choose
from dlm.machine.valuation import Valuation, valuation_of, worlds_of

__all__ = [
    "Layout",
    "Machine",
    "Selection",
    "Valuation",
    "apply",
    "choose",
    "estimate_bytes",
    "extract",
    "fast_apply",
    "find_device",
    "while_training",
    "hard_choices",
    "keep_memory",
    "unit_logits",
    "unit_views",
    "valuation_of",
    "weights_of",
    "worlds_of",
]
