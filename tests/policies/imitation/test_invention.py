"""Predicates that machines invent on labelled states."""

import numpy as np

from dlm.data.bits import unpack
from dlm.engines import evaluate_target
from dlm.learning.invention import Inventions
from dlm.logic.text import parse_program
from dlm.policies.gradient.settings import machine_settings
from dlm.policies.imitation.invention import adopt, taught_task
from policies.unstacking import UNSTACK, room_of


def test_what_machines_invent_keeps_its_meaning_as_a_word() -> None:
    room = room_of("rl/sorting")
    cases = room.demonstrate(5, 20, 100)
    first = parse_program("""
        later(a, b) :- smaller_index(b, a).
        wrong(a) :- exists b != a: smaller_index(a, b) & ~later(a, b) & greater_value(a, b).
        between(a, b, c) :- smaller_value(a, b) & smaller_value(b, c).
        swap(a, b) :- wrong(a) & (exists c != a, b: between(a, c, b)).
    """)
    machine = machine_settings(room.language.domain)
    task = taught_task(room.language, [cases], [], machine)
    worlds = room.language.observe(cases.states)
    inventions = Inventions().grown([first], task.inputs, [worlds], 3)
    names = adopt(inventions, room.language.vocabulary)
    shown = [name for name in inventions.shown if inventions.arities[name] <= 2]
    assert len(names) == len(shown) > 1
    extended = inventions.extend(worlds)
    for name, invented in zip(names, shown, strict=True):
        table = unpack(cases.tables.predicate(name), cases.count)
        assert np.array_equal(table, extended.relations[invented])


def test_a_machine_is_asked_what_the_teacher_would_do() -> None:
    room = room_of("rl/unstack", UNSTACK)
    cases = [room.demonstrate(size, 20, 50) for size in (3, 5)]
    made = room.language.vocabulary.define(1, parse_program("p(x) :- exists y: on(y, x).").target.body)
    task = taught_task(room.language, cases, [made], machine_settings(room.language.domain))
    examples = task.sample(np.random.default_rng(0), 30, 6)
    assert examples.one_is_enough
    assert not examples.mistakes(evaluate_target(UNSTACK, examples.worlds)).any()
    assert np.array_equal(examples.worlds.relations[made], examples.worlds.relations["on"].any(axis=1))
