"""How the best list becomes better."""

from dlm.policies.rules.decision_list import DecisionList
from dlm.policies.rules.improve import Champion, polish
from dlm.policies.rules.language import Literal
from policies.on_lists import CLEAR, FINISH, NOT_THERE, SILENT, on_scorer


def test_polishing_drops_what_is_useless_and_mends_the_order() -> None:
    scorer = on_scorer()
    useless = Literal("is_floor", (0,), positive=False)
    clumsy = DecisionList("move", 2, ((*CLEAR, useless), (*FINISH, useless, NOT_THERE)))
    (begun,) = scorer([clumsy])
    polished = polish(begun, scorer, lambda: False)
    assert {frozenset(rule) for rule in polished.decisions.rules} == {frozenset(CLEAR), frozenset(FINISH)}
    assert polished.decisions.rules[0] == FINISH
    assert polish(begun, scorer, lambda: True) is begun


def test_the_rules_of_other_lists_are_tried_in_the_best_one() -> None:
    scorer = on_scorer()
    champion = Champion(scorer, lambda: False)
    champion.challenge([DecisionList("move", 2, (CLEAR,))])
    assert champion.best is not None
    before = champion.best
    champion.graft([DecisionList("move", 2, (FINISH,))])
    assert champion.best.score > before.score
    assert frozenset(FINISH) in {frozenset(rule) for rule in champion.best.decisions.rules}
    best = champion.best
    champion.challenge([SILENT])
    assert champion.best is best
