"""Programs as one Python function that needs nothing else.

A definition becomes a set of tuples. A tuple is looked for where the definition's positive atoms are, rather than
among all tuples of objects; quantifiers that do not help with this become `any` and `all`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import wrap

from dlm.export.clauses import fresh
from dlm.export.identifiers import Identifiers, choose_identifiers, printable
from dlm.logic.attributes import attribute_kinds, comparisons_of, tables_of
from dlm.logic.comparison import Comparison, format_constant
from dlm.logic.formulas import free_variables
from dlm.logic.syntax import And, Atom, Definition, Equal, Exists, Forall, Formula, Not, Or, Program, Truth
from dlm.logic.text import format_definition

__all__ = ["export_python"]

WIDTH = 100

MAX_LOOPS = 12
"""Loops in one comprehension; Python allows 20."""


def export_python(program: Program) -> str:
    """The source of a function from objects and relations to the target's tuples."""
    names = choose_identifiers(program)
    writer = _PythonWriter(names)
    parameters = ["objects", *(names.predicates[name] for name in tables_of(program.inputs))]
    lines = [f"def {names.predicates[program.target.name]}({', '.join(parameters)}):", *_docstring(program, names)]
    for name, comparison in comparisons_of(program.inputs).items():
        lines.append(f"    {names.predicates[name]} = {_comparison(comparison, names)}")
    for definition in program.definitions:
        rule = printable(format_definition(definition))
        lines += wrap(rule, WIDTH, initial_indent="    # ", subsequent_indent="    #     ", break_long_words=False)
        last = definition is program.target
        lines += writer.statement(definition, "return" if last else f"{names.predicates[definition.name]} =")
    return "\n".join(lines) + "\n"


def _docstring(program: Program, names: Identifiers) -> Iterator[str]:
    target = program.target
    answers = ", ".join(names.variables[variable] for variable in target.parameters)
    comma = "," if target.arity == 1 else ""
    yield f'    """The set of tuples ({answers}{comma}) that {names.predicates[target.name]} holds of.'
    yield ""
    yield "    objects: a set of all objects"
    kinds = attribute_kinds(program.inputs)
    for name, arity in tables_of(program.inputs).items():
        rows = f"pairs of an object and {_VALUES[kinds[name]]}" if name in kinds else _tuples(arity)
        yield f"    {names.predicates[name]}: a set of {rows}"
    yield '    """'


_VALUES = {"number": "a number", "date": "a date such as '1980-01-01'", "text": "a text"}


def _comparison(comparison: Comparison, names: Identifiers) -> str:
    """The tuples of a comparison, from the values of attributes."""
    operator = "==" if comparison.operator == "=" else comparison.operator
    attribute = names.predicates[comparison.attribute]
    x, v, y, w = (fresh(name, names.predicates.values()) for name in ("x1", "v1", "y1", "w1"))
    if comparison.other is not None:
        other = names.predicates[comparison.other]
        return f"{{({x}, {y}) for {x}, {v} in {attribute} for {y}, {w} in {other} if {v} {operator} {w}}}"
    constant = comparison.constant
    written = format_constant(constant) if isinstance(constant, int | float) else repr(str(constant))
    return f"{{({x},) for {x}, {v} in {attribute} if {v} {operator} {written}}}"


def _tuples(arity: int) -> str:
    match arity:
        case 0:
            return "the empty tuple, or of nothing"
        case 1:
            return "tuples of 1 object"
        case _:
            return f"tuples of {arity} objects"


# --------------------------------------------------------------------------- where to look


@dataclass(frozen=True)
class _Branch:
    """One way for a definition to hold: objects for some variables, such that all conditions are true."""

    variables: tuple[str, ...]
    conditions: tuple[Formula, ...]


def _branches(formula: Formula, variables: tuple[str, ...]) -> list[_Branch]:
    """The ways for a formula to hold, one for each part of the disjunctions at its top."""
    match formula:
        case Or(parts):
            return [branch for part in parts for branch in _branches(part, variables)]
        case And(parts):
            return _conjunction(parts, variables)
        case Exists(variable, distinct, body) if variable not in variables and len(variables) < MAX_LOOPS:
            differs = tuple(Not(Equal(variable, other)) for other in distinct)
            inside = _branches(body, (*variables, variable))
            if all(_drives(variable, branch) for branch in inside):
                return [_Branch(branch.variables, differs + branch.conditions) for branch in inside]
    return [_Branch(variables, (formula,))]


def _conjunction(parts: tuple[Formula, ...], variables: tuple[str, ...]) -> list[_Branch]:
    """One branch, or as many as one disjunction among the parts has if no atom says where to look."""
    conditions: list[Formula] = []
    shared, seen = variables, variables
    fork: list[_Branch] = []
    may_fork = not any(isinstance(part, Atom) for part in parts)
    for part in parts:
        found = _branches(part, seen)
        if len(found) == 1:
            shared += found[0].variables[len(seen) :]
            conditions += found[0].conditions
        elif may_fork and not fork:
            fork = [_Branch(branch.variables[len(seen) :], branch.conditions) for branch in found]
        else:
            conditions.append(part)
            continue
        seen = tuple(dict.fromkeys([*seen, *(name for branch in found for name in branch.variables)]))
    if not fork:
        return [_Branch(shared, tuple(conditions))]
    return [_Branch(shared + branch.variables, (*conditions, *branch.conditions)) for branch in fork]


def _drives(variable: str, branch: _Branch) -> bool:
    return any(isinstance(part, Atom) and variable in part.args for part in branch.conditions)


def _loops(branch: _Branch) -> Iterator[tuple[tuple[str, ...], Atom | None]]:
    """What to go through: relations whose variables are all new, then objects for the variables left over."""
    bound: set[str] = set()
    for part in sorted(branch.conditions, key=lambda part: -len(free_variables(part))):
        if not isinstance(part, Atom) or not part.args:
            continue
        if len(set(part.args)) == len(part.args) and not bound & set(part.args):
            bound.update(part.args)
            yield part.args, part
    yield from (((variable,), None) for variable in branch.variables if variable not in bound)


# --------------------------------------------------------------------------- how to write it


class _PythonWriter:
    """Writes definitions with the identifiers chosen."""

    def __init__(self, names: Identifiers) -> None:
        self.names = names

    def statement(self, definition: Definition, start: str) -> list[str]:
        """The lines that compute a definition's tuples."""
        start = f"    {start} "
        if not definition.parameters:
            lines = self.spread(definition.body, "        ", "if ")
            whole = f"{start}{{()}} {' '.join(line.strip() for line in lines)} else set()"
            return (
                [whole] if len(whole) <= WIDTH else [f"{start}(", "        {()}", *lines, "        else set()", "    )"]
            )
        branches = _branches(definition.body, definition.parameters)
        if len(branches) == 1:
            return self.tuples(definition.parameters, branches[0], start, "    ", copy=True)
        sets = [self.tuples(definition.parameters, branch, "", "        ") for branch in branches]
        line = start + " | ".join(lines[0] for lines in sets)
        if len(line) <= WIDTH and all(len(lines) == 1 for lines in sets):
            return [line]
        joined = [[f"        {'| ' if number else ''}{lines[0]}", *lines[1:]] for number, lines in enumerate(sets)]
        return [f"{start}(", *(line for lines in joined for line in lines), "    )"]

    def tuples(
        self, parameters: tuple[str, ...], branch: _Branch, start: str, indent: str, *, copy: bool = False
    ) -> list[str]:
        """A relation's name or a set comprehension, on one line if it fits."""
        match branch.conditions:
            case (Atom(predicate, args),) if args == parameters:
                name = self.names.predicates[predicate]
                return [f"{start}set({name})" if copy else name]
        clauses = self.clauses(branch, indent + "    ")
        line = f"{start}{{{' '.join(part.strip() for part in [self.row(parameters), *clauses])}}}"
        if len(line) + len(indent) <= WIDTH:
            return [line]
        return [f"{start}{{", f"{indent}    {self.row(parameters)}", *clauses, f"{indent}}}"]

    def clauses(self, branch: _Branch, indent: str) -> list[str]:
        """The loops of a comprehension, each with the conditions that it makes decidable."""
        lines: list[str] = []
        waiting = [part for part in branch.conditions if part != Truth(True)]
        bound: set[str] = set()
        for variables, driver in _loops(branch):
            if driver is None:
                lines.append(f"{indent}for {self.names.variables[variables[0]]} in objects")
            else:
                waiting.remove(driver)
                row = self.row(variables)
                lines.append(f"{indent}for {row if len(variables) == 1 else row[1:-1]} in {self.relation(driver)}")
            bound.update(variables)
            ready = [part for part in waiting if free_variables(part) <= bound]
            waiting = [part for part in waiting if part not in ready]
            for number, part in enumerate(ready):
                lines += self.spread(part, indent, "and " if number else "if ", bracket=len(ready) > 1)
        return lines

    def spread(self, formula: Formula, indent: str, lead: str = "", *, bracket: bool = False) -> list[str]:
        """An expression, on one line if it fits."""
        text = self.operand(formula) if bracket else self.condition(formula)
        if len(indent) + len(lead) + len(text) <= WIDTH:
            return [indent + lead + text]
        inner = indent + "    "
        match formula:
            case And(parts) | Or(parts):
                word = "and " if isinstance(formula, And) else "or "
                spread = [self.spread(part, inner, word if i else "", bracket=True) for i, part in enumerate(parts)]
                return [f"{indent}{lead}(", *(line for lines in spread for line in lines), f"{indent})"]
            case Exists(variable, distinct, body) | Forall(variable, distinct, body):
                word = "any" if isinstance(formula, Exists) else "all"
                loop = f"{inner}{self.loop(variable, distinct)}"
                return [f"{indent}{lead}{word}(", *self.spread(body, inner), loop, f"{indent})"]
            case Not(body) if not isinstance(body, Atom | Equal):
                return self.spread(body, indent, f"{lead}not ", bracket=True)
        return [indent + lead + text]

    def condition(self, formula: Formula) -> str:
        """A formula as an expression."""
        match formula:
            case Atom(_, args):
                return f"{self.row(args)} in {self.relation(formula)}"
            case Not(Atom(_, args) as atom):
                return f"{self.row(args)} not in {self.relation(atom)}"
            case Equal(left, right):
                return f"{self.names.variables[left]} == {self.names.variables[right]}"
            case Not(Equal(left, right)):
                return f"{self.names.variables[left]} != {self.names.variables[right]}"
            case Truth(value):
                return str(value)
            case Not(body):
                return f"not {self.operand(body)}"
            case And(parts):
                return " and ".join(map(self.operand, parts))
            case Or(parts):
                return " or ".join(map(self.operand, parts))
            case Exists(variable, distinct, body):
                return f"any({self.condition(body)} {self.loop(variable, distinct)})"
            case Forall(variable, distinct, body):
                return f"all({self.condition(body)} {self.loop(variable, distinct)})"

    def operand(self, formula: Formula) -> str:
        text = self.condition(formula)
        return f"({text})" if isinstance(formula, And | Or) else text

    def loop(self, variable: str, distinct: tuple[str, ...]) -> str:
        name = self.names.variables[variable]
        others = " and ".join(f"{name} != {self.names.variables[other]}" for other in distinct)
        return f"for {name} in objects" + (f" if {others}" if others else "")

    def relation(self, atom: Atom) -> str:
        return self.names.predicates[atom.predicate]

    def row(self, variables: tuple[str, ...]) -> str:
        inside = ", ".join(self.names.variables[variable] for variable in variables)
        return f"({inside},)" if len(variables) == 1 else f"({inside})"
