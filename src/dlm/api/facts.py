"""What is done with a program and facts: `run`, `explain` and `check`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from dlm.data.derived import derive
from dlm.data.examples import Labels, read_labels
from dlm.data.facts import Facts
from dlm.data.lookup import FactLookups
from dlm.data.readers import read_facts
from dlm.data.signatures import signatures_of
from dlm.data.sources.frames import is_frame, is_graph, source_of_values
from dlm.data.sources.options import DataLayout
from dlm.data.sources.typed import assemble
from dlm.data.structure import Structure
from dlm.engines.answers import Answers
from dlm.engines.check import Check, check_program
from dlm.engines.choose import run_program
from dlm.engines.engine import Missing, Progress, require_inputs
from dlm.errors import SettingsError, did_you_mean
from dlm.logic.explain.explain import Explanation
from dlm.logic.explain.explain import explain as explain_atom
from dlm.logic.explain.query import parse_query
from dlm.logic.syntax import Program, atoms
from dlm.programs import read_program

__all__ = ["AnyFacts", "AnyProgram", "check", "explain", "run"]

AnyFacts = Facts | Structure | Mapping[str, Iterable[tuple[object, ...]]] | Mapping[str, Any] | str | Path
"""Facts in any form: what `read_facts` gives or can read, a structure, a graph, tuples or data frames by name."""

AnyProgram = Program | str | Path
"""A program, or the path of a program file or run folder."""


def run(
    program: AnyProgram,
    facts: AnyFacts,
    engine: str = "auto",
    *,
    missing: Missing = "error",
    on_progress: Progress | None = None,
) -> Answers:
    """The tuples of a program's target on some facts.

    Engines are "bits", "duckdb" and "spark"; "auto" picks one by an estimate, and ``reason`` of the answers says why.
    `on_progress` is called with a few words from time to time.
    """
    return run_program(as_program(program), as_facts(facts), engine, missing=missing, on_progress=on_progress)


def explain(program: AnyProgram, facts: AnyFacts, atom: str, *, missing: Missing = "error") -> Explanation:
    """Why an atom such as ``"is_grandparent(ann, amelia)"`` is true on some facts, or why not.

    Its predicate is one of the program's or of the facts'; odd names stand in single quotes. It may also be a
    comparison, such as ``"age(ann) > 50"``. `str` of the explanation gives the words, `to_json` the same for programs.
    """
    known, asked = as_program(program), parse_query(atom)
    found = derive(require_inputs(known, as_facts(facts), missing), [asked.predicate])
    return explain_atom(known, FactLookups(found, signatures_of(known, found)), asked)


def check(
    program: AnyProgram,
    facts: AnyFacts,
    examples: Labels | str | Path,
    engine: str = "auto",
    *,
    target: str | None = None,
    missing: Missing = "error",
    show: int = 10,
    on_progress: Progress | None = None,
) -> Check:
    """How a program's answers on some facts compare with the true ones, with explanations of up to `show` wrong ones.

    `examples` is a CSV or Parquet table of all that is true, or a Prolog file of ``pos(...)`` and ``neg(...)``.
    `target` is the predicate they are of: by default the program's last one.
    """
    asked, known = as_program(program), as_facts(facts)
    if target is not None:
        asked = _about(asked, target)
    name, arity = asked.target.name, asked.target.arity
    types = signatures_of(asked, known).get(name)
    labels = examples if isinstance(examples, Labels) else read_labels(examples, known, name, arity, types)
    return check_program(asked, known, labels, engine, missing=missing, show=show, on_progress=on_progress)


def _about(program: Program, target: str) -> Program:
    """The program of one of the predicates that a program defines."""
    names = [definition.name for definition in program.definitions]
    if target not in names:
        raise SettingsError(
            f"the program does not define {target!r}.{did_you_mean(target, names)} It defines {', '.join(names)}."
        )
    needed = {target}
    for definition in reversed(program.definitions):
        if definition.name in needed:
            needed |= {atom.predicate for atom in atoms(definition.body)}
    return Program(tuple(definition for definition in program.definitions if definition.name in needed))


def as_program(given: AnyProgram) -> Program:
    """The program that is meant."""
    return given if isinstance(given, Program) else read_program(given)


def as_facts(given: AnyFacts) -> Facts:
    """The facts that are meant."""
    if isinstance(given, Facts):
        return given
    if isinstance(given, Structure):
        return Facts.from_structure(given)
    if is_graph(given) or (isinstance(given, Mapping) and any(map(is_frame, given.values()))):
        return assemble(source_of_values(given, None, DataLayout(Path("the facts"))).tables).facts
    if isinstance(given, Mapping):
        return Facts.from_tuples(given)
    return read_facts(given)
