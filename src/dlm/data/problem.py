"""A problem of one's own: facts, labelled atoms, and what is known beforehand."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from dlm.data.facts import Facts
from dlm.data.labelled import LabelledAtoms
from dlm.logic.syntax import Program

__all__ = ["Bias", "DataProblem", "Negatives"]

Negatives = Literal["given", "closed", "sampled"]


@dataclass(frozen=True)
class Bias:
    """What is known of the program beforehand; by default nothing."""

    use: tuple[str, ...] = ()  # only these predicates and attributes; empty: all
    leave_out: tuple[str, ...] = ()  # not these
    negation: bool = True
    forall: bool = True
    depth: int | None = None  # quantifiers inside each other, at most; None: as many as help
    definitions: Program | None = None  # its predicates join the inputs
    start: Program | None = None  # a first guess


@dataclass(frozen=True)
class DataProblem:
    """What `rules` learns from. `key` is the argument of the target that says which world an atom is about, if any.

    `test` are atoms that are kept for the final check. `negatives` says where the false atoms come from: if "closed",
    every atom of the target's types that is not among the true ones of `labels` and `test` is false, though `labels`
    may have but a sample of them. `world` is what was asked for: "auto", "components", "whole", "radius=K" or a type.
    `types` are those of the target's arguments, if there are types, and `notes` what a user should know of how the data
    were read.
    """

    name: str
    facts: Facts
    labels: LabelledAtoms
    test: LabelledAtoms | None = None
    negatives: Negatives = "given"
    key: int | None = None
    world: str = "auto"
    types: tuple[int, ...] | None = None
    bias: Bias = field(default_factory=Bias)
    notes: tuple[str, ...] = ()
