"""From a program to normal clauses, after Lloyd and Topor.

Disjunctions become several clauses, ``forall`` becomes ``not exists not``, and what stands negated and is not an atom
gets a predicate of its own, an auxiliary. There is no recursion, so negation is stratified whatever the program.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dlm.export.clauses import Body, Clause, ClauseProgram, Literal, fresh, variables_of
from dlm.logic.attributes import attributes_of
from dlm.logic.formulas import compared, free_variables, map_children, rename
from dlm.logic.syntax import And, Atom, Definition, Equal, Exists, Forall, Formula, Not, Or, Program, Truth, subformulas

__all__ = ["to_clauses"]

MAX_COPIES = 4
"""A disjunction of up to so many parts inside a conjunction is multiplied out; a longer one, or a second, is not."""


def to_clauses(program: Program) -> ClauseProgram:
    """The program as normal, safe, stratified clauses. Nothing is simplified or left out."""
    return _Translation(program).result()


class _Translation:
    """One program on its way to clauses. Auxiliaries are written down before the clause that uses them."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.names = {*program.inputs, *(definition.name for definition in program.definitions)}
        self.names.update(attributes_of(program.inputs))
        self.domain = self.fresh_name("object")
        self.clauses: dict[str, list[Clause]] = {}
        self.defined: dict[str, int] = {}
        self.auxiliaries: set[str] = set()
        self.definition = program.target
        self.guards: tuple[Atom, ...] = ()

    def result(self) -> ClauseProgram:
        for definition in self.program.definitions:
            self.definition = definition
            body = _rename_apart(definition)
            self.define(Atom(definition.name, definition.parameters), self.bodies(body))
        clauses = tuple(clause for group in self.clauses.values() for clause in group)
        auxiliaries = frozenset(self.auxiliaries)
        return ClauseProgram(
            clauses, self.program.inputs, self.defined, auxiliaries, self.domain, self.program.target.name
        )

    def fresh_name(self, wanted: str) -> str:
        name = fresh(wanted, self.names)
        self.names.add(name)
        return name

    def define(self, head: Atom, bodies: Iterable[Body], guards: Sequence[Atom] = ()) -> None:
        self.defined[head.predicate] = len(head.args)
        finished = (self.finish(head, body, guards) for body in bodies)
        self.clauses[head.predicate] = list(dict.fromkeys(clause for clause in finished if clause is not None))

    def bodies(self, formula: Formula) -> list[Body]:
        """Conjunctions of literals of which at least one holds if and only if the formula does."""
        match formula:
            case Atom() | Equal():
                return [(formula,)]
            case Truth(value):
                return [()] if value else []
            case Or(parts):
                return [body for part in parts for body in self.bodies(part)]
            case And(parts):
                return self.conjunction(parts)
            case Exists(variable, distinct, body):
                different = tuple(Not(Equal(variable, other)) for other in distinct)
                return [(*found, Atom(self.domain, (variable,)), *different) for found in self.bodies(body)]
            case Forall():
                return self.negated(_counterexample(formula))
            case Not(body):
                return self.negation(body)

    def negation(self, formula: Formula) -> list[Body]:
        """The same for the negation of a formula."""
        match formula:
            case Atom() | Equal():
                return [(Not(formula),)]
            case Truth(value):
                return [] if value else [()]
            case Not(body):
                return self.bodies(body)
            case And(parts):
                return [body for part in parts for body in self.negation(part)]
            case Or(parts):
                return self.conjunction(tuple(Not(part) for part in parts))
            case Forall():
                return self.bodies(_counterexample(formula))
            case Exists():
                return self.negated(formula)

    def negated(self, formula: Formula) -> list[Body]:
        """The negation of a formula, as one negated atom."""
        bodies = self.own_bodies(formula)
        if not bodies:
            return [()]
        return [] if () in bodies else [(Not(self.auxiliary(formula, bodies)),)]

    def conjunction(self, parts: Sequence[Formula]) -> list[Body]:
        """All of the parts. One short disjunction among them is multiplied out, several become auxiliaries."""
        outer, self.guards = self.guards, (*self.guards, *_plain_atoms(parts))
        several = [part for part in parts if _branches(part) > 1]
        if len(several) > 1 or any(_branches(part) > MAX_COPIES for part in several):
            choices = [self.as_literal(part) if part in several else self.bodies(part) for part in parts]
        else:
            choices = [self.bodies(part) for part in parts]
        self.guards = outer
        found: list[Body] = [()]
        for bodies in choices:
            found = [(*before, *body) for before in found for body in bodies]
        return found

    def as_literal(self, formula: Formula) -> list[Body]:
        """A disjunction as one literal; if all its parts are negative, the negation of their conjunction is safe."""
        if _all_negative(formula):
            return self.negated(Not(formula))
        bodies = self.own_bodies(formula)
        if not bodies or () in bodies:
            return [()] if bodies else []
        return [(self.auxiliary(formula, bodies),)]

    def own_bodies(self, formula: Formula) -> list[Body]:
        """The bodies of a formula that becomes a predicate of its own, where the clause around it does not reach."""
        outer, self.guards = self.guards, ()
        bodies = self.bodies(formula)
        self.guards = outer
        return bodies

    def auxiliary(self, formula: Formula, bodies: Sequence[Body]) -> Atom:
        """A new predicate of the formula's free variables, true where one of the bodies is.

        It is asked for only where the guards hold, so that they may stand in for the domain.
        """
        free = free_variables(formula)
        occurring = dict.fromkeys([*self.definition.parameters, *_in_order(formula)])
        head = Atom(
            self.fresh_name(f"{self.definition.name}_1"), tuple(variable for variable in occurring if variable in free)
        )
        self.auxiliaries.add(head.predicate)
        self.define(head, bodies, [guard for guard in self.guards if free.issuperset(guard.args)])
        return head

    def finish(self, head: Atom, body: Body, guards: Sequence[Atom]) -> Clause | None:
        """A safe clause, its literals in good order; None if its body is never true."""
        bound = _bound(body, self.domain)
        for guard in guards:
            if not bound.issuperset(guard.args):
                body = (*body, guard)
                bound.update(guard.args)
        body = (*body, *(Atom(self.domain, (variable,)) for variable in head.args))
        while (equal := next((part for part in body if isinstance(part, Equal)), None)) is not None:
            kept, replaced = equal.left, equal.right
            if replaced in head.args and kept not in head.args:
                kept, replaced = replaced, kept
            head = Atom(head.predicate, tuple(kept if arg == replaced else arg for arg in head.args))
            body = tuple(_renamed(part, {replaced: kept}) for part in body if part != equal)
        if any(isinstance(part, Not) and isinstance(part.body, Equal) and _trivial(part.body) for part in body):
            return None
        return Clause(head, tuple(self.ordered(head, self.without_needless_domains(head, body))))

    def without_needless_domains(self, head: Atom, body: Body) -> list[Literal]:
        """The body's literals, each once; of the domain only what binds a variable or says that there are objects."""
        bound = _bound(body, self.domain)
        domains = dict.fromkeys(part for part in body if isinstance(part, Atom) and part.predicate == self.domain)
        others = [part for part in dict.fromkeys(body) if part not in domains]
        used = {variable for part in (head, *others) for variable in variables_of(part)}
        needed = [part for part in domains if part.args[0] in used - bound]
        return [*others, *(needed or ([] if bound else list(domains)[:1]))]

    def ordered(self, head: Atom, literals: Sequence[Literal]) -> Iterator[Literal]:
        """Tests as soon as their variables are known, and until then what binds variables, connected if possible.

        Facts go before definitions and comparisons of two objects, which are costly to enumerate, and the domain last.
        """
        binders = [part for part in literals if isinstance(part, Atom)]
        tests = [part for part in literals if isinstance(part, Not)]
        tests.sort(key=lambda test: isinstance(test.body, Atom) + (_predicate(test) in self.defined))
        known: set[str] = set()

        def cost(atom: Atom) -> tuple[bool, ...]:
            new = set(atom.args) - known
            apart = known.isdisjoint(atom.args)
            foreign = not set(head.args) & new
            costly = atom.predicate in self.defined or (len(atom.args) == 2 and compared(atom) is not None)
            return (atom.predicate == self.domain, bool(new), apart, costly, foreign)

        while binders or tests:
            ready = [test for test in tests if known.issuperset(variables_of(test))]
            yield from ready
            tests = [test for test in tests if test not in ready]
            if binders:
                chosen = min(binders, key=cost)
                binders.remove(chosen)
                known.update(chosen.args)
                yield chosen


def _counterexample(formula: Forall) -> Exists:
    return Exists(formula.variable, formula.distinct, Not(formula.body))


def _branches(formula: Formula, negative: bool = False) -> int:
    """How many bodies a formula has, as far as its connectives tell."""
    match formula:
        case Not(body):
            return _branches(body, not negative)
        case And(parts) | Or(parts):
            if isinstance(formula, Or) != negative:
                return sum(_branches(part, negative) for part in parts)
            several = [branches for part in parts if (branches := _branches(part, negative)) > 1]
            return several[0] if len(several) == 1 and several[0] <= MAX_COPIES else 1
        case Exists(_, _, body) | Forall(_, _, body) if isinstance(formula, Forall) == negative:
            return _branches(body, negative)
        case _:
            return 1


def _all_negative(formula: Formula, negative: bool = False) -> bool:
    """Whether a formula is a disjunction of negated atoms, equalities aside."""
    match formula:
        case Not(body):
            return _all_negative(body, not negative)
        case Atom():
            return negative
        case Equal():
            return True
        case And(parts) | Or(parts):
            return isinstance(formula, Or) != negative and all(_all_negative(part, negative) for part in parts)
        case _:
            return False


def _rename_apart(definition: Definition) -> Formula:
    """The body with variables such that no two quantifiers that can meet in one clause share theirs."""
    everything = {*definition.parameters, *_in_order(definition.body)}

    def apart(formula: Formula, taken: set[str], negative: bool) -> Formula:
        match formula:
            case Exists(variable, distinct, body) | Forall(variable, distinct, body):
                name = variable if variable not in taken else fresh(variable, taken | everything)
                taken.add(name)
                body = apart(rename(body, {variable: name}), taken, isinstance(formula, Forall))
                return type(formula)(name, distinct, body)
            case Not(body):
                return Not(apart(body, taken, not negative))
            case And(parts) | Or(parts) if isinstance(formula, Or) != negative:
                # The parts become clauses of their own.
                own = [set(taken) for _ in parts]
                found = tuple(apart(part, names, negative) for part, names in zip(parts, own, strict=True))
                taken.update(*own)
                return type(formula)(found)
            case _:
                return map_children(formula, lambda child: apart(child, taken, negative))

    return apart(definition.body, set(definition.parameters), False)


def _in_order(formula: Formula) -> Iterator[str]:
    """All variables of a formula, as they come, with repetitions."""
    for part in subformulas(formula):
        match part:
            case Atom(_, args):
                yield from args
            case Equal(left, right):
                yield from (left, right)
            case Exists(variable, distinct, _) | Forall(variable, distinct, _):
                yield from (variable, *distinct)


def _bound(body: Body, domain: str) -> set[str]:
    """The variables that a body binds without the domain."""
    return {arg for part in body if isinstance(part, Atom) and part.predicate != domain for arg in part.args}


def _plain_atoms(parts: Iterable[Formula]) -> Iterator[Atom]:
    """The atoms among some formulas, also those that are negated twice."""
    for part in parts:
        match part:
            case Atom():
                yield part
            case Not(Not(Atom() as atom)):
                yield atom


def _predicate(literal: Not) -> str | None:
    return literal.body.predicate if isinstance(literal.body, Atom) else None


def _renamed(literal: Literal, names: dict[str, str]) -> Literal:
    renamed = rename(literal, names)
    assert isinstance(renamed, Literal)
    return renamed


def _trivial(equal: Equal) -> bool:
    return equal.left == equal.right
