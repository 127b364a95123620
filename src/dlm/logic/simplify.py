"""Program -> Program: the same target, never larger, easier to read.

The formulas are rewritten one by one (`dlm.logic.rewrite`). Between definitions: parameters that
nothing depends on go, definitions that say the same become one, and a definition is put in the place
of its uses when this makes the program smaller. All of it is repeated until nothing changes.

In the end inequalities that are not needed go (`dlm.logic.guards`), and so do definitions that are only
used denied.

A decision list stays one: its rules are simplified side by side, and those that can never decide go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import count, permutations

from dlm.logic.canonical import apply, fresh_variables, key, local_key, tidy
from dlm.logic.formulas import conjunction, conjuncts, free_variables, map_children
from dlm.logic.guards import drop_guards
from dlm.logic.lists import RuleList, rules_of
from dlm.logic.rewrite import gather_signs, opposite, rewrite, signs
from dlm.logic.syntax import (
    FALSE,
    MAX_DEPTH,
    TRUE,
    Atom,
    Definition,
    Formula,
    Not,
    Program,
    Truth,
    atoms,
    literals,
    measure,
    subformulas,
)

__all__ = ["simplify"]

_MAX_PERMUTED_ARITY = 4
"""Predicates of more arguments are compared with the arguments in the order they have."""

Definitions = list[Definition]


def simplify(program: Program, named: Collection[str] = ()) -> Program:
    """A program with the same target on every structure that is never larger and easier to read.

    The target keeps its name and its number of arguments. The `named` definitions that it needs stay definitions with
    their names; of several that say the same, the first one. Other definitions become p1, p2, ..., variables
    x, y, z, ... To simplify the result again with the same names changes nothing.
    """
    listed = rules_of(program)
    if listed is None:
        return _program(_simplify(program.definitions, (program.target.name,), named), program)
    roots = tuple(name for name, _ in listed.names)
    rules = [Definition(name, listed.parameters, rule) for name, rule in zip(roots, listed.rules, strict=True)]
    simple = _simplify((*listed.definitions, *rules), roots, named)
    before, found = simple[: -len(roots)], simple[-len(roots) :]
    deciding = _deciding([definition.body for definition in found], found[0].arity)
    result = _program(RuleList(before, listed.name, found[0].parameters, deciding).written(), program)
    # Without a rule, what only that rule has used may go too.
    return result if len(deciding) == len(roots) else simplify(result, named)


def _program(definitions: tuple[Definition, ...], given: Program) -> Program:
    """The definitions as a program; the given one if they have become deeper than a program may be."""
    return Program(definitions) if max(d.depth for d in definitions) <= MAX_DEPTH else given


def _deciding(rules: Sequence[Formula], arity: int) -> tuple[Formula, ...]:
    """The rules without those that are false, or false wherever no rule before them works."""
    found: dict[frozenset[str], Formula] = {}
    for rule in rules:
        said = frozenset(map(local_key, conjuncts(rule)))
        if rule != FALSE and not any(earlier <= said for earlier in found):
            found[said] = rule
        if rule == TRUE and arity < 2:
            break  # Of two objects or more it may be true and not work, where there are too few different ones.
    return _shared_first(tuple(found.values()))


def _shared_first(rules: tuple[Formula, ...]) -> tuple[Formula, ...]:
    """The rules with the conditions that they have in common first: people are told these once."""
    options = [conjuncts(rule) for rule in rules]
    common = [part for part in options[0] if all(part in parts for parts in options)] if options else []
    return tuple(conjunction((*common, *(part for part in parts if part not in common))) for parts in options)


def _simplify(given: Sequence[Definition], roots: Sequence[str], named: Collection[str]) -> tuple[Definition, ...]:
    """The definitions that the last ones, the `roots`, need, and these, which keep name, arity and order."""
    fresh = fresh_variables()
    definitions = [_rename_apart(definition, fresh) for definition in given]
    rewritten: set[Definition] = set()
    while True:
        before = definitions
        # Most definitions are as the last round left them; looking again is what would take the time.
        definitions = [d if d in rewritten else _rewrite(d) for d in _drop_unused(definitions, roots)]
        rewritten = set(definitions)
        definitions = _drop_parameters(definitions, roots, fresh)
        definitions = _merge(definitions, roots, fresh)
        definitions = _inline(definitions, roots, named, fresh)
        if definitions == before:
            # Only now, since quantifiers are merged only if they range over the same objects.
            definitions = _turn(_map_bodies(drop_guards, definitions), {*roots, *named})
        if definitions == before:
            shown = _map_bodies(gather_signs, definitions)
            # What was gathered may be simpler together; if not, the rules only take it apart again.
            again = [d if d in rewritten else _rewrite(d) for d in shown]
            if shown == definitions or _size(again) >= _size(definitions):
                return tidy(shown, _names(shown, {*roots, *named}))
            definitions = again


def _size(definitions: Definitions) -> tuple[int, ...]:
    """What the rules make smaller, the most important first."""
    sizes = [(*measure(definition.body), signs(definition.body)) for definition in definitions]
    return tuple(map(sum, zip(*sizes, strict=True)))


def _map_bodies(function: Callable[[Formula], Formula], definitions: Definitions) -> Definitions:
    """The definitions with a function applied to their bodies, but for those that would get too deep."""
    found = [(definition, function(definition.body)) for definition in definitions]
    mapped = [d if body == d.body else Definition(d.name, d.parameters, body) for d, body in found]
    return [new if new.depth <= MAX_DEPTH else old for new, old in zip(mapped, definitions, strict=True)]


def _rename_apart(definition: Definition, fresh: Iterator[str]) -> Definition:
    parameters = tuple(next(fresh) for _ in definition.parameters)
    return Definition(definition.name, parameters, apply(definition, parameters, fresh))


def _rewrite(definition: Definition) -> Definition:
    body = rewrite(definition.body, {parameter: frozenset() for parameter in definition.parameters})
    simple = Definition(definition.name, definition.parameters, body)
    # A quantifier that moves inwards may leave a conjunction where there was none.
    return simple if simple.depth <= MAX_DEPTH else definition


def _names(definitions: Definitions, named: Collection[str]) -> dict[str, str]:
    """New names for the definitions that are not `named`, which no input and no `named` definition has."""
    invented = [definition.name for definition in definitions if definition.name not in named]
    read = {atom.predicate for definition in definitions for atom in atoms(definition.body)}
    taken = (read - set(invented)).union(named)
    free = (name for name in (f"p{number}" for number in count(1)) if name not in taken)
    return {name: next(free) for name in invented}


def _unfold(definition: Definition, meanings: Mapping[str, Definition], fresh: Iterator[str]) -> Definition:
    """Replace the atoms of the predicates in `meanings` by what these say."""
    if meanings.keys().isdisjoint(atom.predicate for atom in atoms(definition.body)):
        return definition

    def unfold(formula: Formula) -> Formula:
        if isinstance(formula, Atom):
            meaning = meanings.get(formula.predicate)
            return formula if meaning is None else apply(meaning, formula.args, fresh)
        return map_children(formula, unfold)

    return Definition(definition.name, definition.parameters, unfold(definition.body))


def _drop_unused(definitions: Definitions, roots: Sequence[str]) -> Definitions:
    """Only the definitions that the roots read, directly or through others."""
    used = set(roots)
    for definition in reversed(definitions):
        if definition.name in used:
            used.update(atom.predicate for atom in atoms(definition.body))
    return [definition for definition in definitions if definition.name in used]


def _drop_parameters(definitions: Definitions, roots: Sequence[str], fresh: Iterator[str]) -> Definitions:
    """p(x, y) :- a(x) becomes p(x) :- a(x), and so do the uses of p."""
    meanings: dict[str, Definition] = {}
    result: Definitions = []
    for definition in definitions:
        name, parameters, body = definition.name, definition.parameters, _unfold(definition, meanings, fresh).body
        free = parameters if name in roots else free_variables(body)
        kept = tuple(parameter for parameter in parameters if parameter in free)
        result.append(Definition(name, kept, body))
        if kept != parameters:
            meanings[name] = Definition(name, parameters, Atom(name, kept))
    return result


def _merge(definitions: Definitions, roots: Sequence[str], fresh: Iterator[str]) -> Definitions:
    """One definition for all that say the same, or the opposite, up to the order of their parameters."""
    alike: dict[str, Definitions] = {}
    meanings: dict[str, Definition] = {}
    result: Definitions = []
    for definition in definitions:
        unfolded = _unfold(definition, meanings, fresh)
        # The key without regard to parameters sorts out nearly all that cannot be the same.
        anonymous = dict.fromkeys(unfolded.parameters, "$")
        group = alike.setdefault(min(key(unfolded.body, anonymous, sign) for sign in (True, False)), [])
        same = next((found for other in group if (found := _as_use_of(other, unfolded)) is not None), None)
        if definition.name in roots:
            shorter = same is not None and literals(same.body) < literals(unfolded.body)
            result.append(same if same is not None and shorter else unfolded)
        elif same is not None:
            meanings[definition.name] = same
        else:
            group.append(unfolded)
            result.append(unfolded)
    return result


def _as_use_of(other: Definition, definition: Definition) -> Definition | None:
    """The definition as a literal of `other`, if both say the same or the opposite."""
    arity = definition.arity
    if other.arity != arity:
        return None
    wanted = key(other.body, {parameter: f"${place}" for place, parameter in enumerate(other.parameters)})
    for args in permutations(definition.parameters) if arity <= _MAX_PERMUTED_ARITY else [definition.parameters]:
        places = {parameter: f"${place}" for place, parameter in enumerate(args)}
        if key(definition.body, places) == wanted:
            return Definition(definition.name, definition.parameters, Atom(other.name, args))
        if key(definition.body, places, positive=False) == wanted:
            return Definition(definition.name, definition.parameters, Not(Atom(other.name, args)))
    return None


def _inline(
    definitions: Definitions, roots: Sequence[str], named: Collection[str], fresh: Iterator[str]
) -> Definitions:
    """Put a definition in the place of its uses where this makes the program smaller, unless it has a name to keep.

    Definitions come before their uses, so the count of uses stays right while earlier ones are inlined.
    """
    uses = Counter(atom.predicate for definition in definitions for atom in atoms(definition.body))
    # A long chain of definitions stays several: nobody reads formulas nested without end.
    room = MAX_DEPTH - max(definition.depth for definition in definitions)
    meanings: dict[str, Definition] = {}
    result: Definitions = []
    for definition in definitions:
        unfolded = _unfold(definition, meanings, fresh)
        smaller = _growth(unfolded.body, uses[definition.name]) < (0, 0, 0, 0)
        kept = definition.name in roots or (definition.name in named and not isinstance(unfolded.body, Truth))
        if not kept and smaller and unfolded.depth <= room:
            meanings[definition.name] = unfolded
        else:
            result.append(unfolded)
    return result


def _turn(definitions: Definitions, named: Collection[str]) -> Definitions:
    """d(x) :- ~F that is used as ~d(x) becomes d(x) :- F: what is not named may as well be called its opposite."""
    parts = [part for definition in definitions for part in subformulas(definition.body)]
    denied = {part.body.predicate for part in parts if isinstance(part, Not) and isinstance(part.body, Atom)}
    users: dict[str, set[int]] = {}
    for at, definition in enumerate(definitions):
        for atom in atoms(definition.body):
            users.setdefault(atom.predicate, set()).add(at)
    result = list(definitions)
    for place, name in enumerate(definition.name for definition in definitions):
        if name in named or name not in denied:
            continue
        turned = {at: _with_opposite(result[at], name) for at in users[name]}
        turned[place] = Definition(name, result[place].parameters, opposite(result[place].body))
        if sum(signs(each.body) for each in turned.values()) < sum(signs(result[at].body) for at in turned):
            for at, each in turned.items():
                result[at] = each
    return result


def _with_opposite(definition: Definition, name: str) -> Definition:
    """The definition with a predicate that has become its opposite."""

    def oppose(formula: Formula) -> Formula:
        match formula:
            case Atom(predicate) if predicate == name:
                return Not(formula)
            case Not(Atom(predicate) as atom) if predicate == name:
                return atom
            case _:
                return map_children(formula, oppose)

    return Definition(definition.name, definition.parameters, oppose(definition.body))


def _growth(body: Formula, uses: int) -> tuple[int, int, int, int]:
    """By how much `Program.size` grows when a definition is inlined: one copy less, one for each use more."""
    copies = uses - 1
    literal, quantifier, inequality = measure(body)
    return copies * literal - uses, copies * quantifier, copies * inequality, -1
