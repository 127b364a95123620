"""The constant that an atom may choose: neutral, or as in the published program."""

import pytest

from dlm.space import MachineSettings, wire
from dlm.space.wiring import Module


@pytest.mark.parametrize(
    ("module", "neutral", "published"),
    [
        (Module("and", 2, 0), (True, True), (True, True)),
        (Module("or", 2, 0), (False, False), (True, True)),
        (Module("and", 2, 1), (True, True), (True, False)),
        (Module("or", 2, 1), (False, False), (True, False)),
    ],
)
def test_its_truth(module: Module, neutral: tuple[bool, ...], published: tuple[bool, ...]) -> None:
    assert tuple(map(module.constant, range(2))) == neutral
    of_program = Module(module.connective, module.atoms, module.negated, "published")
    assert tuple(map(of_program.constant, range(2))) == published


def test_all_modules_have_the_constants_of_the_settings() -> None:
    wiring = wire(MachineSettings(depth=3, constants="published"), {"p": 1}, "q", 1)
    assert {module.constants for unit in wiring.units for module in unit.modules} == {"published"}
