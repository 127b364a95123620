"""What can be said of data beforehand, in dlm.toml, on the command line or in Python."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Literal, get_args

from dlm.data.problem import Negatives
from dlm.errors import DataError, SettingsError, did_you_mean
from dlm.logic.syntax import Program
from dlm.logic.text import parse_program

__all__ = ["DESCRIPTION", "DataFormat", "ProblemOptions", "read_description"]

DESCRIPTION = "dlm.toml"
DataFormat = Literal["auto", "popper", "tables", "duckdb", "triples"]


@dataclass(frozen=True)
class ProblemOptions:
    """None is what was not said."""

    target: str | None = None
    negatives: Negatives | None = None
    test: str | Path | None = None
    split: float | None = None
    world: str | None = None
    use: tuple[str, ...] | None = None
    leave_out: tuple[str, ...] | None = None
    negation: bool | None = None
    forall: bool | None = None
    depth: int | None = None
    definitions: Program | str | Path | None = None
    start: Program | str | Path | None = None

    def __post_init__(self) -> None:
        for name in ("use", "leave_out"):
            given = getattr(self, name)
            names = (given,) if isinstance(given, str) else given
            object.__setattr__(self, name, None if names is None else tuple(names))
        if self.depth is not None and self.depth < 0:
            raise SettingsError(f"depth is how many quantifiers may be inside each other, 0 or more. Got {self.depth}.")
        if self.negatives not in (None, *get_args(Negatives)):
            raise SettingsError(f"negatives are given, closed or sampled. Got {self.negatives!r} instead.")
        if self.split is not None and not 0 < self.split < 1:
            raise SettingsError(f"split is the share of examples to keep for the test, such as 0.2. Got {self.split}.")
        if self.split is not None and self.test is not None:
            raise SettingsError("a test set is given, or split off the examples: leave out --test or --split")

    def over(self, other: ProblemOptions) -> ProblemOptions:
        """These, and those of others where nothing was said."""
        said = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) is not None}
        if "test" in said or "split" in said:
            other = replace(other, test=None, split=None)
        return replace(other, **said)


@dataclass(frozen=True)
class DataLayout:
    """How files are to be read: key columns by table, types by table or ``table.column``, and which are only values."""

    path: Path
    format: DataFormat = "auto"
    files: Mapping[str, str] | None = None
    keys: Mapping[str, str] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)
    values: tuple[str, ...] = ()


_KNOWN: dict[str, dict[str, type | tuple[type, ...]]] = {
    "data": {"path": str, "format": str, "files": dict},
    "target": {"name": str, "negatives": str, "test": str, "split": float},
    "bias": {
        **{"use": list, "leave_out": list, "negation": bool, "forall": bool, "depth": int},
        **{"definitions": str, "start": str},
    },
    "world": {"by": str},
}


def read_description(path: Path) -> tuple[DataLayout, ProblemOptions]:
    """What a dlm.toml says. Files in it are sought from where it is."""
    try:
        text = path.read_text(encoding="utf-8")
        said = tomllib.loads(text)
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is not TOML: {error}") from None
    _check(said, path)
    data, target, bias = said.get("data", {}), said.get("target", {}), said.get("bias", {})
    if data.get("format", "auto") not in get_args(DataFormat):
        raise DataError(
            f"{path}: format in [data] is one of {', '.join(get_args(DataFormat))}. Got {data['format']!r}."
        )
    types = dict(said.get("types", {}))
    values = tuple(types.pop("values", ()))
    layout = DataLayout(
        path.parent / data.get("path", "."),
        data.get("format", "auto"),
        data.get("files"),
        said.get("keys", {}),
        types,
        values,
    )
    here = path.parent
    options = ProblemOptions(
        target=target.get("name"),
        negatives=target.get("negatives"),
        test=here / target["test"] if "test" in target else None,
        split=target.get("split"),
        world=said.get("world", {}).get("by"),
        use=tuple(bias["use"]) if bias.get("use") else None,
        leave_out=tuple(bias["leave_out"]) if bias.get("leave_out") else None,
        negation=bias.get("negation"),
        forall=bias.get("forall"),
        depth=bias.get("depth"),
        definitions=here / bias["definitions"] if "definitions" in bias else None,
        start=here / bias["start"] if "start" in bias else None,
    )
    return layout, options


def _check(said: Mapping[str, object], path: Path) -> None:
    """Refuse what has no meaning, with what was probably meant."""
    known = (*_KNOWN, "types", "keys")
    for part, content in said.items():
        if part not in known:
            raise DataError(f"{path}: there is no part [{part}].{did_you_mean(part, known)}")
        if not isinstance(content, dict):
            raise DataError(f"{path}: [{part}] is a part with settings of its own. Got {part} = {content!r} instead.")
        for name, value in content.items():
            if part not in _KNOWN:
                wanted: type | tuple[type, ...] = list if (part, name) == ("types", "values") else str
            elif name not in _KNOWN[part]:
                raise DataError(f"{path}: [{part}] has no setting {name!r}.{did_you_mean(name, _KNOWN[part])}")
            else:
                wanted = _KNOWN[part][name]
            if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
                kind = {str: "a text", list: "a list", bool: "true or false", int: "a whole number", float: "a number"}
                raise DataError(
                    f"{path}: {name} in [{part}] is {kind.get(wanted, 'a table')}. "  # type: ignore[arg-type]
                    f"Got {value!r} instead."
                )


def as_known_program(given: Program | str | Path | None) -> Program | None:
    """A program that is given, or in a file."""
    if given is None or isinstance(given, Program):
        return given
    try:
        text = Path(given).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot read the program {given}: {getattr(error, 'strerror', None) or error}") from None
    return parse_program(text, str(given))
