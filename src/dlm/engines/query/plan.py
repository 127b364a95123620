"""From a formula to a plan: which relations are joined with which, so that no tuple is made that nothing asks for.

`QueryPlanner.extend` is the heart: given a relation over the variables bound so far and a formula, it is their join.
Bindings are passed sideways into each part of the formula, so that a negation becomes an anti-join, a quantified
condition a semi-join, and a disjunction a union of extensions. Parts that cannot bind a variable wait until others
have. All objects are enumerated only if logic demands it. Distinguishing cases (`cases.py`) avoids most of that, and
two laws:

- ``exists z: z != y & G(z)`` needs, of the z with G, the two smallest only; with k inequalities the k + 1 smallest;
- ``exists z: ~N(x, z)`` holds unless the z with N(x, z) are as many as there are objects.

Where there is a choice, the plan with fewer estimated rows is taken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from dlm.engines.query import algebra
from dlm.engines.query.algebra import Node, Statistics, TableStatistics, cost
from dlm.engines.query.cases import CaseSplitter
from dlm.engines.query.normal import (
    Normaliser,
    all_of,
    any_of,
    binds,
    free,
    inequalities,
    inequality,
    negate,
    readable_variables,
)
from dlm.errors import ResourceError
from dlm.logic.canonical import apply
from dlm.logic.formulas import conjuncts, map_children
from dlm.logic.simplify import simplify
from dlm.logic.syntax import (
    MAX_DEPTH,
    And,
    Atom,
    Definition,
    Equal,
    Exists,
    Formula,
    Not,
    Or,
    Program,
    Truth,
    literals,
    subformulas,
)
from dlm.logic.text import format_formula

__all__ = ["QueryPlan", "plan_program", "require_room"]

NONE: frozenset[str] = frozenset()
MAX_INLINED_LITERALS = 300
"""A definition that would grow beyond this is computed on its own, however large its relation."""

MAX_UNFOLDED_LITERALS = 40
"""A program of up to this length is also planned with all definitions in their places."""

HOPELESS_ROWS = 30
"""Other ways are looked for if a relation has more rows than so many for each row that is read."""

HOPELESS_GROWTH = 5
"""Nor is a condition on a large relation planned again if it makes at most so many rows for each row of that."""

EFFORT = 5000
"""How many relations are planned before the first way is taken instead of the best; few learned programs need more."""

SHARED_ROWS = 20
"""A definition used several times is computed on its own if that makes at most so many rows for each row read."""


@dataclass(frozen=True)
class QueryPlan:
    """The relation of a program's target; `parameters` are its columns in the order of the target's parameters."""

    target: str
    parameters: tuple[str, ...]
    root: Node


def plan_program(program: Program, statistics: Statistics) -> QueryPlan:
    """A plan for the target of a program.

    A definition that is computed on its own knows nothing of what it is used for. If that turns out to be much work,
    the plan with all definitions in their places is looked at as well, unless that is long.
    """
    simple = simplify(program)
    planner = QueryPlanner(statistics)
    plan = planner.program(simple)
    light = cost(plan.root) <= SHARED_ROWS * planner.read
    if light or not planner.shared or _unfolded_literals(simple) > MAX_UNFOLDED_LITERALS:
        return plan
    return min(plan, QueryPlanner(statistics, shared_rows=0).program(simple), key=lambda plan: cost(plan.root))


def _unfolded_literals(program: Program) -> int:
    """How many literals the target has with all definitions in their places."""
    lengths: dict[str, int] = {}
    for definition in program.definitions:
        atoms = Counter(part.predicate for part in subformulas(definition.body) if isinstance(part, Atom))
        used = sum((lengths.get(name, 1) - 1) * times for name, times in atoms.items())
        lengths[definition.name] = literals(definition.body) + used
    return lengths[program.target.name]


def require_room(plan: QueryPlan, room: float) -> None:
    """Refuse a plan with a relation that `room` bytes of memory and disk cannot hold."""
    for node in algebra.nodes(plan.root):
        needed = node.rows * 8 * (len(node.columns) + 1)
        if needed > room:
            raise ResourceError(
                f"{plan.target!r} is too large to compute: about {node.rows:.1e} rows ({needed / 2**30:.1e} GiB) for "
                f"the part {format_formula(node.origin)}, and {room / 2**30:.1f} GiB of memory and disk are free; "
                "use fewer objects, or a program that says of every variable to which relation it belongs"
            )


class QueryPlanner:
    """Plans the definitions of one program on facts with these statistics."""

    def __init__(self, statistics: Statistics, shared_rows: float = SHARED_ROWS) -> None:
        self.statistics = statistics
        self.shared_rows = shared_rows
        self.objects = statistics.objects
        self.read = 10 + self.objects + sum(table.rows for table in statistics.tables.values())
        self.normaliser = Normaliser(statistics.size)
        self.fresh = readable_variables()
        self.shared: dict[str, tuple[Node, tuple[str, ...]]] = {}
        self.unit = algebra.unit()
        self.cases = CaseSplitter(self.normaliser)
        self.memory: dict[tuple[Node, Formula], Node] = {}
        self.effort = 0

    # ----------------------------------------------------------------------- definitions

    def program(self, program: Program) -> QueryPlan:
        """The plan of the last definition; the others are put in its place or computed once."""
        meanings: dict[str, Definition] = {}
        for definition in program.definitions[:-1]:
            meanings[definition.name] = self._meaning(self._unfold(definition, meanings))
        target = self._unfold(program.target, meanings)
        return QueryPlan(target.name, target.parameters, self._relation(target, self.normaliser.normal(target.body)))

    def _unfold(self, definition: Definition, meanings: dict[str, Definition]) -> Definition:
        def unfold(formula: Formula) -> Formula:
            if isinstance(formula, Atom) and formula.predicate in meanings:
                return apply(meanings[formula.predicate], formula.args, self.fresh)
            return map_children(formula, unfold)

        parameters = tuple(next(self.fresh) for _ in definition.parameters)
        return Definition(definition.name, parameters, unfold(apply(definition, parameters, self.fresh)))

    def _meaning(self, definition: Definition) -> Definition:
        """What to put in the place of a predicate: its body, or an atom of it (of its complement) computed once."""
        body = self.normaliser.normal(definition.body)
        table = Atom(definition.name, definition.parameters)
        ways = [(self._relation(definition, way), use) for way, use in ((body, table), (negate(body), Not(table)))]
        relation, use = min(ways, key=lambda way: cost(way[0]))
        inlined = Definition(definition.name, definition.parameters, body)
        large = literals(body) > MAX_INLINED_LITERALS or inlined.depth > MAX_DEPTH
        if large or self.exhausted or cost(relation) <= self.shared_rows * self.read:
            self.shared[definition.name] = relation, definition.parameters
            return Definition(definition.name, definition.parameters, use)
        return inlined

    def _relation(self, definition: Definition, body: Formula) -> Node:
        self.cases = CaseSplitter(self.normaliser)
        return self.pad(self.extend(self.unit, body), definition.parameters, body)

    # ----------------------------------------------------------------------- formulas

    def extend(self, node: Node, formula: Formula) -> Node:
        """The rows of `node` for which the formula holds, with a column for each free variable of it."""
        key = node, formula
        if key not in self.memory:
            self.effort += 1
            self.memory[key] = self._extend(node, formula)
        return self.memory[key]

    @property
    def exhausted(self) -> bool:
        """Whether there were so many ways to compare that no more are looked for."""
        return self.effort > EFFORT

    def _cheapest(self, ways: Iterable[Node]) -> Node:
        """The way with the fewest rows; the first one if there was much to compare already."""
        found: list[Node] = []
        for way in ways:
            found.append(way)
            if self.exhausted:
                break
        return found[0] if len(found) == 1 else min(found, key=cost)

    def _extend(self, node: Node, formula: Formula) -> Node:
        bound = frozenset(node.columns)
        if free(formula) <= bound:
            return self._filter(node, formula)
        match formula:
            case Atom():
                return algebra.join(node, self._scan(formula), formula)
            case Equal(left, right):
                known, other = (right, left) if right in bound else (left, right)
                return algebra.copy(self.pad(node, [known], formula), known, other, formula)
            case And(parts):
                return self._conjoin(node, list(parts), formula)
            case Or() | Exists() if free(formula) <= binds(formula, bound):
                return self._join(node, formula)
            case _:
                return self._conjoin(node, [formula], formula)

    def pad(self, node: Node, variables: Iterable[str], origin: Formula) -> Node:
        """The relation with all objects in each column that it lacks."""
        for variable in variables:
            if variable not in node.columns:
                node = algebra.join(node, algebra.domain(variable, self.statistics, origin), origin)
        return node

    def _scan(self, atom: Atom) -> Node:
        if atom.predicate in self.shared:
            relation, parameters = self.shared[atom.predicate]
            renamed = dict(zip(parameters, atom.args, strict=True))
            values = tuple(relation.values[column] for column in relation.columns if column in relation.values)
            distinct = tuple(relation.distinct[column] for column in relation.columns)
            table = TableStatistics(relation.rows, distinct, values if len(values) == len(distinct) else None)
            return algebra.scan(relation, table, tuple(renamed[c] for c in relation.columns), self.objects, atom)
        return algebra.scan(atom.predicate, self.statistics.tables[atom.predicate], atom.args, self.objects, atom)

    def _join(self, node: Node, formula: Formula) -> Node:
        """Join with a disjunction or quantification: computed on its own, or from what the relation offers it."""
        return self._cheapest(self._joins(node, formula))

    def _joins(self, node: Node, formula: Formula) -> Iterator[Node]:
        shared = self._offer(node, formula)
        beside = self._alone(shared, formula)
        yield beside if shared is node else algebra.join(node, beside, formula)
        if shared.columns and free(formula) <= binds(formula, NONE):
            yield algebra.join(node, self._alone(self.unit, formula), formula)

    def _offer(self, node: Node, formula: Formula) -> Node:
        """What a relation can tell about the variables of a formula."""
        shared = algebra.project(node, free(formula), formula)
        return shared if shared.columns else self.unit

    def _alone(self, base: Node, formula: Formula) -> Node:
        """A disjunction or quantification over the columns of `base` and its own free variables."""
        columns = tuple(dict.fromkeys((*base.columns, *sorted(free(formula)))))
        if isinstance(formula, Or):
            parts = [self.pad(self.extend(base, part), columns, part) for part in formula.parts]
            return algebra.union(parts, columns, formula)
        assert isinstance(formula, Exists)
        variable = formula.variable
        inside, loose, count = _split_loose(formula)
        if not loose:
            found = self.pad(self.extend(base, formula.body), [variable], formula)
            return algebra.project(found, columns, formula)
        block = algebra.first(self.extend(self._offer(base, inside), inside), variable, count + 1, inside)
        found = block if {*base.columns} <= {*block.columns} else algebra.join(base, block, formula)
        return algebra.project(self._conjoin(found, list(loose), formula), columns, formula)

    # ----------------------------------------------------------------------- conjunctions

    def _conjoin(self, node: Node, parts: list[Formula], origin: Formula) -> Node:
        """Join with a conjunction, in an order that keeps relations small."""
        waiting = list(parts)
        while waiting:
            bound = frozenset(node.columns)
            ready = [part for part in waiting if free(part) <= bound]
            if ready:
                part = min(ready, key=_weight)
            else:
                safe = [part for part in waiting if free(part) <= binds(part, bound)]
                if not safe:
                    return self._enumerate(node, waiting, origin)
                part = self._smallest(node, safe)
            extended = self.extend(node, part)
            if not ready and self._is_hopeless(extended) and not self._is_hopeless(node):
                return self._enumerate(node, waiting, origin, part)
            node = extended
            waiting.remove(part)
        return node

    def _smallest(self, node: Node, parts: list[Formula]) -> Formula:
        """The part that makes the relation least larger; atoms first, if they have something to do with it."""
        copies = [part for part in parts if isinstance(part, Equal)]
        if copies:
            return copies[0]
        joined = [
            part for part in parts if isinstance(part, Atom) and (not node.columns or free(part) & {*node.columns})
        ]
        options = joined or parts
        if len(options) == 1 or self.exhausted:
            return options[0]
        return min(options, key=lambda part: self.extend(node, part).rows)

    def _enumerate(self, node: Node, parts: list[Formula], origin: Formula, part: Formula | None = None) -> Node:
        """Go on where no part binds anything at a bearable price: distinguish cases, or pay it.

        The price is to join with `part`, or else to go through all objects for some variable.
        """
        return self._cheapest(self._enumerations(node, parts, origin, part))

    def _enumerations(self, node: Node, parts: list[Formula], origin: Formula, part: Formula | None) -> Iterator[Node]:
        unbound = Counter(v for waiting in parts for v in sorted(free(waiting) - {*node.columns}))
        columns = (*node.columns, *unbound)
        for cases in () if self.exhausted else self.cases.distinguish(parts, frozenset(node.columns)):
            with self.cases.inside():
                found = [self.pad(self._conjoin(node, list(conjuncts(case)), origin), columns, case) for case in cases]
            yield algebra.union(found, columns, origin)
        if part is None:
            padded = self.pad(node, [unbound.most_common(1)[0][0]], all_of(parts))
            yield self._conjoin(padded, parts, origin)
        else:
            yield self._conjoin(self.extend(node, part), [other for other in parts if other is not part], origin)

    def _is_hopeless(self, node: Node) -> bool:
        """Whether a relation is so large that other ways are worth the time to look for them."""
        return node.rows > HOPELESS_ROWS * self.read

    # ----------------------------------------------------------------------- conditions on what is bound

    def _filter(self, node: Node, formula: Formula) -> Node:
        match formula:
            case Truth(value):
                return node if value else algebra.empty(node.columns, formula)
            case Equal(left, right):
                return algebra.filtered(node, (left, right), formula, equal=True)
            case Not(Equal(left, right)):
                return algebra.filtered(node, (left, right), formula, equal=False)
            case Atom():
                return algebra.semi(node, self._scan(formula), formula, negated=False)
            case Not(Atom() as atom):
                return algebra.semi(node, self._scan(atom), formula, negated=True)
            case And(parts):
                return self._conjoin(node, list(parts), formula)
            case Or():
                return self._filter_any(node, formula)
            case Exists():
                return self._filter_exists(node, formula, formula, negated=False)
            case Not(Exists() as inside):
                return self._filter_exists(node, inside, formula, negated=True)
            case _:
                raise AssertionError(f"not a normal formula: {formula}")

    def _filter_any(self, node: Node, formula: Or) -> Node:
        """Keep what one part accepts: by a semi-join with their union, or by removing what all parts reject."""
        return self._cheapest(self._filters_any(node, formula))

    def _filters_any(self, node: Node, formula: Or) -> Iterator[Node]:
        shared = self._offer(node, formula)
        rejected = self._conjoin(shared, list(conjuncts(negate(formula))), negate(formula))
        yield algebra.semi(node, rejected, formula, negated=True)
        if free(formula) <= binds(formula, NONE):
            yield algebra.semi(node, self._alone(self.unit, formula), formula, negated=False)

    def _filter_exists(self, node: Node, formula: Exists, origin: Formula, *, negated: bool) -> Node:
        variable, bound = formula.variable, free(formula)
        ways: list[Node] = []
        if variable in binds(formula.body, bound):
            ways.append(self._filter_witness(node, formula, origin, negated=negated))
        else:
            ways += self._filter_counted(node, formula, origin, negated=negated)
        bearable = HOPELESS_ROWS * self.read
        if not self.exhausted and (not ways or min(map(cost, ways)) > bearable + HOPELESS_GROWTH * cost(node)):
            for cases in self.cases.options(formula, bound):
                found = any_of(cases)
                with self.cases.inside():
                    ways.append(self.extend(node, negate(found) if negated else found))
        return self._cheapest(ways or [self._filter_witness(node, formula, origin, negated=negated)])

    def _filter_witness(self, node: Node, formula: Exists, origin: Formula, *, negated: bool) -> Node:
        """``exists z`` by a semi-join with the relation of its body."""
        variable, bound = formula.variable, free(formula)
        inside, loose, count = _split_loose(formula)
        different = [inequality(part, variable) for part in loose]
        if None in different:
            return algebra.semi(node, self._alone(self._offer(node, formula), formula), origin, negated=negated)
        differ = tuple((other, variable) for other in different if other is not None)
        bases = [self._offer(node, inside)]
        if bases[0].columns and free(inside) <= binds(inside, NONE):
            bases.append(self.unit)

        def joined(base: Node) -> Node:
            found = self.pad(self.extend(base, inside), [variable], formula)
            if loose and not bound & free(inside):
                found = algebra.first(algebra.project(found, {variable}, inside), variable, count + 1, inside)
            return algebra.semi(node, found, origin, negated=negated, differ=differ)

        return self._cheapest(map(joined, bases))

    def _filter_counted(self, node: Node, formula: Exists, origin: Formula, *, negated: bool) -> Iterator[Node]:
        """``exists z`` by counting the z that will not do, if it is known which those are."""
        variable, bound = formula.variable, free(formula)
        refuted = negate(formula.body)
        if variable not in binds(refuted, bound):
            return
        bases = [self._offer(node, formula)]
        if bases[0].columns and bound | {variable} <= binds(refuted, NONE):
            bases.append(self.unit)
        for base in bases[:1] if self.exhausted else bases:
            counted = algebra.full(self.extend(base, refuted), variable, self.objects, refuted)
            yield algebra.semi(node, counted, origin, negated=not negated)


@lru_cache(maxsize=1 << 15)
def _weight(formula: Formula) -> int:
    """How much there is to a condition: the cheap ones go first."""
    return 0 if isinstance(formula, Equal) else literals(formula)


def _split_loose(formula: Exists) -> tuple[Formula, tuple[Formula, ...], int]:
    """``exists z: F(z) & z != y`` as F and the parts that z has to do with through inequalities only, and their number.

    Only those with variables that F does not mention: an inequality within F costs nothing there.
    """
    variable = formula.variable
    parts = conjuncts(formula.body)
    tight = [part for part in parts if inequalities(part, variable) is None]
    known = free(all_of(tight))
    if variable not in known:
        return formula.body, (), 0
    loose = tuple(part for part in parts if part not in tight and not free(part) <= known)
    inside = all_of(part for part in parts if part not in loose)
    return inside, loose, sum(inequalities(part, variable) or 0 for part in loose)
