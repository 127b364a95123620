"""`dlm prove`: whether two programs are equal on all structures up to some size."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Annotated

import typer

from dlm.cli.display import facts_of
from dlm.cli.options import JsonOption, ProgramArgument
from dlm.data.facts import Facts
from dlm.data.readers import write_facts
from dlm.data.structure import Structure
from dlm.errors import DataError, UnknownTaskError
from dlm.logic.syntax import Atom, Formula, Program
from dlm.logic.text import format_formula, format_name, parse_formulas
from dlm.programs import read_program
from dlm.prove import Proof, prove_equal
from dlm.tasks import Task, get_task

__all__ = ["prove"]

NOT_EQUAL = 3

MAX_SHOWN = 5
"""Differences printed; one is enough to see what is wrong."""


def prove(
    source: ProgramArgument,
    equals: Annotated[
        str, typer.Option(metavar="OTHER", help="A program file, a run folder, or a task, for its definition.")
    ],
    objects: Annotated[int, typer.Option(min=0, metavar="N", help="Compare structures of up to N objects.")] = 6,
    given: Annotated[
        str | None,
        typer.Option(
            metavar="AXIOMS", help="Only structures where these hold: a file of formulas, or a task, for its axioms."
        ),
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option(min=0, metavar="SECONDS", help="Stop after so long and say what was proven.")
    ] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write a counterexample as facts, to a new or empty folder.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Prove that two programs are equal on all structures up to a size, or find one where they differ.

    Exit code 0 if they are equal, 3 if they differ or the proof was not finished.
    """
    program = read_program(source)
    task = None if Path(equals).exists() else _task(equals, "program")
    other = task.definition if task else read_program(Path(equals))
    if save is not None and save.exists() and not (save.is_dir() and not any(save.iterdir())):
        raise DataError(f"{save} is in the way; --save wants a new or empty folder")
    proof = prove_equal(
        program,
        other,
        objects=objects,
        given=_axioms(given),
        distinct_only=task is not None and task.distinct_only,
        time_limit=time_limit,
        on_progress=None if json else _print_size,
    )
    if save is not None and proof.counterexample is not None:
        write_facts(Facts.from_structure(proof.counterexample), save, "csv")
    if json:
        print(json_text.dumps(_figures(proof, program, other)))
    else:
        _print(proof, program, other, task, given, save)
    raise typer.Exit(0 if proof.equal else NOT_EQUAL)


def _task(name: str, wanted: str) -> Task:
    try:
        return get_task(name)
    except UnknownTaskError as error:
        raise UnknownTaskError(f"there is no {wanted} file {name}, and as a task: {error}") from None


def _axioms(given: str | None) -> tuple[Formula, ...]:
    if given is None:
        return ()
    if not Path(given).exists():
        return _task(given, "axiom").axioms
    try:
        return parse_formulas(Path(given).read_text(encoding="utf-8"), origin=given)
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot read {given}: {error}; give a file of formulas, each ended by a full stop") from None


def _print_size(size: int, seconds: float) -> None:
    print(f"{_objects(size):>10}: equal    {seconds:8.2f} s", flush=True)


def _objects(size: int) -> str:
    return f"{size} object{'' if size == 1 else 's'}"


def _print(
    proof: Proof, program: Program, other: Program, task: Task | None, given: str | None, save: Path | None
) -> None:
    seconds = sum(proof.seconds)
    if proof.counterexample is not None:
        print(f"{_objects(proof.counterexample.size):>10}: different{proof.seconds[-1]:8.2f} s\n")
        _print_counterexample(proof, proof.counterexample, program, other)
        if proof.attributes:
            print(f"\n{_unsure(proof.attributes)}")
        if save is not None:
            print(f"\nSaved as facts: {save}")
        if task is not None and given is None and task.laws:
            print(f"\nOn the worlds of the task they may still be equal: --given {task.name}")
        return
    print()
    if proof.equal:
        print(f"Equal on all structures of up to {_objects(proof.objects)}{_where(given)}, in {seconds:.1f} s.")
    else:
        upto = f"equal up to {_objects(proof.objects)}" if proof.objects >= 0 else "nothing proven"
        print(f"Stopped ({proof.stopped}): {upto}{_where(given)}, in {seconds:.1f} s.")
    if proof.true_from is None and proof.objects >= 0:
        print(f"But {program.target.name} is never true on these: try more --objects, or check the axioms.")
    elif proof.true_from is not None:
        print(f"It takes {_objects(proof.true_from)} for {program.target.name} to be true of anything.")
    if task is not None and task.distinct_only:
        print("Tuples with a repeated object are not looked at, as in the task.")


def _unsure(attributes: tuple[str, ...]) -> str:
    """What a counterexample with comparisons takes for possible."""
    names = ", ".join(map(format_name, attributes))
    return (
        f"An object is taken to have no, one or several values of {names}. Where no values are as this world says, "
        "the programs may still be equal: exclude such worlds by axioms, --given FILE"
    )


def _where(given: str | None) -> str:
    return "" if given is None else f", given {given}"


def _print_counterexample(proof: Proof, structure: Structure, program: Program, other: Program) -> None:
    facts = facts_of(structure)
    print(f"A world of {_objects(structure.size)}: {', '.join(structure.objects) or 'none'}")
    print("\n".join(f"  {fact}." for fact in facts) if facts else "  without any fact")
    for difference in proof.differences[:MAX_SHOWN]:
        print()
        for each, value in ((program, difference.first), (other, difference.second)):
            names = tuple(structure.objects[number] for number in difference.arguments)
            which = "PROGRAM" if each is program else "OTHER  "
            print(f"{which}  {format_formula(Atom(each.target.name, names))} is {'true' if value else 'false'}")
    if len(proof.differences) > MAX_SHOWN:
        print(f"\nand {len(proof.differences) - MAX_SHOWN} more")


def _figures(proof: Proof, program: Program, other: Program) -> dict[str, object]:
    structure = proof.counterexample
    return {
        "equal": proof.equal,
        "asked": proof.asked,
        "objects": proof.objects,
        "true_from": proof.true_from,
        "stopped": proof.stopped,
        "seconds": [round(seconds, 3) for seconds in proof.seconds],
        "targets": [program.target.name, other.target.name],
        "counterexample": None
        if structure is None
        else {"objects": list(structure.objects), "facts": facts_of(structure)},
        "attributes": list(proof.attributes),
        "differences": []
        if structure is None
        else [
            {
                "arguments": [structure.objects[number] for number in difference.arguments],
                "program": difference.first,
                "other": difference.second,
            }
            for difference in proof.differences
        ],
    }
