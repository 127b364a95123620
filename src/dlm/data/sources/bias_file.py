"""Popper's ``bias.pl``: what a program may be made of. It is written in the language of clingo.

Understood are ``head_pred``, ``body_pred``, ``type`` and ``constant``, rules that derive them, and the constraint that
says that every clause is about one object of a type, that is, that each such object is a world of its own::

    :- clause(C), #count{V : var_type(C,V,ex)} != 1.

What only guides Popper's own search (``max_vars``, ``direction``) is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

from dlm.data.readers.prolog import located, read_text

__all__ = ["PopperBias", "read_bias"]

Term = str | tuple["Term", ...]
Statement = tuple[str, tuple[Term, ...]]

SEARCH_ONLY = {
    *("max_vars", "max_body", "max_clauses", "max_size", "max_literals", "direction", "enable_pi"),
    *("allow_singletons", "non_datalog", "datalog", "singleton", "bound", "min_size", "timeout", "solver"),
}

_TOKEN = re.compile(
    r"""(?P<space>\s+|%[^\n]*)
    |(?P<word>\w+|'(?:[^'\\]|\\.)*'|"[^"]*")
    |(?P<symbol>:-|!=|\#\w+|[(),.{}:;=<>|+*/-])
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_ONE_OF_TYPE = re.compile(r"clause\((\w+)\),#count\{(\w+):var_type\(\1,\2,(\w+)\)\}!=1")


@dataclass
class PopperBias:
    """What a file says. `key` is the type of which every clause has one variable; `ignored` are rules passed over."""

    heads: dict[str, int] = field(default_factory=dict)
    bodies: dict[str, int] = field(default_factory=dict)
    types: dict[str, tuple[str, ...]] = field(default_factory=dict)
    key: str | None = None
    recursion: bool = False
    invention: bool = False
    ignored: list[str] = field(default_factory=list)


def read_bias(path: Path) -> PopperBias:
    """The bias in a file."""
    text = read_text(path)
    facts: dict[Statement, int] = {}
    rules: list[tuple[Statement, list[Statement]]] = []
    bias = PopperBias()
    for offset, tokens in _statements(text, str(path)):
        shown = "".join(tokens)
        if tokens[0] == ":-":
            found = _ONE_OF_TYPE.fullmatch("".join(tokens[1:]))
            if found is None:
                bias.ignored.append(shown)
            else:
                bias.key = found[3]
            continue
        try:
            head, body = _rule(tokens)
        except ValueError:
            bias.ignored.append(shown)
            continue
        if body:
            rules.append((head, body))
        else:
            facts.setdefault(head, offset)
    for head in [*facts, *_derived(rules, list(facts))]:
        _declare(head, bias, text, facts.get(head, 0), str(path))
    return bias


def _declare(statement: Statement, bias: PopperBias, text: str, offset: int, origin: str) -> None:
    match statement:
        case ("head_pred" | "body_pred" as kind, (str(name), str(arity))) if arity.isdecimal():
            (bias.heads if kind == "head_pred" else bias.bodies)[_bare(name)] = int(arity)
        case ("type", (str(name), tuple(types))) if all(isinstance(one, str) for one in types):
            bias.types[_bare(name)] = tuple(_bare(str(one)) for one in types)
        case ("head_pred" | "body_pred" | "type" as kind, _):
            example = "type(edge,(node,node))" if kind == "type" else f"{kind}(edge,2)"
            raise located(f"expected something such as {example}.", text, offset, origin)
        case ("enable_recursion", _):
            bias.recursion = True
        case ("enable_pi", _):
            bias.invention = True
        case (name, _) if name not in SEARCH_ONLY and name != "constant":
            bias.ignored.append(name)


def _statements(text: str, origin: str) -> Iterator[tuple[int, list[str]]]:
    """Statements as lists of tokens, with the offset of each."""
    tokens: list[str] = []
    begin = 0
    for match in _TOKEN.finditer(text):
        if match.lastgroup == "space":
            continue
        if not tokens:
            begin = match.start()
        if match.group() == "." and not text[match.end() : match.end() + 1].isdecimal():
            if tokens:
                yield begin, tokens
            tokens = []
        else:
            tokens.append(match.group())
    if tokens:
        raise located("this statement has no '.' at its end", text, begin, origin)


def _rule(tokens: list[str]) -> tuple[Statement, list[Statement]]:
    """Head and body of a rule of plain atoms; ValueError for anything else."""
    cut = tokens.index(":-") if ":-" in tokens else len(tokens)
    (head,) = _atoms(tokens[:cut])
    return head, _atoms(tokens[cut + 1 :])


def _atoms(tokens: list[str]) -> list[Statement]:
    found: list[Statement] = []
    rest = list(reversed(tokens))
    while rest:
        name = rest.pop()
        if not (name[0].isalpha() or name[0] == "_"):
            raise ValueError(name)
        found.append((name, _arguments(rest) if rest and rest[-1] == "(" else ()))
        if rest and rest.pop() != ",":
            raise ValueError
    return found


def _arguments(rest: list[str]) -> tuple[Term, ...]:
    """What stands in brackets; a comma may end it, as in ``(node,)``."""
    rest.pop()
    terms: list[Term] = []
    while rest and rest[-1] != ")":
        if rest[-1] == "(":
            terms.append(_arguments(rest))
        else:
            word = rest.pop()
            if not re.match(r"[\w'\"]", word):
                raise ValueError(word)
            terms.append(word)
        if rest and rest[-1] == ",":
            rest.pop()
        elif not rest or rest[-1] != ")":
            raise ValueError
    if not rest:
        raise ValueError
    rest.pop()
    return tuple(terms)


def _derived(rules: list[tuple[Statement, list[Statement]]], facts: list[Statement]) -> Iterator[Statement]:
    """What rules such as ``body_pred(P,1) :- constant(P,_).`` say, each applied once to the facts."""
    for (name, terms), body in rules:
        choices = [[fact for fact in facts if fact[0] == atom[0]] for atom in body]
        for chosen in product(*choices):
            binding: dict[str, Term] = {}
            if all(_match(atom[1], fact[1], binding) for atom, fact in zip(body, chosen, strict=True)):
                derived = _substituted(terms, binding)
                assert isinstance(derived, tuple)
                yield name, derived


def _match(pattern: Term, term: Term, binding: dict[str, Term]) -> bool:
    if isinstance(pattern, tuple):
        same = isinstance(term, tuple) and len(pattern) == len(term)
        return same and all(_match(one, other, binding) for one, other in zip(pattern, term, strict=True))
    if pattern == "_":
        return True
    if pattern[0].isupper() or pattern[0] == "_":
        return binding.setdefault(pattern, term) == term
    return pattern == term


def _substituted(term: Term, binding: dict[str, Term]) -> Term:
    if isinstance(term, tuple):
        return tuple(_substituted(part, binding) for part in term)
    return binding.get(term, term)


def _bare(word: str) -> str:
    return word[1:-1] if word[0] in "'\"" else word
