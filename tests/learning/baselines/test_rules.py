"""Forward chaining as a program: what holds after so many steps."""

import numpy as np

from dlm.data.worlds import Worlds
from dlm.engines import evaluate_target
from dlm.learning.baselines.rules import ChainedRule, close_body, different, invented_names, unroll
from dlm.logic import format_program, parse_program
from dlm.logic.syntax import Atom


def body(text: str):
    return parse_program(f"formula(x, y) :- {text}.").target.body


def path(length: int) -> Worlds:
    edges = np.zeros((1, length + 1, length + 1), dtype=np.bool_)
    for node in range(length):
        edges[0, node, node + 1] = True
    return Worlds(1, length + 1, {"edge": edges})


def test_recursion_goes_as_far_as_there_are_steps() -> None:
    rule = ChainedRule("reach", ("x", "y"), body("edge(x, y) | (exists z: edge(x, z) & reach(z, y))"))
    for steps in (1, 2, 4):
        program = unroll([rule], steps, in_turn=True)
        assert program.target.name == "reach"
        reached = evaluate_target(program, path(6))[0, 0]
        assert np.flatnonzero(reached).tolist() == list(range(1, steps + 1))


def test_what_is_kept_goes_on_to_hold() -> None:
    flip = body("edge(x, y) & ~p(x, y)")
    worlds = path(2)
    for steps, keeps, expected in ((1, False, True), (2, False, False), (2, True, True)):
        program = unroll([ChainedRule("p", ("x", "y"), flip, keeps)], steps, in_turn=True)
        assert bool(evaluate_target(program, worlds)[0, 0, 1]) == expected


def test_rules_without_recursion_come_out_as_they_are() -> None:
    rules = [
        ChainedRule("aux", ("x", "y"), body("exists z: edge(x, z) & edge(z, y)")),
        ChainedRule("t", ("x", "y"), body("aux(y, x)")),
    ]
    program = unroll(rules, 7, in_turn=True)
    assert format_program(program) == "aux_1(x, y) :- exists z: edge(x, z) & edge(z, y).\nt(x, y) :- aux_1(y, x).\n"


def test_in_turn_or_all_at_once() -> None:
    rules = [ChainedRule("aux", ("x", "y"), body("edge(x, y)")), ChainedRule("t", ("x", "y"), body("aux(x, y)"))]
    assert evaluate_target(unroll(rules, 1, in_turn=True), path(2)).any()
    assert not evaluate_target(unroll(rules, 1, in_turn=False), path(2)).any()
    assert evaluate_target(unroll(rules, 2, in_turn=False), path(2)).any()


def test_variables_stand_for_different_objects() -> None:
    literals = [Atom("edge", ("x", "w")), Atom("edge", ("w", "z"))]
    assert close_body(("x",), literals, ("z", "w", "v")) == body(
        "exists z != x: exists w != x, z: edge(x, w) & edge(w, z)"
    )
    assert len(different(("x", "y", "z"))) == 3


def test_invented_names_are_nobody_else_s() -> None:
    assert invented_names(2, ("edge", "auxiliary")) == ("aux_1", "aux_2")
    assert invented_names(1, ("edge",)) == ("aux1",)
