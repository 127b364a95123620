"""Running a program on data, fast and exactly. No torch."""

from dlm.engines.answers import Answers
from dlm.engines.bits import evaluate_bits, evaluate_target
from dlm.engines.choose import run_program
from dlm.engines.engine import Engine, get_engine, require_inputs

__all__ = ["Answers", "Engine", "evaluate_bits", "evaluate_target", "get_engine", "require_inputs", "run_program"]
