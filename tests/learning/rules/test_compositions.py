"""Compositions that are tried without being made say what they say when they are made."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings

from dlm.data.bits import unpack_last
from dlm.data.problem import DataProblem
from dlm.learning.rules.compositions import Compositions
from dlm.learning.rules.features import Between
from dlm.learning.rules.search import RuleBuilder
from dlm.learning.rules.terms import Variables
from dlm.logic.syntax import Definition, Program
from learning.rules.problems import labelled_problems
from learning.rules.test_meaning import said_of_rows


@settings(max_examples=15)
@given(labelled_problems() | labelled_problems(keyed=True))
def test_relations_and_compositions_mean_what_their_columns_say(problem: DataProblem) -> None:
    builder = RuleBuilder(problem, problem.labels)
    made = Compositions(builder.bank, builder.features)
    scores = builder.growth.scores
    for step in (made.enumerate(), made.exists(), made.between(scores.positive, scores.negative)):
        for _ in step:
            pass
    terms, columns = builder.features.terms, builder.features.columns
    between = [place for place, term in enumerate(terms) if isinstance(term, Between)]
    head = tuple("xyz"[: problem.labels.arity])
    key = builder.bank.universe.key
    for place in between[:: max(1, len(between) // 12)]:
        names = Variables(head, None if key is None else head[key])
        program = Program((Definition("goal", head, terms[place].formula(names, head)),))
        column = unpack_last(columns[place], problem.labels.count)
        assert column.tolist() == said_of_rows(program, problem).tolist(), str(program)
        assert terms[place].size == program.literals


def test_the_smallest_come_first() -> None:
    rng = np.random.default_rng(0)
    from dlm.learning.rules.joined import join_worlds
    from dlm.tasks import get_task

    task = get_task("family/is-uncle")
    problem = join_worlds([task.sample(rng, 6, 10)], task.target)
    builder = RuleBuilder(problem, problem.labels)
    made = Compositions(builder.bank, builder.features)
    for _ in made.enumerate():
        pass
    sizes = [term.size for found in made.found.values() for term in found]
    assert sizes == sorted(sizes)
    contents = {(tuple(p.x), tuple(p.y)) for found in made.found.values() for p in found.values()}
    assert len(contents) == len(sizes)
