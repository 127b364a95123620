"""A policy of several rules in order of weight, each a machine of its own; all are trained together.

With s_k the truth that machine k of K gives to an action atom, the atom's score is

    (2^(K-1) s_1 + ... + 2 s_(K-1) + s_K) / (2^K - 1)

With hard choices a rule outweighs all that come after it: among the actions that the first rule is true of, if there
are any, the second one chooses, and so on. As a program that is a decision list (`dlm.logic.lists`), whose rules are
the conjunctions of the machines' rules. One machine alone would have to say that no action of a better kind is there,
which takes layers on top of those that tell the kinds apart; here the order says it.

In a stack of machines the best policy so far, whose action predicate the machines read, is the last rule: they learn
what to do differently.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import compress, product

import torch
from torch import Tensor, nn

from dlm.logic.formulas import conjunction, rename_definitions
from dlm.logic.lists import RuleList
from dlm.logic.syntax import Atom, Definition, Program
from dlm.machine import Machine, Selection, Valuation, choose, extract, fast_apply
from dlm.policies.gradient.actor import Actor
from dlm.space.wiring import Wiring

__all__ = ["RULES", "ListActor", "weigh"]

RULES = 3
"""Machines of a list."""


class ListActor(Actor):
    """Scores action atoms by several machines that read the same, the first of which counts most.

    What inventions end in, if it is about actions, is the last rule.
    """

    def _make(self, generator: torch.Generator | None) -> nn.Parameter:
        latest = self.inventions.latest
        self.last = latest.name if latest and latest.arity == self.domain.action_arity else None
        self.rule_weights = weigh(RULES + (self.last is not None))
        self.gap = self.rule_weights[-1]
        self.machines = tuple(Machine(self.wiring, generator, device=self.device) for _ in range(RULES))
        flat = nn.Parameter(torch.cat([machine.logits.detach() for machine in self.machines]))
        for machine, part in zip(self.machines, flat.data.chunk(RULES), strict=True):
            machine.logits.data = part  # what is trained is the flat parameter; the machines see it
        return flat

    def weights(self, selection: Selection, batch: int = 1, generator: torch.Generator | None = None) -> Tensor:
        """The weights of all machines side by side."""
        parts = self.parameters.chunk(RULES)
        return torch.cat([choose(part, self.machines[0].table, selection, batch, generator) for part in parts], dim=1)

    def parts(self, weights: Tensor) -> list[tuple[Wiring, Tensor]]:
        """The machines have other names for what they define, as in the program."""
        chunks = enumerate(weights.chunk(RULES, dim=1), start=1)
        return [(replace(self.wiring, prefix=f"m{number}_"), part) for number, part in chunks]

    def raw(self) -> Program:
        """The decision list of the likeliest choices."""
        definitions: list[Definition] = []
        rules: list[Atom] = []
        for number, machine in enumerate(self.machines, start=1):
            own = extract(machine).definitions
            definitions += rename_definitions(own, {each.name: f"m{number}_{each.name}" for each in own})
            rules.append(Atom(definitions[-1].name, definitions[-1].parameters))
        if self.last is not None:
            rules.append(Atom(self.last, rules[0].args))
        true_of = list(product((True, False), repeat=len(rules)))[:-1]  # the heaviest first
        ranked = tuple(conjunction(tuple(compress(rules, chosen))) for chosen in true_of)
        return RuleList(tuple(definitions), self.domain.action, rules[0].args, ranked).program()

    def _truth(self, weights: Tensor, valuation: Valuation, size: int) -> Tensor:
        layout = self._layout(size)
        # One pass for all machines, each with a block of worlds of its own.
        own = torch.cat(weights.chunk(RULES, dim=1))
        inputs = {arity: seen.repeat(RULES, 1, 1) for arity, seen in layout.to_layout(valuation).items()}
        truth = [*fast_apply(self.wiring, own, inputs, layout).chunk(RULES)]
        if self.last is not None:
            arity = self.domain.action_arity
            channel = self.wiring.inputs_by_arity[arity].index(self.last)
            truth.append(layout.pick(valuation[arity][..., channel]))
        return sum(
            (weight * each for weight, each in zip(self.rule_weights, truth, strict=True)), start=torch.zeros(())
        )


def weigh(rules: int) -> tuple[float, ...]:
    """Weights that sum to one, each larger than all after it together."""
    return tuple(2.0 ** (rules - number) / (2**rules - 1) for number in range(1, rules + 1))
