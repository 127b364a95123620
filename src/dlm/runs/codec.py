"""Dataclasses of plain values and arrays as JSON, and back by their annotations.

Reading trusts nothing: a missing name, another type or dtype, a number where an array should be, all raise an error
that says where. Fields may be numbers, strings, None, arrays, generators, programs, other dataclasses, and lists,
tuples and mappings of these.
"""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import numpy as np

from dlm.data.arrays import AnyArray
from dlm.logic.syntax import Program
from dlm.logic.text import format_program, parse_program
from dlm.seeds import fixed_rng

__all__ = ["decode", "plain"]

T = TypeVar("T")

NOT_FINITE = {"inf", "-inf", "nan"}


def decode(node: object, kind: type[T], arrays: Mapping[str, AnyArray] | None = None, at: str = "") -> T:
    """The value of a kind that a JSON value stands for; a TypeError, ValueError or LookupError if there is none."""
    return cast(T, _typed(node, kind, arrays or {}, at or kind.__name__))


# ---------------------------------------------------------------------- to plain values


def plain(value: object, arrays: dict[str, AnyArray]) -> object:
    """A value as JSON; arrays are replaced by their names."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if np.isfinite(value) else str(value)
        case np.generic():
            return plain(value.item(), arrays)
        case np.ndarray():
            name = str(len(arrays))
            arrays[name] = np.ascontiguousarray(value).reshape(value.shape)
            return name
        case np.random.Generator():
            return value.bit_generator.state
        case Program():
            return format_program(value)
        case Mapping():
            return [[plain(key, arrays), plain(part, arrays)] for key, part in value.items()]
        case list() | tuple():
            return [plain(part, arrays) for part in value]
        case _ if is_dataclass(value):
            return {f.name: plain(getattr(value, f.name), arrays) for f in fields(value) if f.init}
    raise TypeError(f"a checkpoint cannot hold a value of type {type(value).__name__}")


# ---------------------------------------------------------------------- and back


@cache
def _hints(kind: type) -> dict[str, object]:
    hints = get_type_hints(kind)
    return {f.name: hints[f.name] for f in fields(kind) if f.init}


def _typed(node: object, kind: object, arrays: Mapping[str, AnyArray], at: str) -> object:
    """The value of a kind that a JSON node stands for. `at` says where, for messages."""
    origin, args = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        if node is None and type(None) in args:
            return None
        *others, last = (arg for arg in args if arg is not type(None))
        for other in others:
            with suppress(TypeError, ValueError, LookupError):
                return _typed(node, other, arrays, at)
        return _typed(node, last, arrays, at)
    if origin is np.ndarray:
        return _array(node, args, arrays, at)
    if origin is Literal:
        return _require(node, node in args, kind, at)
    if is_dataclass(origin):
        return _record(node, cast(type, origin), args, arrays, at)
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        pairs = cast(list[object], _require(node, isinstance(node, list), kind, at))
        return {
            _typed(key, args[0], arrays, at): _typed(part, args[1], arrays, f"{at}[{key}]")
            for key, part in (cast(tuple[object, object], pair) for pair in pairs)
        }
    if origin is not None and isinstance(origin, type) and issubclass(origin, Sequence):
        parts = cast(list[object], _require(node, isinstance(node, list), kind, at))
        if origin is tuple and args[-1] is not Ellipsis:
            return tuple(_typed(part, arg, arrays, at) for part, arg in zip(parts, args, strict=True))
        whole = [_typed(part, args[0], arrays, f"{at}[{i}]") for i, part in enumerate(parts)]
        return tuple(whole) if origin is tuple else whole
    return _scalar(node, kind, arrays, at)


def _scalar(node: object, kind: object, arrays: Mapping[str, AnyArray], at: str) -> object:
    if kind is float:
        if isinstance(node, str) and node in NOT_FINITE:
            return float(node)
        return float(cast(float, _require(node, type(node) in (int, float), kind, at)))
    if kind in (int, bool, str):
        return _require(node, type(node) is kind, kind, at)
    if kind is np.random.Generator:
        rng = fixed_rng()
        rng.bit_generator.state = cast(dict[str, object], _require(node, isinstance(node, dict), kind, at))
        return rng
    if kind is Program:
        return parse_program(cast(str, _require(node, isinstance(node, str), kind, at)), origin=at)
    if isinstance(kind, type) and is_dataclass(kind):
        return _record(node, kind, (), arrays, at)
    raise TypeError(f"{at}: a checkpoint cannot hold {kind}")


def _record(node: object, kind: type, args: tuple[object, ...], arrays: Mapping[str, AnyArray], at: str) -> object:
    """A dataclass; `args` are the types that its type variables stand for."""
    stands_for = dict(zip(getattr(kind, "__parameters__", ()), args, strict=True))
    hints = {name: stands_for.get(hint, hint) for name, hint in _hints(kind).items()}
    named = cast(dict[str, object], _require(node, isinstance(node, dict), kind, at))
    if {*named} != {*hints}:
        raise ValueError(f"{at} should have the parts {sorted(hints)}, not {sorted(named)}")
    return kind(**{name: _typed(named[name], hint, arrays, f"{at}.{name}") for name, hint in hints.items()})


def _array(node: object, args: tuple[object, ...], arrays: Mapping[str, AnyArray], at: str) -> AnyArray:
    array = arrays[cast(str, _require(node, isinstance(node, str), "an array", at))]
    (wanted,) = get_args(args[1])
    known = array.dtype.kind in "biuf" if wanted is np.generic else array.dtype == np.dtype(wanted)
    if not known:
        raise ValueError(f"{at} should be an array of {wanted.__name__}, not {array.dtype}")
    return array


def _require(node: object, right: bool, kind: object, at: str) -> object:
    if not right:
        raise ValueError(f"{at} should be {getattr(kind, '__name__', kind)}, not {str(node)[:40]!r}")
    return node
