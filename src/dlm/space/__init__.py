"""The hypothesis space: settings, the wiring they give, and tables of choices. No torch."""

from dlm.space.choices import Choices, embed_choices, program_of, random_choices, used_modules
from dlm.space.settings import MachineSettings
from dlm.space.wiring import Module, Source, UnitKey, UnitWiring, Wiring, permutations, wire

__all__ = [
    "Choices",
    "MachineSettings",
    "Module",
    "Source",
    "UnitKey",
    "UnitWiring",
    "Wiring",
    "embed_choices",
    "permutations",
    "program_of",
    "random_choices",
    "used_modules",
    "wire",
]
