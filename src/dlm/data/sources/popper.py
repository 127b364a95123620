"""Popper's folders: facts in ``bk.pl``, examples in ``exs.pl``, types and predicates in ``bias.pl``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from dlm.data.readers.prolog import read_examples, read_prolog_facts
from dlm.data.sources.bias_file import PopperBias, read_bias
from dlm.data.sources.source import DataSource, GivenExamples
from dlm.data.sources.typed import UNTYPED, TypedColumn, TypedNumbers, TypedTable, TypedTables, coded
from dlm.data.sources.values import value_types
from dlm.errors import DataError

__all__ = ["is_popper", "prolog_examples", "read_popper"]

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")


def is_popper(folder: Path) -> bool:
    """Whether a folder has the files of Popper."""
    return (folder / "bk.pl").is_file() and ((folder / "bias.pl").is_file() or (folder / "exs.pl").is_file())


def read_popper(folder: Path) -> DataSource:
    """The facts, examples and bias of a folder."""
    bias = read_bias(folder / "bias.pl") if (folder / "bias.pl").is_file() else PopperBias()
    facts = read_prolog_facts(folder / "bk.pl")
    found = {name: coding.columns([""] * coding.arity) for name, coding in facts.items()}
    notes: list[str] = []
    constants = {name: [column.values for column in columns] for name, columns in found.items()}
    types = _types(bias, constants, notes)
    tables = [
        TypedTable(
            name,
            tuple(TypedColumn(type_, c.values, c.codes) for type_, c in zip(types[name], columns, strict=True)),
            facts[name].count,
        )
        for name, columns in found.items()
    ]
    examples = prolog_examples(folder / "exs.pl", types) if (folder / "exs.pl").is_file() else {}
    absent = [name for name in bias.bodies if name not in found]
    if absent:
        notes.append(f"bias.pl lists {_listed(absent)}, of which bk.pl has no fact: left out")
    unused = [name for name in found if bias.bodies and name not in bias.bodies]
    if unused:
        notes.append(
            f"bias.pl does not list {_listed(unused)}: a program will not use {'it' if len(unused) == 1 else 'them'}"
        )
    if bias.ignored:
        notes.append(f"not understood in bias.pl, and passed over: {_listed(bias.ignored)}")
    source = TypedTables(tables, examples=[given.table for given in examples.values()], notes=notes)
    numeric = _numeric(source.columns())
    heads = [types.get(name, given.types) for name, given in examples.items()]
    if bias.types:
        firsts = {head[0] for head in heads if head} | {bias.key}
        source.value_types = (numeric - firsts) | value_types(
            source.tables, things={type_ for head in heads for type_ in head} | {bias.key} - numeric
        )
    source.numbers = [
        _attribute(table) for table in tables if bias.types and _is_attribute(table, numeric & source.value_types)
    ]
    use = tuple(name for name in bias.bodies if name in found)
    return DataSource(str(folder), source, examples, use=use, key=bias.key, hints=(*bias.heads, *examples))


def _types(
    bias: PopperBias, constants: Mapping[str, Sequence[np.ndarray]], notes: list[str]
) -> dict[str, tuple[str, ...]]:
    """The types of the arguments of every predicate, those that bias.pl does not speak of by what they hold."""
    if not bias.types:
        return {name: (UNTYPED,) * len(columns) for name, columns in constants.items()}
    members: dict[str, set[str]] = {}
    for name, declared in bias.types.items():
        columns = constants.get(name)
        if columns is not None:
            if len(columns) != len(declared):
                raise DataError(
                    f"bias.pl gives {name} {len(declared)} types and bk.pl has it with {len(columns)} arguments; "
                    f"write type({name},(...)) with {len(columns)} types"
                )
            for type_, values in zip(declared, columns, strict=True):
                members.setdefault(type_, set()).update(values.tolist())
    types = dict(bias.types)
    for name, columns in constants.items():
        if name not in types:
            types[name] = tuple(_type_of(values.tolist(), members) for values in columns)
            if name in bias.bodies:
                notes.append(f"bias.pl gives {name} no types; by its constants they are {', '.join(types[name])}")
    return types


def _type_of(values: list[str], members: Mapping[str, set[str]]) -> str:
    """The type that most of some constants belong to, if it is more than half of them."""
    share = {type_: sum(value in known for value in values) for type_, known in members.items()}
    best = max(share, key=share.__getitem__, default=UNTYPED)
    return best if 2 * share.get(best, 0) > len(values) else UNTYPED


def prolog_examples(path: Path, types: Mapping[str, tuple[str, ...]]) -> dict[str, GivenExamples]:
    """The examples in a file of ``pos(...)`` and ``neg(...)`` by predicate; one without types is about objects."""
    found = read_examples(path)
    examples: dict[str, GivenExamples] = {}
    for name, arity in dict.fromkeys((name, arity) for name, arity, _ in found):
        if name in examples:
            raise DataError(f"{path} has examples of {name} with different numbers of arguments; keep one of the two")
        signature = types.get(name) or (UNTYPED,) * arity
        if len(signature) != arity:
            raise DataError(f"{path} has examples of {name}/{arity}, bias.pl gives it {len(signature)} types")
        true, false = found.get((name, arity, "pos"), []), found.get((name, arity, "neg"), [])
        columns = [coded(type_, [row[index] for row in (*true, *false)]) for index, type_ in enumerate(signature)]
        truth = np.arange(len(true) + len(false)) < len(true)
        examples[name] = GivenExamples(TypedTable(name, tuple(columns), len(truth)), truth)
    return examples


def _numeric(columns: Sequence[TypedColumn]) -> set[str]:
    """The types all of whose constants are numbers."""
    candidates = {column.type for column in columns}
    for column in columns:
        if column.type in candidates and not all(map(_NUMBER.fullmatch, column.values.tolist())):
            candidates.remove(column.type)
    return candidates - {UNTYPED}


def _is_attribute(table: TypedTable, numeric: set[str]) -> bool:
    types = [column.type for column in table.columns]
    return len(types) == 2 and types[1] in numeric and types[0] not in numeric


def _attribute(table: TypedTable) -> TypedNumbers:
    thing, number = table.columns
    return TypedNumbers(table.name, thing, number.values.astype(np.float64)[number.codes])


def _listed(names: Sequence[str], most: int = 4) -> str:
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
