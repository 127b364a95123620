"""Facts in a Prolog file: ``edge(a, 'B c').`` and nothing else.

Constants are atoms, strings and numbers; all become text. A compound term without variables, such as ``pair(a, 1)``, is
a constant too, whose name is its text. Comments and directives are skipped, but for ``:- dynamic edge/2.``, which
declares a predicate that may have no fact. A rule, a variable or a list is an error.

Plain facts, one after the other, are read a fact at a time by one regular expression; all else goes token by token.
"""

from __future__ import annotations

import math
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

from dlm.data.json_text import MAX_DIGITS
from dlm.data.readers.tables import Coding, Table
from dlm.errors import DataError

__all__ = ["PrologFacts", "located", "read_examples", "read_prolog", "read_prolog_facts", "read_text"]

MAX_ARITY_DIGITS = 4

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

_INSIDE = r"[^()'\"\\%\[\]{}|/:]*"
_PLAIN_FACT = re.compile(rf"\s*([a-z]\w*)\(({_INSIDE})\)\s*\.(?=\s|$)")
_PLAIN_EXAMPLE = re.compile(rf"\s*(pos|neg)\(\s*([a-z]\w*)\(({_INSIDE})\)\s*\)\s*\.(?=\s|$)")
_PLAIN_CONSTANT = re.compile(r"[a-z]\w*|-?\d+(?:\.\d+)?")

_ESCAPE = re.compile(r"''|\"\"|\\(?:x([0-9a-fA-F]+)\\?|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]+)\\|(.))", re.DOTALL)
SHOWN = 500
"""How many characters before and after a mistake an error shows."""

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


PrologFacts = dict[str, Coding]
"""The facts of a file by predicate."""


def read_prolog(path: Path) -> list[Table]:
    """The facts in a Prolog file, one table a predicate."""
    tables = []
    for name, coding in _PrologReader(read_text(path), str(path)).read().items():
        columns = coding.columns([str(index + 1) for index in range(coding.arity)])
        tables.append(Table(name, f"{name}/{coding.arity} in {path}", columns, coding.count))
    return tables


def read_prolog_facts(path: Path) -> PrologFacts:
    """The same as coded rows; the number 1 and the text '1' are the same constant, since types tell objects apart."""
    return _PrologReader(read_text(path), str(path), mixed=True).read()


def read_text(path: Path) -> str:
    """What a file says."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise DataError(f"{path} is not UTF-8 text; convert it, for example with iconv") from None


def read_examples(path: Path) -> dict[tuple[str, int, str], list[tuple[str, ...]]]:
    """The atoms in a file of ``pos(t(a, b)).`` and ``neg(t(a, b)).``, by predicate, arity and "pos" or "neg"."""
    reader = _ExampleReader(read_text(path), str(path), mixed=True)
    reader.read()
    return reader.examples


def located(message: str, text: str, offset: int, origin: str) -> DataError:
    """An error that says where in a text, with the line and a caret under the place."""
    begin = text.rfind("\n", 0, offset) + 1
    line = text[begin:].split("\n", 1)[0]
    start = max(0, offset - begin - SHOWN)  # of a very long line, what stands around the place
    shown = line[start : offset - begin + SHOWN]
    caret = "".join("\t" if c == "\t" else " " for c in shown[: offset - begin - start]) + "^"
    number = text.count("\n", 0, offset) + 1
    return DataError(f"{origin}, line {number}: {message}\n  {shown}\n  {caret}")


def _written(digits: str) -> str:
    return str(int(digits)) if re.fullmatch(r"-?\d+", digits) else repr(float(digits))


@dataclass
class _PrologReader:
    """Goes through a text token by token, and through plain facts fact by fact."""

    text: str
    origin: str
    mixed: bool = False
    offset: int = 0
    kind: str = ""
    token: str = ""
    start: int = 0
    tables: dict[str, Coding] = field(default_factory=dict)
    numbers: dict[str, bool] = field(default_factory=dict)
    plain: dict[str, str] = field(default_factory=dict)

    def read(self) -> dict[str, Coding]:
        self.plain_facts()
        self.step()
        while self.kind != "end":
            if self.token == ":-":
                self.directive()
            else:
                self.fact()
            if self.kind == "word":  # plain facts may follow, and the token is where they begin
                self.offset = self.start
                self.plain_facts()
                self.step()
        return self.tables

    def plain_facts(self) -> None:
        """Read plain facts as long as there are."""
        while found := _PLAIN_FACT.match(self.text, self.offset):
            row = self.plain_row(found[2])
            if row is None or self.tables.setdefault(found[1], Coding(len(row))).arity != len(row):
                return
            self.tables[found[1]].add(row)
            self.offset = found.end()

    def plain_row(self, text: str) -> list[str] | None:
        """The constants between the brackets of a fact; None if one needs a closer look."""
        row = []
        for word in text.split(","):
            known = self.plain.get(word)
            if known is None:
                token = word.strip()
                if not _PLAIN_CONSTANT.fullmatch(token):
                    return None
                is_number = not token[0].isalpha()
                if is_number and len(token) > 15:
                    return None
                known = _written(token) if is_number else token
                if not self.mixed and self.numbers.setdefault(known, is_number) != is_number:
                    return None
                self.plain[word] = known
            row.append(known)
        return row

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
        return located(message, self.text, self.start, self.origin)

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
            name = self.unquote(self.token)
        elif self.kind == "word" and not self.is_variable():
            name = self.token
        else:
            raise self.fail(f"expected a fact such as edge(a, b). , got {self.token!r}")
        self.step()
        return name

    def constant(self) -> str:
        if self.kind == "number":
            constant = self.number()
        elif self.kind in ("atom", "string"):
            constant = self.unquote(self.token)
        elif self.kind == "word" and not self.is_variable():
            constant = self.token
        else:
            what = "the variable " if self.kind == "word" else ""
            advice = "; a list is no constant: write one fact for each element" if self.token == "[" else ""
            raise self.fail(f"expected a constant (an atom, a string or a number), got {what}{self.token!r}{advice}")
        is_number = self.kind == "number"
        if not self.mixed and self.numbers.setdefault(constant, is_number) != is_number:
            raise self.fail(f"mixed types: {constant} is a number in one place and text in another; write it one way")
        self.step()
        return constant if self.token != "(" or is_number else self.compound(constant)

    def compound(self, name: str) -> str:
        """A term without variables as the text that is its name."""
        arguments: list[str] = []
        while self.token != ")" or not arguments:
            self.step()
            arguments.append(self.constant())
            if self.token not in (",", ")"):
                raise self.fail(f"expected ',' or ')' in the term {name}(...), got {self.token!r}")
        self.step()
        return f"{name}({','.join(arguments)})"

    def number(self) -> str:
        """A number in the one way it is written: 007 is 7, and 1.50 is 1.5."""
        digits = self.token.replace("_", "")
        if len(digits) > MAX_DIGITS:
            raise self.fail(f"a number of {len(digits)} digits; up to {MAX_DIGITS} are read, and any in quotes")
        if not re.fullmatch(r"-?\d+", digits) and not math.isfinite(float(digits)):
            raise self.fail(f"{digits} is not a number that can be read; put it in quotes")
        return _written(digits)

    def unquote(self, token: str) -> str:
        """What stands in quotes."""

        def one(match: re.Match[str]) -> str:
            code = match.group(1) or match.group(2) or match.group(3)
            if code is not None or match.group(4) is not None:
                number = int(code, 16) if code is not None else int(match.group(4), 8)
                if number > sys.maxunicode or 0xD800 <= number <= 0xDFFF:
                    raise self.fail(f"{match.group()[:20]} is no character; expected the code of one in Unicode")
                return chr(number)
            escaped = match.group(5)
            return match.group()[0] if escaped is None else _ESCAPES.get(escaped, escaped)

        doubled = token[0] * 2
        return _ESCAPE.sub(lambda m: one(m) if m.group()[0] == "\\" or m.group() == doubled else m.group(), token[1:-1])

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
                    if len(self.token) > MAX_ARITY_DIGITS:
                        raise self.fail(f"{name} is declared with {self.token[:20]} arguments; expected up to 9999")
                    self.table(self.unquote(name) if quoted else name, int(self.token), start)
        if self.kind == "end":
            raise self.fail("the directive has no '.' at its end")
        self.step()


@dataclass
class _ExampleReader(_PrologReader):
    """Facts inside ``pos(...)`` or ``neg(...)``."""

    examples: dict[tuple[str, int, str], list[tuple[str, ...]]] = field(default_factory=dict)

    def plain_facts(self) -> None:
        while found := _PLAIN_EXAMPLE.match(self.text, self.offset):
            row = self.plain_row(found[3])
            if row is None:
                return
            self.examples.setdefault((found[2], len(row), found[1]), []).append(tuple(row))
            self.offset = found.end()

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
