"""What a program is: syntax, text, meaning, simplification. No torch, no numpy."""

from dlm.logic.evaluate import evaluate
from dlm.logic.simplify import simplify
from dlm.logic.syntax import FALSE, TRUE, And, Atom, Definition, Equal, Exists, Forall, Formula, Not, Or, Program, Truth
from dlm.logic.text import format_formula, format_program, parse_formula, parse_formulas, parse_program

__all__ = ["And", "Atom", "Definition", "Equal", "Exists", "Forall", "Formula", "Not", "Or", "Program", "Truth"]
__all__ += ["FALSE", "TRUE", "format_formula", "format_program", "parse_formula", "parse_formulas", "parse_program"]
__all__ += ["evaluate", "simplify"]
