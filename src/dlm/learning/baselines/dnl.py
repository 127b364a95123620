"""The learner `dnl-ilp`: neural CNF and DNF over all atoms (Payani and Fekri, 2019).

With x the atoms of the predicates on the arguments and the extra variables of p, all of them standing for different
objects, w and v weights, and memberships m = sigmoid(c w), o = sigmoid(c v) of slope c:

    conjunction   f_k(x) = product over i of (1 - m[k, i] (1 - x[i]))                               (their equation 3)
    disjunction   F(x)   = 1 - product over k of (1 - o[k] f_k(x))                                  (their equation 4)
    exists        p(a)   = 1 - product over the objects of the extra variables of (1 - F(x))

Forward chaining makes so many steps, in each of which p(a) is amalgamated with what p was before. Background atoms are
0 or 1, so that their part of a conjunction is one matrix product: log f = sum over i of (1 - x[i]) log(1 - m[k, i]).
The program takes every atom and every conjunction whose membership is above one half.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import softplus

from dlm import seeds
from dlm.data.memory import require_bytes
from dlm.data.worlds import Examples
from dlm.learning.baselines.dnl_templates import DnlPredicate, DnlTemplate
from dlm.learning.baselines.groundings import Indices, codes_of, tuples_of
from dlm.learning.baselines.rules import VARIABLES, ChainedRule, close_body, different, invented_names, unroll
from dlm.learning.baselines.training import BaselineSchedule, ProgramBaseline
from dlm.logic.formulas import conjunction, disjunction
from dlm.logic.syntax import Atom, Formula, Not, Program
from dlm.seeds import Stream
from dlm.tasks.task import Task

__all__ = ["DnlLearner", "dnl_bytes", "dnl_schedule"]

SLOPE = 2.0
STEPS, EPOCH = 80_000, 200
FAST, SLOW, LARGE_LOSS = 0.01, 0.005, 2.0
"""Learning rates, and the summed cross-entropy of a step from which on the next one is fast."""
CHOSEN, OTHERS, DISJUNCTION, SPREAD = 0.13, -2.5, -1.0, 0.1
"""First weights: one atom of each conjunction, drawn at random, and all others; means and deviation of conjunctions."""
LITTLE = 1e-4


def dnl_schedule(task: Task) -> BaselineSchedule:
    """The paper's numbers: one fresh world an iteration, 200 iterations an epoch."""
    return BaselineSchedule(task.train_size, 1, STEPS, EPOCH, slice_steps=20)


@dataclass(frozen=True)
class DnlAtoms:
    """The atoms that the rule of one predicate may speak of: (predicate, variable numbers), background ones first."""

    name: str
    shape: DnlPredicate
    background: tuple[tuple[str, tuple[int, ...]], ...]
    learned: tuple[tuple[str, tuple[int, ...]], ...]

    @property
    def atoms(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        return self.background + self.learned

    @classmethod
    def of(cls, name: str, shape: DnlPredicate, inputs: Mapping[str, int], learned: Mapping[str, int]) -> DnlAtoms:
        numbers = range(shape.arity + shape.variables)

        def atoms_of(predicates: Mapping[str, int]) -> tuple[tuple[str, tuple[int, ...]], ...]:
            found = ((each, args) for each, arity in predicates.items() for args in permutations(numbers, arity))
            return tuple(atom for atom in found if atom != (name, tuple(range(shape.arity))))

        return cls(name, shape, atoms_of(inputs), atoms_of(learned))


class Groundings:
    """The tuples of different objects that stand for the arguments and variables of a predicate, heads together."""

    def __init__(self, vocabulary: DnlAtoms, size: int) -> None:
        shape = vocabulary.shape
        width = shape.arity + shape.variables
        rows, heads = tuples_of(size, width), tuples_of(size, shape.arity)
        self.shape = len(heads), len(rows) // max(len(heads), 1)
        self.heads = torch.from_numpy(codes_of(heads, size))
        """Where the heads lie in the flattened [m, ..., m]."""
        self.background = _places(vocabulary.background, rows, size)
        self.learned = _places(vocabulary.learned, rows, size)


def _places(atoms: tuple[tuple[str, tuple[int, ...]], ...], rows: Indices, size: int) -> Tensor:
    """[groundings, atoms]: where each atom lies in the flattened tables of all predicates, one after the other."""
    starts, total = {}, 0
    for name, args in atoms:
        if name not in starts:
            starts[name], total = total, total + size ** len(args)
    columns = [starts[name] + codes_of(rows[:, args], size) for name, args in atoms]
    return torch.from_numpy(np.stack(columns, axis=1) if columns else np.zeros((len(rows), 0), dtype=np.int64))


def dnl_bytes(
    template: DnlTemplate, inputs: Mapping[str, int], target: str, size: int, *, training: bool = True
) -> int:
    """About how much memory a world takes: atoms of all groundings, and soft ones, in training those of each step."""
    names = _names(template, inputs, target)
    learned = {name: shape.arity for name, shape in zip(names, template.predicates, strict=True)}
    total = 0
    for name, shape in zip(names, template.predicates, strict=True):
        vocabulary = DnlAtoms.of(name, shape, inputs, learned)
        rows, signs = math.perm(size, shape.arity + shape.variables), 1 + template.negation
        soft = rows * shape.terms * len(vocabulary.learned)
        if training:
            total += rows * len(vocabulary.atoms) * (8 + 4 * signs)
            total += template.steps * (16 * signs * soft + 24 * rows * shape.terms)
        else:
            total += 16 * rows * len(vocabulary.atoms) + 8 * soft
    return total


def _names(template: DnlTemplate, inputs: Mapping[str, int], target: str) -> tuple[str, ...]:
    return (*invented_names(len(template.predicates) - 1, (target, *inputs)), target)


class DnlLearner(ProgramBaseline):
    """Trains the memberships; the program is what they have come to."""

    name = "dnl-ilp"

    def __init__(self, task: Task, template: DnlTemplate, schedule: BaselineSchedule, seed: int) -> None:
        needed = dnl_bytes(template, task.inputs, task.target, schedule.size)
        require_bytes(needed, f"a training step of dNL-ILP on {schedule.size} objects", "it grows with every variable")
        self.template = template
        names = _names(template, task.inputs, task.target)
        learned = {name: shape.arity for name, shape in zip(names, template.predicates, strict=True)}
        self.vocabularies = [
            DnlAtoms.of(name, shape, task.inputs, learned)
            for name, shape in zip(names, template.predicates, strict=True)
        ]
        rng = seeds.rng(seed, Stream.BASELINE, 2)
        parameters = [part for vocabulary in self.vocabularies for part in _first_weights(vocabulary, template, rng)]
        optimiser = torch.optim.Adam(parameters, lr=FAST, betas=(0.9, 0.999), eps=1e-6)
        super().__init__(task, schedule, seed, parameters, optimiser)
        self._groundings: dict[int, list[Groundings]] = {}

    def loss(self, examples: Examples) -> Tensor:
        scored = torch.from_numpy(examples.scored)
        truth = torch.stack([self.truth(examples, number) for number in range(examples.count)])[:, scored]
        target = torch.from_numpy(examples.target).float()[:, scored]
        entropy = -(target * (truth + LITTLE).log() + (1 - target) * (1 - truth + LITTLE).log())
        self._entropy = float(entropy.detach().sum()) / examples.count
        return entropy.mean() if self.template.loss == "cross-entropy" else ((truth - target) ** 2).mean()

    def adapt(self, loss: float) -> None:  # noqa: ARG002 (the schedule looks at the cross-entropy, whatever the loss)
        fast = self.template.loss == "cross-entropy" or self._entropy > LARGE_LOSS
        for group in self.optimiser.param_groups:
            group["lr"] = FAST if fast else SLOW

    def truth(self, examples: Examples, number: int) -> Tensor:
        """The target [m, ..., m] of one world, after all steps; 0 of tuples that repeat an object."""
        size = examples.size
        if size not in self._groundings:
            self._groundings[size] = [Groundings(vocabulary, size) for vocabulary in self.vocabularies]
        groundings = self._groundings[size]
        tables = [examples.worlds.relations[name][number].reshape(-1) for name in self.task.inputs]
        facts = torch.from_numpy(np.concatenate(tables)).float()
        known = [self._known(index, groundings[index], facts) for index in range(len(groundings))]
        values = {each.name: torch.zeros(size**each.shape.arity) for each in self.vocabularies}
        for _ in range(self.template.steps):
            for index, vocabulary in enumerate(self.vocabularies):
                found = self._found(index, groundings[index], known[index], values)
                values[vocabulary.name] = _amalgamate(
                    values[vocabulary.name], groundings[index].heads, found, vocabulary.shape.amalgamate
                )
        return values[self.task.target].view((size,) * self.task.target_arity)

    def _known(self, index: int, grounding: Groundings, facts: Tensor) -> Tensor:
        """The logarithm of the background's part of each conjunction: [groundings, terms]."""
        true = facts[grounding.background]  # [groundings, atoms]
        weights = -softplus(SLOPE * self.parameters[2 * index])  # log(1 - m)
        count, negated = true.shape[1], len(self.vocabularies[index].atoms)
        total = (1 - true) @ weights[:, :count].T
        if self.template.negation:
            total = total + true @ weights[:, negated : negated + count].T
        return total

    def _found(self, index: int, grounding: Groundings, known: Tensor, values: Mapping[str, Tensor]) -> Tensor:
        """What a predicate's rule says of each head."""
        ands, ors = self.parameters[2 * index], self.parameters[2 * index + 1]
        conjunctions = known.exp()
        if grounding.learned.shape[1]:
            names = dict.fromkeys(name for name, _ in self.vocabularies[index].learned)
            soft = torch.cat([values[name] for name in names])[grounding.learned]  # [groundings, atoms]
            member, first = (SLOPE * ands).sigmoid(), grounding.background.shape[1]
            last, all_atoms = first + soft.shape[1], len(self.vocabularies[index].atoms)
            conjunctions = conjunctions * (1 - member[:, first:last] * (1 - soft[:, None])).prod(-1)
            if self.template.negation:
                negated = member[:, all_atoms + first : all_atoms + last]
                conjunctions = conjunctions * (1 - negated * soft[:, None]).prod(-1)
        false = (1 - (SLOPE * ors).sigmoid() * conjunctions).prod(-1)
        return 1 - false.view(grounding.shape).prod(-1)

    def program(self) -> Program:
        """The rules of the memberships above one half, unrolled to the number of steps."""
        rules = []
        for index, vocabulary in enumerate(self.vocabularies):
            ands, ors = (parameter.detach().numpy() > 0 for parameter in self.parameters[2 * index : 2 * index + 2])
            arity = vocabulary.shape.arity
            parameters, extra = VARIABLES[:arity], VARIABLES[arity : arity + vocabulary.shape.variables]
            literals: list[Formula] = [Atom(name, tuple(VARIABLES[i] for i in args)) for name, args in vocabulary.atoms]
            literals += [Not(literal) for literal in literals] if self.template.negation else []
            bodies = [
                close_body(parameters, [literals[place] for place in np.flatnonzero(ands[term])], extra)
                for term in np.flatnonzero(ors)
            ]
            body = conjunction((*different(parameters), disjunction(tuple(bodies))))
            rules.append(ChainedRule(vocabulary.name, parameters, body, keeps=vocabulary.shape.amalgamate != "eq"))
        return unroll(rules, self.template.steps, in_turn=True)


def _first_weights(vocabulary: DnlAtoms, template: DnlTemplate, rng: np.random.Generator) -> tuple[Tensor, Tensor]:
    """Weights [terms, atoms (and their negations)] of conjunctions, and [terms] of the disjunction."""
    terms, width = vocabulary.shape.terms, len(vocabulary.atoms) * (1 + template.negation)
    ands = np.full((terms, width), OTHERS, dtype=np.float32)
    ands[np.arange(terms), rng.integers(width, size=terms)] = CHOSEN
    ors = rng.normal(DISJUNCTION, SPREAD, terms).astype(np.float32)
    return torch.from_numpy(ands).requires_grad_(), torch.from_numpy(ors).requires_grad_()


def _amalgamate(before: Tensor, heads: Tensor, found: Tensor, how: str) -> Tensor:
    """What holds of a predicate after a step."""
    now = torch.zeros_like(before).index_copy(0, heads, found)
    if how == "or":
        return before + now - before * now
    return torch.maximum(before, now) if how == "max" else now
