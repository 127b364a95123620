"""The settings of a machine: how deep, how wide, what it may say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from dlm.errors import SettingsError

__all__ = [
    "CONSTANTS",
    "MAX_ARITY",
    "T_NORMS",
    "Constants",
    "MachineSettings",
    "Quantifier",
    "Range",
    "TNorm",
    "as_published",
    "option_text",
    "require_flag",
]

Quantifier = Literal["exists", "forall"]
TNorm = Literal["product", "godel", "lukasiewicz"]
T_NORMS = get_args(TNorm)
Range = Literal["all", "other", "unrepeated"]
"""What a quantified object may be: any object, one other than the arguments, or such a one where these differ too."""
Constants = Literal["neutral", "published"]
CONSTANTS = get_args(Constants)

MAX_ARITY = 4


@dataclass(frozen=True)
class MachineSettings:
    """The hypothesis space of a machine, as the paper parametrises it."""

    depth: int = field(default=5, metadata={"help": "Layers L, the target's own conjunction included."})
    breadth: int | tuple[int, ...] = field(
        default=3, metadata={"help": "Largest arity B of an invented predicate; one number, or one a layer."}
    )
    outputs: int = field(default=8, metadata={"help": "Predicates n_O that a unit invents."})
    unit_outputs: tuple[tuple[int, int, int], ...] = field(
        default=(), metadata={"help": "Exceptions to `outputs`: (layer, arity, n_O) triples."}
    )
    atoms: int = field(default=2, metadata={"help": "Atoms n_A of a conjunction or disjunction, at least 2."})
    negation: bool = field(default=True, metadata={"help": "Whether half of the modules negate half of their atoms."})
    quantifiers: tuple[Quantifier, ...] = field(
        default=("exists", "forall"), metadata={"help": "Quantifiers allowed in reductions."}
    )
    distinct: bool = field(
        default=True, metadata={"help": "Whether a quantified object differs from the other arguments."}
    )
    repeats: bool = field(
        default=True,
        metadata={
            "help": "Whether distinct quantifiers look at tuples with a repeat among the arguments. Without, nothing "
            "exists there, and all is so."
        },
    )
    residual: bool = field(
        default=False, metadata={"help": "Every unit reads the inputs too, and the target every unit (IO residual)."}
    )
    constants: Constants = field(
        default="neutral",
        metadata={
            "help": "The constant that an atom may choose: true in a conjunction and false in a disjunction (neutral), "
            "or true in both and false where an atom is negated (published)."
        },
    )
    t_norm: TNorm = field(
        default="product",
        metadata={"help": "The fuzzy *and* of a soft machine; *or* is its dual."},
    )

    def __post_init__(self) -> None:
        for name in ("negation", "distinct", "repeats", "residual"):
            require_flag(name, getattr(self, name))
        if not (self.repeats or self.distinct):
            raise SettingsError(
                "repeats=False (--no-repeats) is for distinct quantifiers: leave it out, or distinct=False (--plain)"
            )
        _require_whole(self.depth, 2, "depth", "at least 2 (one layer of units and the target)")
        _require_whole(self.outputs, 1, "outputs", "at least 1")
        _require_whole(self.atoms, 2, "atoms", "at least 2")
        each = (self.breadth,) * (self.depth - 1) if _is_whole(self.breadth) else self.breadth
        _require(
            isinstance(each, Sequence) and len(each) == self.depth - 1 and all(map(_is_whole, each)),
            "breadth",
            f"one whole number, or one for each of the {self.depth - 1} layers below the target",
            self.breadth,
        )
        for layer in range(1, self.depth):
            _require(0 <= self.breadth_at(layer) <= MAX_ARITY, "breadth", f"from 0 to {MAX_ARITY}", self.breadth)
        allowed = get_args(Quantifier)
        _require(
            all(q in allowed for q in self.quantifiers) and len(set(self.quantifiers)) == len(self.quantifiers),
            "quantifiers",
            f"different names out of {', '.join(allowed)}",
            self.quantifiers,
        )
        _require(self.constants in CONSTANTS, "constants", f"one of {', '.join(CONSTANTS)}", self.constants)
        _require(self.t_norm in T_NORMS, "t_norm", f"one of {', '.join(T_NORMS)}", self.t_norm)
        for layer, arity, outputs in self.unit_outputs:
            _require(
                1 <= layer < self.depth and 0 <= arity <= self.breadth_at(layer) and outputs >= 1,
                "unit_outputs",
                "LAYER:ARITY:N of units that exist, with N at least 1",
                ((layer, arity, outputs),),
            )

    @property
    def over(self) -> Range:
        """What a quantified object may be."""
        if not self.distinct:
            return "all"
        return "other" if self.repeats else "unrepeated"

    def breadth_at(self, layer: int) -> int:
        """The largest arity at a layer, counted from 1."""
        return self.breadth if isinstance(self.breadth, int) else self.breadth[layer - 1]

    def outputs_at(self, layer: int, arity: int) -> int:
        """How many predicates the unit of a layer and arity invents."""
        for at_layer, at_arity, outputs in self.unit_outputs:
            if (at_layer, at_arity) == (layer, arity):
                return outputs
        return self.outputs

    def at_depth(self, depth: int) -> MachineSettings:
        """The settings of a shallower machine: its layers are the last ones of this machine."""
        dropped = self.depth - depth
        breadth = self.breadth if isinstance(self.breadth, int) else self.breadth[dropped:]
        kept = tuple((layer - dropped, arity, n) for layer, arity, n in self.unit_outputs if layer > dropped)
        return replace(self, depth=depth, breadth=breadth, unit_outputs=kept)

    def check(self, inputs: Mapping[str, int], target_arity: int) -> None:
        """Refuse settings that cannot read an input or say the target."""
        last = self.breadth_at(self.depth - 1)
        if target_arity > last:
            raise SettingsError(
                f"the target has {target_arity} arguments, but breadth is {last} at the last layer; "
                f"set breadth to {target_arity} or more"
            )
        reach = self.breadth_at(1) + (1 if self.quantifiers else 0)
        for name, arity in inputs.items():
            if arity > min(reach, MAX_ARITY):
                raise SettingsError(
                    f"the input {name!r} has {arity} arguments, more than a first layer of breadth "
                    f"{self.breadth_at(1)} can read; set breadth to {arity} or more"
                )


def as_published(settings: MachineSettings) -> MachineSettings:
    """The same machine as in the paper's published program, in what the paper leaves open."""
    return replace(settings, constants="published", repeats=not settings.distinct)


def option_text(value: object) -> str:
    """A value as it stands behind an option: lists with commas, and lists in these with colons."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        parts = [":".join(map(str, part)) if isinstance(part, list | tuple) else str(part) for part in value]
        return ",".join(parts) or "none"
    return str(value)


def require_flag(name: str, value: object) -> None:
    """Refuse what is neither true nor false: a word would count as true."""
    _require(isinstance(value, bool), name, "true or false", value)


def _require_whole(value: object, least: int, name: str, expected: str) -> None:
    _require(_is_whole(value), name, "a whole number", value)
    assert isinstance(value, int)
    _require(value >= least, name, expected, value)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _require(condition: bool, name: str, expected: str, got: object) -> None:
    if not condition:
        shown = option_text(got) if isinstance(got, list | tuple) else repr(got)
        raise SettingsError(f"The '{name}' setting must be {expected}. Got {shown} instead.")
