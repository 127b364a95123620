"""Facts in a Prolog file: ``edge(a, 'B c').`` and nothing else.

Constants are atoms, strings and numbers; all become text. Comments and directives are skipped, but for ``:- dynamic
edge/2.``, which declares a predicate that may have no fact. A rule, a variable, a list or a compound term is an error.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from dlm.data.readers.tables import Coding, Table
from dlm.errors import DataError

__all__ = ["read_examples", "read_prolog"]

_TOKEN = re.compile(
    r"""(?P<space>\s+|%[^\n]*|/\*.*?\*/)
    |(?P<number>-?\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?(?!\w))
    |(?P<atom>'(?:[^'\\]|\\.|'')*')
    |(?P<string>"(?:[^"\\]|\\.|"")*")
    |(?P<word>\w+)
    |(?P<stop>\.(?=\s|%|$))
    |(?P<symbol>:-|[(),/])
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)

_ESCAPE = re.compile(r"''|\"\"|\\(?:x([0-9a-fA-F]+)\\?|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]+)\\|(.))", re.DOTALL)
_ESCAPES = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "e": "\x1b",
    "s": " ",
    "\n": "",
}


def read_prolog(path: Path) -> list[Table]:
    """The facts in a Prolog file, one table a predicate."""
    tables = []
    for name, coding in _PrologReader(_read_text(path), str(path)).read().items():
        columns = coding.columns([str(index + 1) for index in range(coding.arity)])
        tables.append(Table(name, f"{name}/{coding.arity} in {path}", columns, coding.count))
    return tables


def _read_text(path: Path) -> str:
    """What a file says."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise DataError(f"{path} is not UTF-8 text; convert it, for example with iconv") from None


def read_examples(path: Path) -> dict[tuple[str, int, str], list[tuple[str, ...]]]:
    """The atoms in a file of ``pos(t(a, b)).`` and ``neg(t(a, b)).``, by predicate, arity and "pos" or "neg"."""
    reader = _ExampleReader(_read_text(path), str(path))
    reader.read()
    return reader.examples


@dataclass
class _PrologReader:
    """Goes through a text token by token."""

    text: str
    origin: str
    offset: int = 0
    kind: str = ""
    token: str = ""
    start: int = 0
    tables: dict[str, Coding] = field(default_factory=dict)
    numbers: dict[str, bool] = field(default_factory=dict)

    def read(self) -> dict[str, Coding]:
        self.step()
        while self.kind != "end":
            if self.token == ":-":
                self.directive()
            else:
                self.fact()
        return self.tables

    def step(self) -> None:
        """Go on to the next token that is not space."""
        while self.offset < len(self.text):
            match = _TOKEN.match(self.text, self.offset)
            assert match is not None
            self.start, self.offset = self.offset, match.end()
            self.kind, self.token = str(match.lastgroup), match.group()
            if self.kind != "space":
                return
        self.kind, self.token, self.start = "end", "the end of the file", len(self.text)

    def fail(self, message: str) -> DataError:
        line = self.text.count("\n", 0, self.start) + 1
        return DataError(f"{self.origin}, line {line}: {message}")

    def fact(self) -> None:
        first = self.start
        name, row = self.statement()
        if self.token == ":-":
            raise self.fail(f"this is a rule for {name!r}; a facts file holds facts only, rules go into a program")
        self.full_stop()
        self.table(name, len(row), first).add(row)

    def statement(self) -> tuple[str, list[str]]:
        """A predicate and its constants."""
        name = self.name()
        row: list[str] = []
        if self.token == "(" and self.kind == "symbol":
            self.step()
            row.append(self.constant())
            while self.token == "," and self.kind == "symbol":
                self.step()
                row.append(self.constant())
            self.closing_bracket()
        return name, row

    def closing_bracket(self) -> None:
        if self.token != ")":
            raise self.fail(f"expected ',' or ')' after a constant, got {self.token!r}")
        self.step()

    def full_stop(self) -> None:
        if self.kind != "stop":
            raise self.fail(f"expected '.' at the end of the fact, got {self.token!r}")
        self.step()

    def table(self, name: str, arity: int, start: int) -> Coding:
        coding = self.tables.setdefault(name, Coding(arity))
        if coding.arity != arity:
            self.start = start
            raise self.fail(f"{name!r} has {arity} arguments here and {coding.arity} before; rename one of the two")
        return coding

    def name(self) -> str:
        if self.kind == "atom":
            name = _unquote(self.token)
        elif self.kind == "word" and not self.is_variable():
            name = self.token
        else:
            raise self.fail(f"expected a fact such as edge(a, b). , got {self.token!r}")
        self.step()
        return name

    def constant(self) -> str:
        if self.kind == "number":
            constant = _number(self.token)
        elif self.kind in ("atom", "string"):
            constant = _unquote(self.token)
        elif self.kind == "word" and not self.is_variable():
            constant = self.token
        else:
            what = "the variable " if self.kind == "word" else ""
            raise self.fail(f"expected a constant (an atom, a string or a number), got {what}{self.token!r}")
        if self.numbers.setdefault(constant, self.kind == "number") != (self.kind == "number"):
            raise self.fail(f"mixed types: {constant} is a number in one place and text in another; write it one way")
        self.step()
        return constant

    def is_variable(self) -> bool:
        return self.token[0] == "_" or self.token[0].isupper() or self.token[0].istitle()

    def directive(self) -> None:
        """Skip a directive, noting what it declares to be dynamic."""
        self.step()
        dynamic = self.token == "dynamic"
        while self.kind not in ("stop", "end"):
            name, start = self.token, self.start
            quoted = self.kind == "atom"
            self.step()
            if dynamic and self.token == "/" and (quoted or name.isidentifier()):
                self.step()
                if self.kind == "number" and self.token.isdecimal():
                    self.table(_unquote(name) if quoted else name, int(self.token), start)
        if self.kind == "end":
            raise self.fail("the directive has no '.' at its end")
        self.step()


@dataclass
class _ExampleReader(_PrologReader):
    """Facts inside ``pos(...)`` or ``neg(...)``."""

    examples: dict[tuple[str, int, str], list[tuple[str, ...]]] = field(default_factory=dict)

    def fact(self) -> None:
        label = self.token
        if label not in ("pos", "neg"):
            raise self.fail(f"expected an example such as pos(t(a, b)). or neg(t(a, c)). , got {label!r}")
        self.step()
        if self.token != "(":
            raise self.fail(f"expected '(' after {label}, got {self.token!r}")
        self.step()
        name, row = self.statement()
        self.closing_bracket()
        self.full_stop()
        self.examples.setdefault((name, len(row), label), []).append(tuple(row))


def _number(token: str) -> str:
    """A number in the one way it is written: 007 is 7, and 1.50 is 1.5."""
    digits = token.replace("_", "")
    return str(int(digits)) if re.fullmatch(r"-?\d+", digits) else repr(float(digits))


def _unquote(token: str) -> str:
    def one(match: re.Match[str]) -> str:
        code = match.group(1) or match.group(2) or match.group(3)
        if code is not None:
            return chr(int(code, 16))
        if match.group(4) is not None:
            return chr(int(match.group(4), 8))
        escaped = match.group(5)
        return match.group()[0] if escaped is None else _ESCAPES.get(escaped, escaped)

    doubled = token[0] * 2
    return _ESCAPE.sub(lambda m: one(m) if m.group()[0] == "\\" or m.group() == doubled else m.group(), token[1:-1])
