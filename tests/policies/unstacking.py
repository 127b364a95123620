"""The policy of rl/unstack as a program, a function and a list; and a classroom to teach it in."""

from typing import Any

import numpy as np

from dlm.data.structure import Structure
from dlm.envs import get_domain
from dlm.logic.text import parse_program
from dlm.policies.imitation.dagger import Classroom
from dlm.policies.imitation.teachers import find_teacher
from dlm.policies.rules.decision_list import DecisionList
from dlm.policies.rules.language import Language, Literal

UNSTACK = parse_program("move(x, y) :- top(x) & is_floor(y) & ~on(x, y).")


def unstack_by_hand(structure: Structure) -> set[tuple[int, ...]]:
    (floor,) = (numbers[0] for numbers in structure.relations["is_floor"])
    tops = (numbers[0] for numbers in structure.relations["top"])
    return {(block, floor) for block in tops if (block, floor) not in structure.relations["on"]}


def states_of(name: str, size: int, count: int = 20) -> Any:
    return get_domain(name).reset(np.random.default_rng(1), count, size)


def room_of(name: str, teacher: Any = None) -> Classroom:
    domain = get_domain(name)
    return Classroom(Language.of(domain), find_teacher(domain, teacher), np.random.default_rng(2))


TOP, FLOOR, ON = Literal("top", (0,)), Literal("is_floor", (1,)), Literal("on", (0, 1), positive=False)


RIGHT = DecisionList("move", 2, ((TOP, FLOOR, ON),))


SILENT = DecisionList("move", 2)
