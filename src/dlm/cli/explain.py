"""`dlm explain`: why an atom is true, or why not."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Annotated

import typer

import dlm
from dlm.cli.display import count, facts_of
from dlm.cli.facts_options import DuplicatesOption, MissingOption
from dlm.cli.options import JsonOption, ProgramArgument
from dlm.cli.policy_options import ProblemOption, TrustOption, WorldOption, one_problem
from dlm.data.facts import Facts
from dlm.errors import SettingsError
from dlm.logic.explain.query import format_query, parse_query

__all__ = ["explain"]

ASKED_HELP = """Facts as in `dlm run`, and an atom such as "is_grandparent(ann, 'Amelia B.')"; odd names in quotes.
Without facts: a fresh instance of the run's task, or a start of its world, which is printed."""


def explain(
    source: ProgramArgument,
    asked: Annotated[list[str], typer.Argument(metavar="[FACTS] ATOM", help=ASKED_HELP)],
    why_not: Annotated[
        bool, typer.Option("--why-not", metavar="", help="Say what is missing; of a true atom, that nothing is.")
    ] = False,
    task: ProblemOption = None,
    env: WorldOption = None,
    objects: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Without FACTS: objects or blocks. Default: a few.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, metavar="N", help="Without FACTS: of the instance.")] = None,
    trust: TrustOption = False,
    missing: MissingOption = "error",
    duplicates: DuplicatesOption = "error",
    json: JsonOption = False,
) -> None:
    """Say why an atom is true, or why it is not and what would have to be different."""
    *given, atom = asked
    if len(given) > 1:
        raise SettingsError(f"explain takes facts and one atom. Got {', '.join(map(repr, asked))} instead.")
    parse_query(atom)  # a misspelt one is refused before facts are read
    problem, shown = one_problem(task, env), dict[str, object]()
    if given:
        if (problem, objects, seed) != (None, None, None):
            raise SettingsError("--task, --env, --objects and --seed are for questions without FACTS: leave them out")
        facts = dlm.read_facts(Path(given[0]), duplicates=duplicates)
    else:
        from dlm.api.trials import fresh_structure

        name, structure = fresh_structure(source, problem, size=objects, seed=seed or 0, trust=trust)
        facts = Facts.from_structure(structure)
        true = facts_of(structure)
        shown = {"task": name, "seed": seed or 0, "facts": true}
        if not json:
            print(f"{name}, {count(structure.size, 'object')}, seed {seed or 0}: {', '.join(structure.objects)}")
            print("\n".join(f"  {fact}." for fact in true) or "  without any fact")
            print()
    explanation = dlm.explain(source, facts, atom, missing=missing)
    if json:
        print(json_text.dumps({**explanation.to_json(), "asked": "why not" if why_not else "why", **shown}))
        return
    if why_not and explanation.value:
        print(f"Nothing is missing: {format_query(explanation.atom)} is true.")
    print(explanation)
