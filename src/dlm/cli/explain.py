"""`dlm explain`: why an atom is true, or why not."""

from __future__ import annotations

import json as json_text
from typing import Annotated

import typer

from dlm.cli.facts_options import DuplicatesOption, FactsArgument, MissingOption, ProgramArgument
from dlm.data.lookup import FactLookups
from dlm.data.readers import read_facts
from dlm.engines.engine import require_inputs
from dlm.logic.explain.explain import explain as explain_atom
from dlm.logic.explain.query import format_query, parse_query
from dlm.programs import read_program

__all__ = ["explain"]


def explain(
    source: ProgramArgument,
    facts: FactsArgument,
    atom: Annotated[
        str,
        typer.Argument(metavar="ATOM", help="""Such as "is_grandparent(ann, 'Amelia B.')"; odd names in quotes."""),
    ],
    why_not: Annotated[
        bool, typer.Option("--why-not", metavar="", help="Say what is missing; of a true atom, that nothing is.")
    ] = False,
    missing: MissingOption = "error",
    duplicates: DuplicatesOption = "error",
    json: Annotated[bool, typer.Option("--json", metavar="", help="Print one JSON object.")] = False,
) -> None:
    """Say why an atom is true, or why it is not and what would have to be different."""
    query = parse_query(atom)
    program = read_program(source)
    known = require_inputs(program, read_facts(facts, duplicates=duplicates), missing)
    explanation = explain_atom(program, FactLookups(known), query)
    if json:
        print(json_text.dumps({**explanation.to_json(), "asked": "why not" if why_not else "why"}))
        return
    if why_not and explanation.value:
        print(f"Nothing is missing: {format_query(query)} is true.")
    print(explanation)
