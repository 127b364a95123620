"""What the learner `rules` believes of its formulas is what they mean: columns against an engine."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from numpy.typing import NDArray

import dlm
from dlm.data.bits import unpack_last
from dlm.data.problem import DataProblem
from dlm.learning.rules.growth import _exists
from dlm.learning.rules.search import RuleBuilder
from dlm.learning.rules.terms import All, Concept, Link, Negation, Some, Variables
from dlm.logic.syntax import Definition, Program
from learning.rules.problems import labelled_problems

EXAMPLES = Path(__file__).parents[3] / "examples"

SECONDS = 4.0
FEATURES = 15
"""How many features of a problem are looked at: those that came last are the deepest."""


def said_of_rows(program: Program, problem: DataProblem) -> NDArray[np.bool_]:
    """What an engine answers for the labelled rows."""
    answers = {tuple(row) for row in dlm.run(program, problem.facts, missing="empty").rows().tolist()}
    return np.array([tuple(row) in answers for row in problem.labels.rows.tolist()], dtype=np.bool_)


def grown(problem: DataProblem, most: int | None = None) -> RuleBuilder:
    """A bank with all that there is, or what was there after some seconds: a few random problems have very much."""
    builder = RuleBuilder(problem, problem.labels)
    started = time.monotonic()
    for _ in builder.stages(most, early=False):
        if time.monotonic() - started > SECONDS and builder.found:
            break
    return builder


@settings(max_examples=16)
@given(labelled_problems() | labelled_problems(keyed=True) | labelled_problems(single=True))
def test_a_feature_is_true_of_the_rows_that_its_formula_is_true_of(problem: DataProblem) -> None:
    builder = grown(problem)
    terms, columns = builder.features.literals(negated=True)
    head = tuple("xyz"[: problem.labels.arity])
    place = builder.bank.universe.key
    chosen = np.unique(np.linspace(0, len(terms) - 1, FEATURES).astype(int)) if terms else []
    for index in chosen:
        names = Variables(head, None if place is None else head[place])
        program = Program((Definition("goal", head, terms[index].formula(names, head)),))
        column = unpack_last(columns[index], problem.labels.count)
        assert column.tolist() == said_of_rows(program, problem).tolist(), str(program)
        assert terms[index].size == program.literals, str(program)


@settings(max_examples=12)
@given(labelled_problems(weighted=True) | labelled_problems(keyed=True, weighted=True))
def test_what_a_program_is_said_to_answer_it_answers(problem: DataProblem) -> None:
    builder = grown(problem)
    assert builder.found
    for found in builder.found.values():
        program = builder.program(found)
        assert found.said.tolist() == said_of_rows(program, problem).tolist(), str(program)
        assert found.size == program.literals, str(program)
        assert found.errors == problem.labels.weights[found.said != problem.labels.truth].sum()


@settings(max_examples=25)
@given(labelled_problems(single=True))
def test_what_leads_home_is_said_of_the_object_itself(problem: DataProblem) -> None:
    """Concepts with what objects say of those that they come from, against the formulas with the way back."""
    problem = replace(problem, key=None)  # formulas of a world have its variable too
    bank = RuleBuilder(problem, problem.labels).bank
    for types, relations in list(bank.relations.items()):
        for relation, pairs in relations.items():
            if not isinstance(relation, Link) or relation.key:
                continue
            apart = len(set(pairs.y.tolist())) == pairs.count
            back = [Some(relation.inverse, concept) for concept in (All(()), *bank.shelves[types[0]].terms)]
            for concept in (*back, *map(Negation, back)):
                found, longer = _exists(relation, pairs, [concept])[0], Some(relation, concept)
                assert found.size == longer.size - apart
                assert objects_of(found, problem) == objects_of(longer, problem)


def objects_of(concept: Concept, problem: DataProblem) -> set[int]:
    program = Program((Definition("goal", ("x",), concept.formula(Variables(("x",)), "x")),))
    return set(dlm.run(program, problem.facts, missing="empty").rows()[:, 0].tolist())


def test_the_attribute_of_a_row_is_said_of_the_row_itself() -> None:
    """Not of whoever made the order that the row made: that is the same customer."""
    result = dlm.learn(EXAMPLES / "shop", split=0.25, seed=0, progress=False)
    said = "age(x) > 47.5 & (exists y: customer(y, x) & (exists z: product(y, z) & category(z) = coffee))"
    assert str(result.program) == f"subscriber(x) :- {said}.\n"
