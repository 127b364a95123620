"""The search for rules: a small language first, then larger ones, and after each what program its words allow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dlm.data.bits import BoolArray, pack_last, unpack_last
from dlm.data.labelled import LabelledAtoms
from dlm.data.problem import DataProblem
from dlm.learning.rules.bank import ConceptBank
from dlm.learning.rules.compositions import Compositions
from dlm.learning.rules.cover import cover_rows
from dlm.learning.rules.features import At, Between, Features, Otherwise, RowTerm
from dlm.learning.rules.growth import Growth, Scores
from dlm.learning.rules.prior import Given
from dlm.learning.rules.terms import Apart, Chain, Variables
from dlm.learning.rules.tree import Tree, cut_back, grow_tree
from dlm.learning.rules.universe import build_universe
from dlm.logic.formulas import conjunction, conjuncts, disjunction
from dlm.logic.syntax import FALSE, TRUE, Definition, Formula, Not, Program

__all__ = ["CHEAP", "CLEAR", "ENOUGH", "Recipe", "FoundRules", "RuleBuilder", "Useful"]

ENOUGH, TINY, CLEAR, SMALL, LONG = 3, 0.005, 10, 0.2, 4
"""Literals of a program without errors, and literals for each positive row, with which no smaller one is looked for;
literals with which four further stages without a smaller one end the search; and literals for each positive row with
which one does, two if it is larger than clear, and so on up to four."""

NOISE, STALE = 0.02, 3
"""The share of the positive rows by which size plus errors must fall for a stage to have been worth its while, and the
stages in a row without that which end the search of many rows: what larger languages still explain is noise."""

DEEP, SHALLOW, MANY = 12, 8, 3000
"""Questions in a row of a tree, and fewer of them if there are many rows."""

FEW_CHAINS = 16
"""Where no more ways of two steps lead on, what is not so at their ends is looked at early."""

CHEAP = ("links", "paths", "counts", "middles", "compositions", "composed concepts")
"""The stages that take little time."""

Step = Callable[[], Iterator[None]]


RULE_PRICES = (1.0, 4.0, 100.0)
TREE_PRICES = (0.25, 0.5, 1.0, 2.0, 4.0)
"""What an error costs, in literals: different ones give programs of different sizes."""

Head = tuple[str, ...]
Answers = NDArray[np.bool_]


Kind = Literal["rules", "tree", "start"]
BOTH: frozenset[Kind] = frozenset({"rules", "tree"})


@dataclass(frozen=True)
class Recipe:
    """How a program was made: what cross-validation chooses by."""

    kind: Kind
    stage: str
    price: float


class Useful(NamedTuple):
    """The stages up to the last that brought a clearly better program, and the kinds of which the best programs are,
    whatever an error costs from a literal on: what is worth a cross-validation."""

    stages: int
    kinds: frozenset[Kind] = BOTH


@dataclass(frozen=True)
class FoundRules:
    """A formula with its size, its errors on the rows that it was learned from, and what it says of all rows."""

    choice: Recipe
    formula: Callable[[Variables, Head], Formula]
    size: int
    errors: float
    said: Answers
    terms: tuple[RowTerm, ...]


class RuleBuilder:
    """Grows the language for one set of rows, stage by stage."""

    def __init__(
        self,
        problem: DataProblem,
        labels: LabelledAtoms,
        given: Sequence[tuple[Given, BoolArray]] = (),
        kinds: frozenset[Kind] = BOTH,
    ) -> None:
        self.problem, self.labels, self.given, self.kinds = problem, labels, given, kinds
        self.bank = ConceptBank(build_universe(problem, labels))
        self.features = Features(self.bank, problem.bias)
        positive = np.where(labels.truth, labels.weights, 0.0)
        self.growth = Growth(self.bank, self.features, Scores(positive, labels.weights - positive))
        self.front: dict[int, FoundRules] = {}
        self.found: dict[Recipe, FoundRules] = {}
        self._planned: list[str] = []
        self._words = (0, False)  # how many features the last programs were made of, and whether they were negated

    def stages(self, most: int | None = None, *, early: bool = True, cheap_first: bool = False) -> Iterator[str]:
        """Grow the language, and learn with it at the end of each stage. Yields after each piece of work.

        Ends after so many stages, or early with a program that leaves little to be wished for. Stages come in the order
        of their languages' sizes; or, where fresh instances can refute what does not hold, in that of their costs.
        """
        if self.given:
            self._begin()
        same = stale = 0  # stages in a row without a smaller program, and without one that is clearly better
        least = float("inf")
        plan = self._plan()
        if cheap_first:
            plan.sort(key=lambda item: CHEAP.index(item[0]) if item[0] in CHEAP else len(CHEAP))
        self._planned = [name for name, _ in plan]
        for stage, steps in plan[:most]:
            for step in steps:
                for _ in step():
                    yield stage
            self.features.gather()
            before = self.best.size if self.front else None
            words = len(self.features), self.growth.negation
            if words == self._words and self.front:  # there is nothing new to say
                yield stage
                continue
            self._words = words
            self._learn(stage)
            yield stage
            size, same = self.best.size, same + 1 if self.best.size == before else 0
            positives = float(self.labels.weights[self.labels.truth].sum())
            if early and not self.best.errors and same >= self._patience(size, positives, len(plan)):
                return
            energy = min(found.size + found.errors for found in self.front.values())
            stale = 0 if energy < least - NOISE * positives else stale + 1
            least = min(least, energy)
            if early and self.best.errors and stale >= STALE and self.labels.count > MANY:
                return

    @staticmethod
    def _patience(size: int, positives: float, stages: int) -> int:
        """How many stages in a row without a smaller program end the search: more if the program is a large one."""
        if size <= max(ENOUGH, min(TINY * positives, CLEAR)):
            return 0
        if size <= SMALL * positives:
            return min(LONG, -(-size // CLEAR))
        return LONG if size <= CLEAR else stages

    def _plan(self) -> list[tuple[str, list[Step]]]:
        growth, scores = self.growth, self.growth.scores
        made = Compositions(self.bank, self.features)
        compositions = [made.enumerate, lambda: made.between(scores.positive, scores.negative)]
        stages: list[tuple[str, list[Step]]] = [
            ("links", [growth.tested_links, lambda: growth.exists(2)]),
            ("paths", [lambda: growth.paths(2)]),
            ("middles", [growth.between]),
            ("compositions", compositions),
            ("conjunctions", [lambda: growth.inside(2), lambda: growth.inside(1), growth.between]),
            ("negation", [growth.negate, lambda: growth.inside(1), growth.between]),
            ("siblings", [growth.siblings, lambda: growth.exists(6), lambda: growth.inside(1)]),
            ("counts", [lambda: growth.exists(4, least=2), lambda: growth.exists(4, least=3)]),
            ("forall", [lambda: growth.exists_not(3)]),
            ("unions", [growth.unions, lambda: growth.paths(2), lambda: growth.exists(3)]),
            ("composed concepts", [made.enumerate, made.exists]),
            ("depth 2", [lambda: growth.exists(4), lambda: growth.inside(1)]),
            ("overlaps", [growth.overlaps, lambda: growth.exists(4), lambda: growth.inside(1)]),
            ("depth 3", [lambda: growth.paths(3), lambda: growth.exists(6), lambda: growth.inside(1)]),
        ]
        names = [name for name, _ in stages]
        few = growth.count_chains(2) <= FEW_CHAINS
        stages.insert(names.index("siblings" if few else "depth 2"), ("negation inside", [lambda: growth.inside(2)]))
        left_out = () if self.labels.arity > 1 else ("middles", "compositions")  # these are about two arguments
        if not self.problem.bias.negation:
            left_out = (*left_out, "negation", "negation inside", "forall")
        elif not self.problem.bias.forall:
            left_out = (*left_out, "forall")
        return [item for item in stages if item[0] not in left_out]

    def add_constant(self) -> None:
        """Offer the program that is true of nothing."""
        said = np.zeros(self.labels.count, dtype=np.bool_)
        self._offer(Recipe("rules", "nothing", 1.0), _rules_formula([]), 0, said, ())

    def _begin(self) -> None:
        """Offer the first guess, and take its parts up as features."""
        guess, said = self.given[0]
        self._offer(Recipe("start", "start", 0.0), guess.formula, guess.size, said, ())
        columns = np.stack([pack_last(said, np.uint64) for _, said in self.given])
        self.features.add([term for term, _ in self.given], columns)

    def _learn(self, stage: str) -> None:
        """Rules and trees over all features so far, for several prices of an error."""
        if not self.found:
            self.add_constant()
        terms, columns = self.features.literals(negated=self.growth.negation)
        sizes = np.array([term.size for term in terms], dtype=np.int64)
        truth, weights = self.labels.truth, self.labels.weights
        prices = RULE_PRICES if "rules" in self.kinds else ()
        for price, cover in cover_rows(columns, sizes, truth, weights, prices).items():
            rules = [tuple(terms[place] for place in rule.literals) for rule in cover.members]
            said = np.zeros(self.labels.count, dtype=np.bool_)
            for rule in cover.members:
                said |= unpack_last(rule.rows, self.labels.count)
            used = tuple(dict.fromkeys(term for rule in rules for term in rule))
            self._offer(Recipe("rules", stage, price), _rules_formula(rules), cover.size, said, used)
        if not self.problem.bias.negation or "tree" not in self.kinds:
            return  # trees say what is not so
        sizes = sizes[: len(self.features)]
        splits = self.features.columns
        if not self.problem.bias.forall:
            quantified = np.array([self.features.quantifiers(term) > 0 for term in terms[: len(splits)]])
            splits = np.where(quantified[:, None], np.uint64(0), splits)
        whole = grow_tree(splits, sizes, truth, weights)
        asked = sorted(whole.used())
        table = np.zeros((len(self.features), self.labels.count), dtype=np.bool_)
        table[asked] = unpack_last(self.features.columns[asked], self.labels.count)
        for price in TREE_PRICES:
            tree, _ = cut_back(whole, sizes, price)
            said = tree.answers(table)
            used = tuple(terms[place] for place in sorted(tree.used()))
            self._offer(Recipe("tree", stage, price), _tree_formula(tree, terms), _tree_size(tree, sizes), said, used)

    def _offer(
        self,
        choice: Recipe,
        formula: Callable[[Variables, Head], Formula],
        size: int,
        said: Answers,
        terms: tuple[RowTerm, ...],
    ) -> None:
        errors = float(self.labels.weights[said != self.labels.truth].sum())
        found = FoundRules(choice, formula, size, errors, said, terms)
        self.found[choice] = found
        known = self.front.get(size)
        if known is None or errors < known.errors:
            self.front[size] = found

    @property
    def best(self) -> FoundRules:
        """One without errors, if it is smaller than the errors it saves; else that of the least size plus errors."""
        exact = [found for found in self.front.values() if not found.errors]
        saved = float(self.labels.weights[self.labels.truth].sum())
        if exact and (smallest := min(exact, key=lambda found: found.size)).size <= saved:
            return smallest
        return min(self.front.values(), key=lambda found: (found.size + found.errors, found.errors))

    @property
    def useful(self) -> Useful:
        """What was of use so far."""
        last, kinds = 1, set[Kind]()
        for price in (price for price in {*RULE_PRICES, *TREE_PRICES} if price >= 1):
            costs = {recipe: found.size + price * found.errors for recipe, found in self.found.items()}
            least, known = min(costs.values()), float("inf")
            kinds |= {recipe.kind for recipe, cost in costs.items() if (1 - NOISE) * cost <= least}
            for recipe, cost in costs.items():
                if cost < (1 - NOISE) * known and recipe.stage in self._planned:
                    known = cost
                    last = max(last, self._planned.index(recipe.stage) + 1)
        return Useful(last, BOTH & kinds or BOTH)

    def program(self, found: FoundRules) -> Program:
        """The program of what was found."""
        head = tuple("xyzuvw"[: self.labels.arity])
        place = self.bank.universe.key
        names = Variables(head, None if place is None else head[place])
        return Program((Definition(self.labels.target, head, found.formula(names, head)),))

    def parts(self, found: FoundRules) -> list[Program]:
        """The concepts and relations that a program is made of, without a key, each as a program."""
        parts = [part for term in found.terms for part in _named(term)]
        return [Program((Definition("part", head, formula),)) for head, formula in parts]


def _named(term: RowTerm) -> Iterator[tuple[tuple[str, ...], Formula]]:
    """A concept or relation, and what a relation is composed of, each with its variables."""
    if isinstance(term, Otherwise):
        yield from _named(term.body)
    elif isinstance(term, At):
        yield ("x",), term.concept.formula(Variables(("x",)), "x")
    elif isinstance(term, Between):
        inner = term.relation.body if isinstance(term.relation, Apart) else term.relation
        for relation in (term.relation, *((inner.first, inner.second) if isinstance(inner, Chain) else ())):
            yield ("x", "y"), relation.formula(Variables(("x", "y")), "x", "y")


def _rules_formula(rules: Sequence[Sequence[RowTerm]]) -> Callable[[Variables, Head], Formula]:
    def formula(names: Variables, head: Head) -> Formula:
        return disjunction(tuple(conjunction(tuple(term.formula(names, head) for term in rule)) for rule in rules))

    return formula


def _tree_formula(tree: Tree, terms: Sequence[RowTerm]) -> Callable[[Variables, Head], Formula]:
    def formula(names: Variables, head: Head) -> Formula:
        return _decide(tree, terms, names, head)

    return formula


def _decide(tree: Tree, terms: Sequence[RowTerm], names: Variables, head: Head) -> Formula:
    """(literal and what follows) or (not the literal and what follows)."""
    if tree.yes is None or tree.no is None:
        return TRUE if tree.truth else FALSE
    literal = terms[tree.literal]
    branches = []
    for branch, side in ((tree.yes, False), (tree.no, True)):
        rest = _decide(branch, terms, names, head)
        if rest != FALSE:
            test = literal.formula(names, head)
            parts = (Not(test) if side else test, *(() if rest == TRUE else conjuncts(rest)))
            branches.append(conjunction(parts))
    return disjunction(tuple(branches))


def _tree_size(tree: Tree, sizes: NDArray[np.int64]) -> int:
    """The literals of its formula."""
    if tree.yes is None or tree.no is None:
        return 0
    sides = [side for side in (tree.yes, tree.no) if side.yes is not None or side.truth]
    return sum(int(sizes[tree.literal]) + _tree_size(side, sizes) for side in sides)
