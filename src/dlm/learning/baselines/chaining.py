"""Differentiable forward chaining over clauses of two atoms (Evans and Grefenstette, JAIR 2018), for `dilp` and `nlrl`.

The value of a clause c for a head a is the best way to make its body true (their F_c, section 4.4):

    F_c(a) = max over the objects of the existential variables of x1 x2

dILP puts one softmax w over the *pairs* of clauses of a predicate's two templates, and the sum of a pair is a
disjunction, here the probabilistic sum (theirs is the maximum), since then no pair has to be computed by itself:

    p(a) = sum over j, k of w[j, k] (F_j + F_k - F_j F_k) = F w 1 + 1 w F' - (F w) . F'

NLRL has a softmax for each template alone, and the probabilistic sum of the two. Variables of a clause stand for
different objects, as everywhere in this package.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from dlm.learning.baselines.clause_templates import Clause, ClauseTemplate, ProgramTemplate, clauses_of
from dlm.learning.baselines.groundings import codes_of, tuples_of
from dlm.learning.baselines.rules import VARIABLES, ChainedRule, close_body, different, invented_names, unroll
from dlm.logic.formulas import conjunction, disjunction
from dlm.logic.syntax import Atom, Formula, Program

__all__ = ["Chaining", "Choice"]

Choice = Literal["pairs", "alone"]
"""Whether the clauses of a predicate are chosen in pairs (dILP) or each for itself (NLRL)."""


class Chaining:
    """All clauses of a template, and what follows from facts by them under weights.

    A predicate of two templates with C and C' clauses has weights [C, C'] if they are chosen in pairs, [C] and [C']
    otherwise; with `keeps` what held at one step holds at the next, by the probabilistic sum.
    """

    def __init__(
        self, template: ProgramTemplate, inputs: Mapping[str, int], target: str, choice: Choice, *, keeps: bool
    ) -> None:
        self.template, self.inputs, self.choice, self.keeps = template, dict(inputs), choice, keeps
        names = (*invented_names(len(template.auxiliary), (target, *inputs)), target)
        self.arities = {name: each.arity for name, each in zip(names, template.predicates, strict=True)}
        auxiliary = {name: arity for name, arity in self.arities.items() if name != target}
        self.clauses: dict[str, list[tuple[Clause, ...]]] = {
            name: [clauses_of(name, each.arity, one, inputs, auxiliary) for one in each.clauses]
            for name, each in zip(names, template.predicates, strict=True)
        }
        self._templates = dict(zip(names, template.predicates, strict=True))
        self._tables: dict[tuple[str, int, int], ClauseTable] = {}

    def first_weights(self, rng: np.random.Generator, deviation: float) -> list[Tensor]:
        """Normally distributed weights, predicate by predicate."""
        shapes = [shape for name in self.clauses for shape in self._shapes(name)]
        return [torch.from_numpy(rng.normal(0, deviation, s).astype(np.float32)).requires_grad_() for s in shapes]

    def bytes_needed(self, size: int, batch: int) -> int:
        """About how much memory the deduction and its gradient take: the bodies of all clauses in all steps."""
        total = 0
        for name, lists in self.clauses.items():
            for clauses, one in zip(lists, self._templates[name].clauses, strict=True):
                rows = math.perm(size, self.arities[name] + one.variables)
                total += (self.template.steps if one.auxiliary else 1) * batch * rows * len(clauses) * 16
                total += rows * len(clauses) * 16
        return total + sum(16 * math.prod(shape) for name in self.clauses for shape in self._shapes(name))

    def deduce(self, facts: Mapping[str, Tensor], weights: Sequence[Tensor], size: int) -> Tensor:
        """The target [batch, m ** arity] after all steps, from facts [batch, m ** arity] of each input."""
        batch = next(iter(facts.values())).shape[0]
        chosen = self._chosen(weights)
        values = {name: torch.zeros(batch, size**arity) for name, arity in self.arities.items()}
        constant: dict[tuple[str, int], Tensor] = {}
        for _ in range(self.template.steps):
            known, now = {**facts, **values}, {}
            for name in self.clauses:
                bodies = []
                for number, one in enumerate(self._templates[name].clauses):
                    if one.auxiliary or (name, number) not in constant:
                        constant[name, number] = self._table(name, number, size).values(known)
                    bodies.append(constant[name, number])
                found = _either(bodies, chosen[name])
                table = self._table(name, 0, size)
                whole = torch.zeros_like(values[name]).index_copy(1, table.heads, found)
                now[name] = values[name] + whole - values[name] * whole if self.keeps else whole
            values = now
        return values[next(reversed(values))]

    def program(self, weights: Sequence[Tensor]) -> Program:
        """The program of the likeliest clauses, unrolled to the number of steps."""
        rules, start = [], 0
        for name, lists in self.clauses.items():
            count = len(self._shapes(name))
            own, start = [tensor.detach() for tensor in weights[start : start + count]], start + count
            if self.choice == "pairs" and len(lists) == 2:
                picked: tuple[int, ...] = divmod(int(own[0].argmax()), own[0].shape[1])
            else:
                picked = tuple(int(tensor.argmax()) for tensor in own)
            arity = self.arities[name]
            parameters = VARIABLES[:arity]
            bodies = [self._body(clauses[index], arity) for clauses, index in zip(lists, picked, strict=True)]
            body = conjunction((*different(parameters), disjunction(tuple(dict.fromkeys(bodies)))))
            rules.append(ChainedRule(name, parameters, body, keeps=self.keeps))
        return unroll(rules, self.template.steps, in_turn=False)

    def _body(self, clause: Clause, arity: int) -> Formula:
        literals = [Atom(name, tuple(VARIABLES[v] for v in args)) for name, args in dict.fromkeys(clause)]
        return close_body(VARIABLES[:arity], literals, VARIABLES[arity:])

    def _shapes(self, name: str) -> list[tuple[int, ...]]:
        counts = [len(clauses) for clauses in self.clauses[name]]
        return [tuple(counts)] if self.choice == "pairs" else [(count,) for count in counts]

    def _chosen(self, weights: Sequence[Tensor]) -> dict[str, list[Tensor]]:
        """The probabilities of each predicate's clauses."""
        result, start = {}, 0
        for name in self.clauses:
            count = len(self._shapes(name))
            result[name] = [w.flatten().softmax(0).view(w.shape) for w in weights[start : start + count]]
            start += count
        return result

    def _table(self, name: str, number: int, size: int) -> ClauseTable:
        key = name, number, size
        if key not in self._tables:
            clauses, one = self.clauses[name][number], self._templates[name].clauses[number]
            self._tables[key] = ClauseTable(clauses, self.arities[name], one, {**self.inputs, **self.arities}, size)
        return self._tables[key]


class ClauseTable:
    """Where the two atoms of each clause lie in the flattened tables of the predicates, for every grounding."""

    def __init__(
        self, clauses: tuple[Clause, ...], arity: int, template: ClauseTemplate, known: Mapping[str, int], size: int
    ) -> None:
        rows, heads = tuples_of(size, arity + template.variables), tuples_of(size, arity)
        self.shape = len(heads), len(rows) // max(len(heads), 1)
        self.heads = torch.from_numpy(codes_of(heads, size))
        atoms = [*dict.fromkeys(atom for clause in clauses for atom in clause)]
        self.names = [*dict.fromkeys(name for name, _ in atoms)]
        starts = dict(zip(self.names, np.cumsum([0, *(size ** known[name] for name in self.names)]), strict=False))
        columns = [starts[name] + codes_of(rows[:, args], size) for name, args in atoms]
        self.places = torch.from_numpy(np.stack(columns, axis=1))
        number = {atom: index for index, atom in enumerate(atoms)}
        self.first, self.second = (torch.tensor([number[c[side]] for c in clauses]) for side in (0, 1))

    def values(self, known: Mapping[str, Tensor]) -> Tensor:
        """The clauses' values [batch, heads, clauses]."""
        flat = torch.cat([known[name] for name in self.names], dim=1)
        atoms = flat[:, self.places]  # [batch, groundings, atoms]
        bodies = atoms.index_select(2, self.first) * atoms.index_select(2, self.second)
        grouped = bodies.view(len(flat), *self.shape, len(self.first))
        return grouped.amax(2) if self.shape[1] else grouped.new_zeros(len(flat), self.shape[0], len(self.first))


def _either(bodies: Sequence[Tensor], chosen: Sequence[Tensor]) -> Tensor:
    """The value of a predicate [batch, heads] from those of its clauses."""
    if len(bodies) == 1:
        return bodies[0] @ chosen[0].flatten()
    one, two = bodies
    if len(chosen) == 1:  # in pairs
        weights = chosen[0]
        return one @ weights.sum(1) + two @ weights.sum(0) - ((one @ weights) * two).sum(-1)
    left, right = one @ chosen[0], two @ chosen[1]
    return left + right - left * right
