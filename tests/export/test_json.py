"""JSON: lossless, strict, and as docs/program.schema.json has it."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlm.errors import ProgramError
from dlm.export.json import export_json, parse_json
from dlm.logic import Program, parse_program
from strategies import programs, signatures

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "program.schema.json").read_text(encoding="utf-8"))
PROGRAM = parse_program(
    "parent(x, y) :- father(x, y) | mother(x, y). t(x) :- exists z != x: (parent(x, z) & ~(x = z)) & (forall y: true)."
)
TREE: dict[str, Any] = json.loads(export_json(PROGRAM))
TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
}


def fits(value: Any, schema: dict[str, Any]) -> bool:
    """Whether a value is as a schema says, of the few words that our schema uses."""
    schema = dict(schema)
    for word in ("$schema", "$defs", "title", "description"):
        schema.pop(word, None)
    checks = {
        "$ref": lambda to: fits(value, SCHEMA["$defs"][to.removeprefix("#/$defs/")]),
        "oneOf": lambda options: sum(fits(value, option) for option in options) == 1,
        "type": lambda name: isinstance(value, TYPES[name]) and not (name == "integer" and isinstance(value, bool)),
        "const": lambda constant: value == constant and type(value) is type(constant),
        "enum": lambda options: value in options,
        "minimum": lambda least: value >= least,
        "minItems": lambda least: len(value) >= least,
        "uniqueItems": lambda _: len(set(value)) == len(value),
        "items": lambda items: all(fits(item, items) for item in value),
        "required": lambda names: value.keys() >= set(names),
        "properties": lambda known: all(fits(item, known[name]) for name, item in value.items() if name in known),
        "additionalProperties": lambda others: all(
            bool(others) and fits(item, others)
            for name, item in value.items()
            if name not in schema.get("properties", {})
        ),
    }
    assert schema.keys() <= checks.keys()
    ordered = sorted(schema.items(), key=lambda entry: entry[0] != "type")
    return all(checks[word](argument) for word, argument in ordered)


@given(programs(signatures(odd_names=True, compared=True)))
def test_comparisons_are_atoms_of_predicates_that_say_what_is_compared(program: Program) -> None:
    text = export_json(program)
    assert parse_json(text) == program
    assert fits(json.loads(text), SCHEMA)


@given(programs(signatures(odd_names=True), odd_names=True, target="the target"))
def test_reads_back_as_the_same_program_and_fits_the_schema(program: Program) -> None:
    text = export_json(program)
    assert parse_json(text) == program
    assert fits(json.loads(text), SCHEMA)
    assert text.isascii(), "it can be written to any file"


def paths(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where to find each value inside a tree."""
    inside = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    return [path, *(found for key, value in inside for found in paths(value, (*path, key)))]


PATHS = [path for path in paths(TREE) if path]


@given(st.sampled_from(PATHS), st.sampled_from([None, True, 0, 2, 1.0, "q", [], [[]], {}, {"kind": "and"}]))
def test_what_does_not_fit_the_schema_is_refused(path: tuple[Any, ...], damage: Any) -> None:
    tree = copy.deepcopy(TREE)
    place = tree
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = damage
    if fits(tree, SCHEMA):
        return
    with pytest.raises(ProgramError, match=r"^damaged\.json: "):
        parse_json(json.dumps(tree), origin="damaged.json")


@given(st.sampled_from([path for path in PATHS if isinstance(path[-1], str)]))
def test_nothing_may_be_left_out_or_added(path: tuple[Any, ...]) -> None:
    for change in ("remove", "add"):
        tree = copy.deepcopy(TREE)
        place = tree
        for key in path[:-1]:
            place = place[key]
        if change == "remove":
            del place[path[-1]]
        else:
            place["extra"] = 1
        with pytest.raises(ProgramError):
            parse_json(json.dumps(tree))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"f\.json:1:1: this is not JSON"),
        ('{"format": ', r"f\.json:1:12: this is not JSON"),
        ("[]", 'expected an object with "format": "dlm-program"'),
        ('{"format": "other"}', 'expected an object with "format": "dlm-program"'),
        (json.dumps({**TREE, "version": 2}), "version 2 of the format, this dlm reads up to 1; update dlm"),
        (json.dumps({**TREE, "version": 2, "new": 1}), "version 2 of the format"),
        (json.dumps({**TREE, "version": True}), "version: expected a version number, got true"),
        (json.dumps({**TREE, "target": "parent"}), "target must be the last definition, 't', got 'parent'"),
        (json.dumps({**TREE, "inputs": {"father": 2}}), "inputs must be what the definitions read"),
        (json.dumps({**TREE, "inputs": {"father": 2.0, "mother": 2}}), "inputs must be what the definitions read"),
        (json.dumps({**TREE, "inputs": []}), "inputs must be what the definitions read"),
        (
            json.dumps(TREE).replace('"parent"', '"\\ud800"'),
            "half a character",
        ),
        (json.dumps({**TREE, "definitions": []}), "at least one definition"),
        (json.dumps({**TREE, "definitions": TREE["definitions"][::-1]}), "not defined before"),
        ('{"format": "dlm-program", "format": "dlm-program"}', "the key 'format' twice"),
        ("[" * 100_000, r"f\.json:1:201: more than 200 lists and objects are nested"),
        ('{"version": ' + "1" * 5000 + "}", r"f\.json:1:13: .*digits"),
    ],
)
def test_damage_is_explained(text: str, message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        parse_json(text, origin="f.json")


def test_an_error_names_the_place() -> None:
    tree = copy.deepcopy(TREE)
    tree["definitions"][0]["body"]["parts"][1]["args"][0] = 7
    with pytest.raises(ProgramError, match=r"definitions\[0\]\.body\.parts\[1\]\.args\[0\]: expected a name, got 7"):
        parse_json(json.dumps(tree))


def test_every_word_of_the_schema_can_refuse() -> None:
    assert fits(TREE, SCHEMA)
    assert not fits({**TREE, "version": 2}, SCHEMA)
    assert not fits({**TREE, "inputs": {"father": -1}}, SCHEMA)
    assert not fits({**TREE, "definitions": []}, SCHEMA)
    assert not fits({**TREE, "more": 1}, SCHEMA)
