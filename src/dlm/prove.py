"""Whether two programs are equal on all structures up to some size, by an answer set solver.

For each number of objects, clingo looks for a structure on which the programs differ: any relations that satisfy the
axioms, both programs as clauses, and a tuple of which they say different things. If there is none, the programs are
equal on all structures of that size.

Formulas cannot tell objects apart by their numbers, so a structure can be renumbered such that the objects of
the tuple come first. Therefore only such tuples are looked at.

A comparison such as ``age(x) > 50`` is a relation like others, of which the laws of order hold (`logic.order`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from dlm.data.structure import Structure
from dlm.errors import ProgramError, SettingsError, require_packages
from dlm.export.asp import asp_atom, asp_name, asp_text
from dlm.export.clauses import ClauseProgram, fresh
from dlm.export.lloyd_topor import to_clauses
from dlm.logic.attributes import attributes_of
from dlm.logic.evaluate import evaluate, holds
from dlm.logic.formulas import free_variables, rename_definitions
from dlm.logic.order import order_laws
from dlm.logic.syntax import And, Atom, Definition, Formula, Not, Or, Program, atoms
from dlm.logic.text import format_formula

__all__ = ["Difference", "Progress", "Proof", "prove_equal"]

Progress = Callable[[int, float], None]
"""Told each number of objects for which equality was proven, and the seconds that took."""

POLL_SECONDS = 0.05
"""How long the solver is left alone between two looks at the clock and for Ctrl-C."""


class Difference(NamedTuple):
    """A tuple of objects, and what each of the two programs says of it."""

    arguments: tuple[int, ...]
    first: bool
    second: bool


@dataclass(frozen=True)
class Proof:
    """What came of comparing two programs on all structures of up to `asked` objects.

    They are equal on all structures of 0 to `objects` objects (-1: nothing was proven). If there is a counterexample,
    it has one object more, and `differences` says where they differ on it. `seconds` has the time for each size.
    `stopped` says why the comparison ended early without a counterexample.

    `true_from` is the smallest number of objects with which the programs say of anything that it is true. If it is None
    there is nothing of the kind on any structure up to that size, and to be equal means little.

    `attributes` are those that are compared. They may have no value of an object, or several; and of comparisons
    between objects not all laws are known here. So a counterexample may be one that no values give.
    """

    asked: int
    objects: int
    seconds: tuple[float, ...]
    counterexample: Structure | None = None
    differences: tuple[Difference, ...] = ()
    true_from: int | None = None
    stopped: Literal["time limit", "interrupted"] | None = None
    attributes: tuple[str, ...] = ()

    @property
    def equal(self) -> bool:
        """Whether the programs were proven equal up to the size that was asked for."""
        return self.objects >= self.asked


def prove_equal(
    program: Program,
    other: Program,
    *,
    objects: int = 6,
    given: Sequence[Formula] = (),
    distinct_only: bool = False,
    on_progress: Progress | None = None,
    time_limit: float | None = None,
) -> Proof:
    """Compare the targets of two programs on all structures of up to `objects` objects that satisfy the axioms `given`.

    With `distinct_only`, tuples with a repeated object are not looked at. Ctrl-C and the time limit (seconds) end the
    comparison; the result says how far it came.
    """
    if objects < 0:
        raise SettingsError(f"the number of objects must be at least 0, got {objects}")
    require_packages("clingo", extra="prove", purpose="proving that programs are equal")
    question = _Question(program, other, tuple(given), distinct_only)
    attributes = tuple(attributes_of(question.inputs))
    end = None if time_limit is None else time.monotonic() + time_limit
    seconds: list[float] = []
    true_from: int | None = None
    stopped: Literal["time limit", "interrupted"] | None = None
    try:
        for size in range(objects + 1):
            started = time.perf_counter()
            found = question.counterexample(size, end)
            if found is None and true_from is None and question.has_instance(size, end):
                true_from = size
            seconds.append(time.perf_counter() - started)
            if found is not None:
                differences = question.differences(found)
                assert differences, "the solver and the reference interpreter disagree"
                return Proof(objects, size - 1, tuple(seconds), found, differences, true_from, None, attributes)
            if on_progress is not None:
                on_progress(size, seconds[-1])
    except _OutOfTimeError:
        stopped = "time limit"
    except KeyboardInterrupt:
        stopped = "interrupted"
    return Proof(objects, len(seconds) - 1, tuple(seconds), None, (), true_from, stopped, attributes)


class _OutOfTimeError(Exception):
    """The time limit was reached."""


class _Question:
    """Two programs and axioms, ready to be put to the solver for any number of objects."""

    def __init__(self, program: Program, other: Program, given: tuple[Formula, ...], distinct_only: bool) -> None:
        if program.target.arity != other.target.arity:
            raise ProgramError(
                f"only targets with as many arguments can be equal: {program.target.name!r} has "
                f"{program.target.arity}, {other.target.name!r} has {other.target.arity}"
            )
        self.programs = (program, other)
        self.arity = program.target.arity
        self.distinct_only = distinct_only
        self.inputs = _common_inputs(program, other, given)
        self.given = (*given, *order_laws(self.inputs))
        self.rules = _Rules(*_combined(program, other, self.given, self.inputs), self.inputs)

    def counterexample(self, size: int, end: float | None) -> Structure | None:
        """A structure of that size on which the programs differ, with few facts; None if there is none."""
        true = self.solve(size, self.rules.clauses.target, end)
        if true is None:
            return None
        relations = {
            name: frozenset(values for predicate, values in true if predicate == asp_name(name)) for name in self.inputs
        }
        return self.shrunk(Structure(tuple(f"o{number}" for number in range(size)), self.inputs, relations))

    def has_instance(self, size: int, end: float | None) -> bool:
        """Whether the first program's target is true of anything on some structure of that size."""
        return self.solve(size, self.rules.first, end) is not None

    def solve(self, size: int, predicate: str, end: float | None) -> list[tuple[str, tuple[int, ...]]] | None:
        """The facts of a structure on which some tuple has the predicate, or None if there is none."""
        tuples = [values for values in _first_tuples(self.arity, size) if not (self.distinct_only and _repeats(values))]
        return _solve(self.rules.text(size, predicate, tuples), end) if tuples else None

    def shrunk(self, structure: Structure) -> Structure:
        """The structure without facts that the difference does not need: no single one could be left out any more."""
        for name in structure.arities:
            for values in sorted(structure.relations[name]):
                fewer = {**structure.relations, name: structure.relations[name] - {values}}
                smaller = Structure(structure.objects, structure.arities, fewer)
                if self.satisfies(smaller) and self.differences(smaller):
                    return self.shrunk(smaller)
        return structure

    def satisfies(self, structure: Structure) -> bool:
        return all(holds(axiom, structure.size, structure.relations, {}) for axiom in self.given)

    def differences(self, structure: Structure) -> tuple[Difference, ...]:
        """Where the programs differ, by the reference interpreter."""
        first, second = (evaluate(program, structure)[program.target.name] for program in self.programs)
        found = (values for values in sorted(first ^ second) if not (self.distinct_only and _repeats(values)))
        return tuple(Difference(values, values in first, values in second) for values in found)


@dataclass(frozen=True)
class _Rules:
    """The question as clauses: the target is where the programs differ, `first` the first one's, `laws` must hold."""

    clauses: ClauseProgram
    first: str
    laws: tuple[str, ...]
    inputs: Mapping[str, int]

    def text(self, size: int, predicate: str, tuples: Sequence[tuple[int, ...]]) -> str:
        """The structures of some size on which one of the tuples has the predicate."""
        domain = self.clauses.domain
        lines = [f"{asp_atom(domain, (f'0..{size - 1}',))}." if size else f"#defined {asp_name(domain)}/1."]
        for name, arity in self.inputs.items():
            variables = [f"X{number}" for number in range(arity)]
            ranges = ", ".join(asp_atom(domain, (variable,)) for variable in variables)
            lines.append(f"{{ {asp_atom(name, variables)} }}{' :- ' if arity else ''}{ranges}.")
            lines.append(f"#show {asp_name(name)}/{arity}.")
        lines += [f":- not {asp_name(law)}." for law in self.laws]
        nowhere = ", ".join(f"not {asp_atom(predicate, values)}" for values in tuples)
        return asp_text(self.clauses) + "\n".join([*lines, f":- {nowhere}."]) + "\n"


def _common_inputs(program: Program, other: Program, given: Sequence[Formula]) -> dict[str, int]:
    """The predicates that a structure must provide for both programs and the axioms."""
    inputs: dict[str, int] = {}
    defined = {definition.name for each in (program, other) for definition in each.definitions}
    used = [(name, arity) for each in (program, other) for name, arity in each.inputs.items()]
    for name, arity in used:
        if inputs.setdefault(name, arity) != arity:
            raise ProgramError(f"one program reads {name!r} with {inputs[name]} arguments, the other with {arity}")
    for axiom in given:
        free = sorted(free_variables(axiom))
        if free:
            raise ProgramError(f"an axiom is about all objects, but {free[0]!r} is free in: {format_formula(axiom)}")
        for atom in atoms(axiom):
            if atom.predicate in defined and atom.predicate not in inputs:
                raise ProgramError(
                    f"an axiom is about {atom.predicate!r}, which a program defines; speak of inputs only"
                )
            if inputs.setdefault(atom.predicate, len(atom.args)) != len(atom.args):
                raise ProgramError(
                    f"an axiom uses {atom.predicate!r} with {len(atom.args)} arguments, elsewhere it has "
                    f"{inputs[atom.predicate]}"
                )
    return dict(sorted(inputs.items()))


def _combined(
    program: Program, other: Program, given: Sequence[Formula], inputs: Mapping[str, int]
) -> tuple[ClauseProgram, str, tuple[str, ...]]:
    """Both programs, under names of their own, and the axioms as one program whose target says where they differ.

    With it come the name of the first program's target and those of the axioms.
    """
    taken = set(inputs)
    first, second = (_renamed(each, taken) for each in (program, other))
    laws = tuple(Definition(_new_name("law", taken), (), axiom) for axiom in given)
    variables = first[-1].parameters
    one, two = (Atom(definitions[-1].name, variables) for definitions in (first, second))
    differ = Or((And((one, Not(two))), And((two, Not(one)))))
    target = Definition(_new_name("differ", taken), variables, differ)
    clauses = to_clauses(Program((*first, *second, *laws, target)))
    return clauses, one.predicate, tuple(law.name for law in laws)


def _renamed(program: Program, taken: set[str]) -> tuple[Definition, ...]:
    names = {definition.name: _new_name(definition.name, taken) for definition in program.definitions}
    return rename_definitions(program.definitions, names)


def _new_name(wanted: str, taken: set[str]) -> str:
    name = fresh(wanted, taken)
    taken.add(name)
    return name


def _first_tuples(arity: int, size: int, start: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """The tuples in which objects appear in the order of their numbers; every tuple is one of them, renumbered."""
    if len(start) == arity:
        yield start
        return
    for value in range(min(size, max(start, default=-1) + 2)):
        yield from _first_tuples(arity, size, (*start, value))


def _repeats(values: tuple[int, ...]) -> bool:
    return len(set(values)) < len(values)


def _solve(text: str, end: float | None) -> list[tuple[str, tuple[int, ...]]] | None:
    """The atoms shown of one answer set, by their clingo names, or None if there is no answer set."""
    import clingo

    _check_time(end)
    control = clingo.Control([], lambda _code, _text: None)
    control.add("base", [], text)
    control.ground([("base", [])])
    _check_time(end)
    with control.solve(yield_=True, async_=True) as handle:
        handle.resume()
        while not handle.wait(POLL_SECONDS):
            _check_time(end)
        model = handle.model()
        if model is None:
            return None
        return [
            (symbol.name, tuple(argument.number for argument in symbol.arguments))
            for symbol in model.symbols(shown=True)
        ]


def _check_time(end: float | None) -> None:
    if end is not None and time.monotonic() >= end:
        raise _OutOfTimeError
