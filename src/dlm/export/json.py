"""Programs as JSON: `export_json` and `parse_json` are inverse of each other.

A formula is a tree of objects, each with its `kind`; `docs/program.schema.json` has the whole grammar. Reading is
strict: what this version would not write is refused, so that a damaged file, or one of a newer `dlm`, is never half
understood.
"""

from __future__ import annotations

import json
from typing import NoReturn

from dlm.data.json_text import parse_json_text
from dlm.errors import ProgramError
from dlm.logic.syntax import And, Atom, Definition, Equal, Exists, Forall, Formula, Not, Or, Program, Truth

__all__ = ["FORMAT", "VERSION", "export_json", "parse_json"]

FORMAT = "dlm-program"
VERSION = 1


# --------------------------------------------------------------------------- Program -> JSON


def export_json(program: Program) -> str:
    """The program as one JSON object."""
    tree = {
        "format": FORMAT,
        "version": VERSION,
        "target": program.target.name,
        "inputs": program.inputs,
        "definitions": [_definition_tree(definition) for definition in program.definitions],
    }
    return json.dumps(tree, indent=2) + "\n"


def _definition_tree(definition: Definition) -> dict[str, object]:
    return {
        "name": definition.name,
        "parameters": list(definition.parameters),
        "body": _formula_tree(definition.body),
    }


def _formula_tree(formula: Formula) -> dict[str, object]:
    match formula:
        case Atom(predicate, args):
            return {"kind": "atom", "predicate": predicate, "args": list(args)}
        case Equal(left, right):
            return {"kind": "equal", "left": left, "right": right}
        case Truth(value):
            return {"kind": "truth", "value": value}
        case Not(body):
            return {"kind": "not", "body": _formula_tree(body)}
        case And(parts):
            return {"kind": "and", "parts": [_formula_tree(part) for part in parts]}
        case Or(parts):
            return {"kind": "or", "parts": [_formula_tree(part) for part in parts]}
        case Exists(variable, distinct, body):
            return {"kind": "exists", "variable": variable, "distinct": list(distinct), "body": _formula_tree(body)}
        case Forall(variable, distinct, body):
            return {"kind": "forall", "variable": variable, "distinct": list(distinct), "body": _formula_tree(body)}


# --------------------------------------------------------------------------- JSON -> Program


def parse_json(text: str, origin: str = "<json>") -> Program:
    """Read what `export_json` wrote; `origin` is the file name that errors mention."""
    tree = parse_json_text(text, origin, ProgramError)
    try:
        return _read_program(tree)
    except ProgramError as error:
        raise ProgramError(f"{origin}: {error}") from None


def _read_program(tree: object) -> Program:
    if not isinstance(tree, dict) or tree.get("format") != FORMAT:
        raise ProgramError(f'expected an object with "format": "{FORMAT}"; write one with `dlm export --to json`')
    version = tree.get("version")
    if type(version) is not int or version < 1:
        _expected("a version number", version, "version")
    if version > VERSION:
        raise ProgramError(f"this is version {version} of the format, this dlm reads up to {VERSION}; update dlm")
    fields = _fields(tree, ("format", "version", "target", "inputs", "definitions"), "the program")
    definitions = _list(fields["definitions"], "definitions")
    program = Program(tuple(_read_definition(item, f"definitions[{i}]") for i, item in enumerate(definitions)))
    if fields["target"] != program.target.name:
        raise ProgramError(f"target must be the last definition, {program.target.name!r}, got {fields['target']!r}")
    inputs = fields["inputs"]
    if inputs != program.inputs or any(type(arity) is not int for arity in inputs.values()):
        raise ProgramError(f"inputs must be what the definitions read, {program.inputs}, got {inputs!r}")
    return program


def _read_definition(tree: object, where: str) -> Definition:
    fields = _fields(tree, ("name", "parameters", "body"), where)
    name = _name(fields["name"], f"{where}.name")
    return Definition(
        name, _names(fields["parameters"], f"{where}.parameters"), _read_formula(fields["body"], f"{where}.body")
    )


_KEYS = {
    "atom": ("predicate", "args"),
    "equal": ("left", "right"),
    "truth": ("value",),
    "not": ("body",),
    "and": ("parts",),
    "or": ("parts",),
    "exists": ("variable", "distinct", "body"),
    "forall": ("variable", "distinct", "body"),
}


def _read_formula(tree: object, where: str) -> Formula:
    kind = tree.get("kind") if isinstance(tree, dict) else None
    if not isinstance(kind, str) or kind not in _KEYS:
        _expected(f"a formula, an object whose kind is one of {', '.join(_KEYS)}", tree, where)
    fields = _fields(tree, ("kind", *_KEYS[kind]), where)
    match kind:
        case "atom":
            return Atom(_name(fields["predicate"], f"{where}.predicate"), _names(fields["args"], f"{where}.args"))
        case "equal":
            return Equal(_name(fields["left"], f"{where}.left"), _name(fields["right"], f"{where}.right"))
        case "truth":
            if type(fields["value"]) is not bool:
                _expected("true or false", fields["value"], f"{where}.value")
            return Truth(fields["value"])
        case "not":
            return Not(_read_formula(fields["body"], f"{where}.body"))
        case "and" | "or":
            parts = _list(fields["parts"], f"{where}.parts")
            read = tuple(_read_formula(part, f"{where}.parts[{i}]") for i, part in enumerate(parts))
            return And(read) if kind == "and" else Or(read)
        case _:
            variable = _name(fields["variable"], f"{where}.variable")
            distinct = _names(fields["distinct"], f"{where}.distinct")
            body = _read_formula(fields["body"], f"{where}.body")
            return (Exists if kind == "exists" else Forall)(variable, distinct, body)


def _fields(tree: object, keys: tuple[str, ...], where: str) -> dict[str, object]:
    """An object that has these keys and no others."""
    if not isinstance(tree, dict) or set(tree) != set(keys):
        _expected(f"an object with the keys {', '.join(keys)}", tree, where)
    return tree


def _list(tree: object, where: str) -> list[object]:
    if not isinstance(tree, list):
        _expected("a list", tree, where)
    return tree


def _name(tree: object, where: str) -> str:
    if not isinstance(tree, str):
        _expected("a name", tree, where)
    return tree


def _names(tree: object, where: str) -> tuple[str, ...]:
    return tuple(_name(item, f"{where}[{i}]") for i, item in enumerate(_list(tree, where)))


_SHOWN = 60


def _expected(what: str, got: object, where: str) -> NoReturn:
    text = json.dumps(got)
    raise ProgramError(f"{where}: expected {what}, got {text if len(text) <= _SHOWN else text[:_SHOWN] + '...'}")
