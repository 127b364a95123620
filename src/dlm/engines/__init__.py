"""Running a program on data, fast and exactly. No torch."""

from dlm.engines.bits import evaluate_bits, evaluate_target

__all__ = ["evaluate_bits", "evaluate_target"]
