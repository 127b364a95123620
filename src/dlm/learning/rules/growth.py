"""How the bank grows: exists over what is there, relations of relations, and conjunctions inside of exists.

The first two go through all combinations of what the last round brought. The third is guided by the rows: a beam
search (`conjunctions`) for what the objects in a relation to positive rows have in common.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, permutations

import numpy as np

from dlm.data.arrays import Floats, Indices
from dlm.data.bits import Words, pack_last, unpack_last
from dlm.learning.rules.bank import ConceptBank, Shelf, lift_columns
from dlm.learning.rules.conjunctions import Conjunction, Groups, search_conjunctions
from dlm.learning.rules.features import Between, Features
from dlm.learning.rules.terms import KEY, All, Apart, Chain, Concept, Link, Negation, Relation, Some, Star
from dlm.learning.rules.universe import EdgeList

__all__ = ["Growth", "Scores"]


SHELF, ENTRIES, LITERALS = 12_000, 2_000_000, 1500
"""Concepts of a type, entries of a context and literals in it, at most."""

TESTS = 8
"""Concepts of a type that arguments of wider facts are tested for, the first ones."""

NEGATED = 200
"""Concepts of a type that are negated inside of exists, the first ones."""

WIDTH, NARROW, FEW = 20, 6, 16
"""States of a beam search for conjunctions at the end of a chain, and fewer of them if there are many chains."""

CHAINS = 64
"""Chains of relations at whose ends conjunctions are looked for, at most."""

WORK = 50_000_000
"""EdgeList times concepts that one relation lifts in a round, at most."""


@dataclass(frozen=True)
class Scores:
    """What the rows ask for: the weight of each as a positive and as a negative one."""

    positive: Floats
    negative: Floats

    def by_object(self, objects: Indices, size: int) -> tuple[Floats, Floats]:
        """The same for the objects of an argument."""
        counts = [np.bincount(objects, weights, size).astype(np.float64) for weights in (self.positive, self.negative)]
        return counts[0], counts[1]


@dataclass
class Growth:
    """Rounds of growth of one bank."""

    bank: ConceptBank
    features: Features
    scores: Scores
    negation: bool = False
    depth: int = 0
    _lifted: dict[tuple[Relation, tuple[int, int], int], set[int]] = field(default_factory=dict)
    _tried: set[object] = field(default_factory=set)

    # ------------------------------------------------------------------ all combinations

    def exists(self, largest: int, *, least: int = 1) -> Iterator[None]:
        """exists y: R(x, y) & C(y), for every relation and concept there is, up to a size."""
        bank = self.bank
        before = [len(shelf) for shelf in bank.shelves]
        for types, found in list(bank.relations.items()):
            for relation, pairs in list(found.items()):
                room = len(bank.shelves[types[0]]) < SHELF or least > 1  # counts are few
                if least * relation.size <= largest and room:
                    self._lift(relation, pairs, before[types[1]], largest // least - relation.size, least)
                    yield
        if least == 1:
            yield from self._stars(before)

    def _lift(self, relation: Relation, pairs: EdgeList, count: int, largest: int, least: int) -> None:
        """Concepts of the second type that were not lifted yet, as ones of the first."""
        bank, target = self.bank, self.bank.shelves[pairs.types[1]]
        done = self._lifted.setdefault((relation, pairs.types, least), set())
        chosen = [place for place in range(count) if place not in done and target.terms[place].size <= largest]
        chosen = chosen[: max(64, WORK // pairs.count)]
        concepts = [target.terms[place] for place in chosen]
        terms = _exists(relation, pairs, concepts) if least == 1 else [Some(relation, each, least) for each in concepts]
        columns = target.columns[chosen]
        if -1 not in done:  # exists y: R(x, y)
            chosen.append(-1)
            terms.insert(0, Some(relation, least=least))
            columns = np.concatenate([pack_last(np.ones((1, target.size), dtype=np.bool_), np.uint64), columns])
        done.update(chosen)
        if terms:
            bank.shelves[pairs.types[0]].add(terms, lift_columns(pairs, columns, bank.universe.sizes, least))

    def exists_not(self, largest: int) -> Iterator[None]:
        """exists y: R(x, y) & ~C(y), for given relations and small concepts; not to have it is to have forall."""
        bank = self.bank
        literals = [self._negated(shelf, largest - 1) for shelf in bank.shelves]
        for (kind, other), found in list(bank.relations.items()):
            terms, columns = literals[other]
            for relation, pairs in list(found.items()):
                if isinstance(relation, Link) and terms and ("not", relation) not in self._tried:
                    self._tried.add(("not", relation))
                    lifted = lift_columns(pairs, columns, bank.universe.sizes)
                    bank.shelves[kind].add(_exists(relation, pairs, terms), lifted)
                    yield

    def _negated(self, shelf: Shelf, largest: int) -> tuple[list[Concept], Words]:
        small = [place for place, term in enumerate(shelf.terms) if term.size <= largest][:NEGATED]
        everything = pack_last(np.ones(shelf.size, dtype=np.bool_), np.uint64)
        return [Negation(shelf.terms[place]) for place in small], ~shelf.columns[small] & everything

    def _stars(self, before: Sequence[int]) -> Iterator[None]:
        """Facts of more than two arguments with concepts of two of the others."""
        bank = self.bank
        for table in bank.universe.wide:
            for place, kind in enumerate(table.types):
                others = [index for index in range(len(table.types)) if index != place]
                for i, j in combinations(others, 2):
                    key = table.link, place, i, j
                    if key in self._tried or len(bank.shelves[kind]) > SHELF:
                        continue
                    self._tried.add(key)
                    self._star(table.link, table.rows, table.types, place, i, j, before)
                    yield

    def _star(
        self, link: Link, rows: Indices, types: tuple[int, ...], place: int, i: int, j: int, before: Sequence[int]
    ) -> None:
        bank = self.bank
        one, two = bank.shelves[types[i]], bank.shelves[types[j]]
        a, b = min(before[types[i]], 60), min(before[types[j]], 60)
        left = unpack_last(one.columns[:a], one.size)[:, rows[:, i]]
        right = unpack_last(two.columns[:b], two.size)[:, rows[:, j]]
        template = tuple("x" if letter == f"a{place}" else letter for letter in link.template)
        size = bank.universe.sizes[types[place]]
        order = np.argsort(rows[:, place], kind="stable")
        owners = rows[order, place]
        starts = np.flatnonzero(np.r_[True, owners[1:] != owners[:-1]]) if len(owners) else np.zeros(0, dtype=np.intp)
        for first in range(a):
            both = (left[first] & right)[:, order]
            if not len(starts):
                continue
            table = np.zeros((b, size), dtype=np.bool_)
            table[:, owners[starts]] = np.logical_or.reduceat(both, starts, axis=1)
            terms = [
                Star(Link(link.predicate, template), ((f"a{i}", one.terms[first]), (f"a{j}", two.terms[second])))
                for second in range(b)
            ]
            bank.shelves[types[place]].add(terms, pack_last(table, np.uint64))

    def tested_links(self) -> Iterator[None]:
        """Relations between two arguments of wider facts of which a third one has a small concept."""
        bank = self.bank
        for table in bank.universe.wide:
            for i, j, k in permutations(range(len(table.types)), 3):
                shelf = bank.shelves[table.types[k]]
                letters = {f"a{i}": "x", f"a{j}": "y"}
                link = Link(table.link.predicate, tuple(letters.get(place, place) for place in table.link.template))
                types, size = (table.types[i], table.types[j]), bank.universe.sizes[table.types[j]]
                small = [place for place, term in enumerate(shelf.terms) if term.size == 1][:TESTS]
                for place, held in zip(small, unpack_last(shelf.columns[small], shelf.size), strict=True):
                    rows = table.rows[held[table.rows[:, k]]]
                    star = Star(link, ((f"a{k}", shelf.terms[place]),))
                    bank.add_relation(star, EdgeList.of(types, rows[:, i], rows[:, j], size))
                yield

    def paths(self, longest: int) -> Iterator[None]:
        """Compositions of relations that lead from one argument of the rows to another."""
        bank = self.bank
        kinds = [kind for kind, _ in self.features.arguments]
        if len(kinds) < 2:
            return
        wanted = {(kinds[i], kinds[j]) for i in range(len(kinds)) for j in range(len(kinds)) if i != j}
        starts = {kind for kind, _ in wanted}
        for first_types, firsts in list(bank.relations.items()):
            if first_types[0] not in starts:
                continue
            for second_types, seconds in list(bank.relations.items()):
                if second_types[0] != first_types[1]:
                    continue
                direct = (first_types[0], second_types[1]) in wanted
                if not direct and longest < 3:
                    continue
                # The second of two is not the longer one, so that up to a length of 3 it is a single step.
                steps = [item for item in _plain(seconds) if _length(item[0]) <= longest // 2]
                for first, a in _plain(firsts):
                    room = min(_length(first), longest - _length(first))
                    for second, b in steps if room > 0 else ():
                        if _length(second) <= room and (first, second) not in self._tried:
                            self._tried.add((first, second))
                            bank.add_path(first, second, a, b)
                    yield

    def unions(self) -> Iterator[None]:
        """One or the other of two given relations of the same types."""
        for found in list(self.bank.relations.values()):
            links = [(term, pairs) for term, pairs in found.items() if isinstance(term, Link)]
            for one, other in combinations(links[:24], 2):
                if ("or", one[0], other[0]) not in self._tried and len(links) <= 24:
                    self._tried.add(("or", one[0], other[0]))
                    self.bank.add_either((one, other))
            yield

    def siblings(self) -> Iterator[None]:
        """Objects that share one they are linked to, and those of them that share a value or differ in one."""
        bank = self.bank
        for (kind, middle), found in list(bank.relations.items()):
            if middle in bank.universe.value_types or kind in bank.universe.value_types:
                continue
            for first, a in list(found.items()):
                if not isinstance(first, Link) or ("siblings", first) in self._tried:
                    continue
                self._tried.add(("siblings", first))
                back = bank.relations.get((middle, kind), {}).get(first.inverse)
                pairs = None if back is None else bank.path(a, back)
                if pairs is not None and bank.add_relation(Chain(first, first.inverse), pairs):
                    bank.add_apart(Chain(first, first.inverse), pairs)
                yield
        for (kind, other), found in list(bank.relations.items()):
            if kind == other:
                for term, pairs in list(found.items()):
                    if isinstance(term, Apart | Link) or (isinstance(term, Chain) and term.size == 2):
                        self._share_values(term, pairs)
                        yield

    def _share_values(self, term: Relation, pairs: EdgeList) -> None:
        """Which of some pairs share a value, or have one that is larger than the other's."""
        bank = self.bank
        for (kind, values), found in list(bank.relations.items()):
            if kind == pairs.types[0] and values in bank.universe.value_types:
                for link, own in list(found.items()):
                    if isinstance(link, Link) and ("share", term, link) not in self._tried:
                        self._tried.add(("share", term, link))
                        bank.add_sharing(term, pairs, link, own, link.inverse)

    def overlaps(self, *, negated: bool = False) -> Iterator[None]:
        """Both of two relations of the same types, the smaller one first."""
        bank = self.bank
        for found in list(bank.relations.values()):
            items = sorted(found.items(), key=lambda item: item[0].size)[:40]
            for (first, a), (second, b) in combinations(items, 2):
                if ("and", first, second, negated) in self._tried:
                    continue
                self._tried.add(("and", first, second, negated))
                small, large = ((first, a), (second, b)) if a.count <= b.count else ((second, b), (first, a))
                if small[0].size + large[0].size <= 4:
                    bank.add_within(small[0], large[0], small[1], large[1], negated=negated)
            yield

    # ------------------------------------------------------------------ guided by the rows

    def inside(self, chains: int) -> Iterator[None]:
        """Conjunctions inside of exists, at the end of chains of relations, the longest first."""
        for length in range(chains, 0, -1):
            for kind, objects in self.features.arguments:
                positive, negative = self.scores.by_object(objects, self.bank.universe.sizes[kind])
                found = self._chains(kind, length)
                for chain in found:
                    self._refine(chain, positive, negative, WIDTH if len(found) <= FEW else NARROW)
                    yield

    def count_chains(self, length: int) -> int:
        """How many chains of relations lead on from the arguments of the rows, about."""
        return sum(len(self._chains(kind, length)) for kind, _ in self.features.arguments)

    def _chains(self, kind: int, length: int) -> list[list[tuple[Relation, EdgeList]]]:
        chains: list[list[tuple[Relation, EdgeList]]] = [[]]
        for _ in range(length):
            longer = []
            for chain in chains:
                at = chain[-1][1].types[1] if chain else kind
                for item in self.bank.relations_from(at):
                    back = chain and isinstance(item[0], Link) and item[0].inverse == chain[-1][0]
                    if not back and _length(item[0]) == 1 and not isinstance(item[0], Star):
                        longer.append([*chain, item])
            chains = longer[:CHAINS]
        return chains

    def _refine(self, chain: list[tuple[Relation, EdgeList]], positive: Floats, negative: Floats, width: int) -> None:
        """What objects at the end of a chain have in common if it begins at positive objects."""
        bank = self.bank
        whole: EdgeList | None = chain[0][1]
        for _, pairs in chain[1:]:
            whole = None if whole is None else bank.path(whole, pairs)
        if whole is None or not whole.count or whole.count > ENTRIES:
            return
        asked = (positive + negative > 0)[whole.x]
        x, y = whole.x[asked], whole.y[asked]
        if not len(x):
            return
        terms, columns = self._literals(whole.types[1], len(x))
        if len(terms) < 2:
            return
        starts = np.flatnonzero(np.r_[True, x[1:] != x[:-1]])
        owners = x[starts]
        groups = Groups(len(starts), starts, positive[owners], negative[owners])
        shelf = bank.shelves[whole.types[1]]
        entries = pack_last(unpack_last(columns, shelf.size)[:, y], np.uint64)
        sizes = np.array([term.size for term in terms], dtype=np.int64)
        found = search_conjunctions(entries, sizes, groups, width=width, length=3, keep=4 * width)
        last, pairs = chain[-1]
        source = bank.shelves[pairs.types[0]]
        longer = [each for each in found if len(each.literals) > 1 or isinstance(terms[each.literals[0]], Negation)]
        if not longer:
            return
        inner = np.stack([np.bitwise_and.reduce(columns[list(each.literals)], axis=0) for each in longer])
        outer = _exists(last, pairs, [_all(each, terms) for each in longer])
        lifted = lift_columns(pairs, inner, bank.universe.sizes)
        source.add(outer, lifted)
        for step in range(len(chain) - 2, -1, -1):
            relation, pairs = chain[step]
            outer = _exists(relation, pairs, outer)
            lifted = lift_columns(pairs, lifted, bank.universe.sizes)
            bank.shelves[pairs.types[0]].add(outer, lifted)

    def _literals(self, kind: int, entries: int) -> tuple[list[Concept], Words]:
        """The smallest concepts of a type, and their negations if there is to be negation."""
        shelf = self.bank.shelves[kind]
        most = max(2, min(LITERALS, (1 << 28) // max(entries, 1)))
        order = np.argsort([term.size for term in shelf.terms], kind="stable")[:most]
        terms = [shelf.terms[place] for place in order.tolist()]
        columns = shelf.columns[order]
        if not self.negation:
            return terms, columns
        turned = list(range(len(terms)))
        if not self.features.bias.forall:
            turned = [place for place in turned if _is_plain(terms[place])]
        everything = pack_last(np.ones(shelf.size, dtype=np.bool_), np.uint64)
        denied = [Negation(terms[place]) for place in turned]
        return [*terms, *denied], np.concatenate([columns, ~columns[turned] & everything])

    def negate(self) -> Iterator[None]:
        """From now on what is not so counts too."""
        self.negation = True
        yield

    def between(self, most: int = 24) -> Iterator[None]:
        """Conjunctions about the object in the middle of a path from one argument to another."""
        features = self.features
        features.gather()
        ranked = []
        for term, column in zip(features.terms, features.columns, strict=True):
            if isinstance(term, Between) and isinstance(term.relation, Chain) and term.relation.over.size == 0:
                said = unpack_last(column, features.rows)
                p, n = float(self.scores.positive[said].sum()), float(self.scores.negative[said].sum())
                if p > 0 and n > 0:
                    ranked.append((p / (p + n) * p, term))
        ranked.sort(key=lambda item: -item[0])
        for _, term in ranked[:most]:
            if ("mid", term, self.negation) not in self._tried:
                self._tried.add(("mid", term, self.negation))
                self._middle(term)
                yield

    def _middle(self, term: Between) -> None:
        path, bank = term.relation, self.bank
        assert isinstance(path, Chain)
        (kind, x), (other, y) = (self.features.arguments[place] for place in term.places)
        for a in [pairs for relation, pairs in bank.relations_from(kind) if relation == path.first]:
            b = bank.relations.get((a.types[1], other), {}).get(path.second)
            if b is None:
                continue
            size = bank.universe.sizes[kind]
            if a.count_from(x, size) > ENTRIES:
                continue
            rows, z = a.pairs_from(x, size)
            on = bank.member(b, z, y[rows])
            rows, z = rows[on], z[on]
            if not len(rows):
                continue
            self._search_middle(term, path, a.types[1], rows, z)

    def _search_middle(self, term: Between, path: Chain, kind: int, rows: Indices, z: Indices) -> None:
        terms, columns = self._literals(kind, len(rows))
        if not terms:
            return
        starts = np.flatnonzero(np.r_[True, rows[1:] != rows[:-1]])
        owners = rows[starts]
        groups = Groups(len(starts), starts, self.scores.positive[owners], self.scores.negative[owners])
        entries = pack_last(unpack_last(columns, self.bank.shelves[kind].size)[:, z], np.uint64)
        sizes = np.array([each.size for each in terms], dtype=np.int64)
        for each in search_conjunctions(entries, sizes, groups, width=6, length=2, keep=12):
            bits = np.bitwise_and.reduce(entries[list(each.literals)], axis=0)
            held = np.logical_or.reduceat(unpack_last(bits, len(rows)), starts)
            column = np.zeros(self.features.rows, dtype=np.bool_)
            column[owners[held]] = True
            over = Chain(path.first, path.second, _all(each, terms))
            self.features.add([Between(term.places, over)], pack_last(column[None], np.uint64))


def _all(found: Conjunction, terms: Sequence[Concept]) -> Concept:
    parts = tuple(terms[place] for place in found.literals)
    return parts[0] if len(parts) == 1 else All(parts)


def _exists(relation: Relation, pairs: EdgeList, concepts: Sequence[Concept]) -> list[Concept]:
    """``exists y: R(x, y) & C(y)`` for several C. If R leads to no y from two objects, what C says of the object that y
    comes from is said of x itself: ``age(x) > 50`` and not ``exists z: R(z, y) & age(z) > 50``."""
    if not isinstance(relation, Link) or relation.key or not pairs.count or np.bincount(pairs.y).max() > 1:
        return [Some(relation, concept) for concept in concepts]
    back = relation.inverse
    return [_said_at_home(relation, back, concept) for concept in concepts]


def _said_at_home(relation: Link, back: Link, concept: Concept) -> Concept:
    here: list[Concept] = []
    there: list[Concept] = []
    for part in _parts(concept):
        body = part.body if isinstance(part, Negation) else part
        if isinstance(body, Some) and body.relation == back and body.least == 1:
            here += [Negation(body.concept)] if isinstance(part, Negation) else _parts(body.concept)
        else:
            there.append(part)
    if len(there) == len(_parts(concept)):
        return Some(relation, concept)
    return All((*here, Some(relation, there[0] if len(there) == 1 else All(tuple(there)))))


def _parts(concept: Concept) -> Sequence[Concept]:
    return concept.parts if isinstance(concept, All) else (concept,)


def _is_plain(term: Concept) -> bool:
    """Whether a concept is an atom without a quantifier."""
    return isinstance(term, Link) and all(place in ("x", KEY) for place in term.template)


def _plain(relations: Mapping[Relation, EdgeList]) -> list[tuple[Relation, EdgeList]]:
    """Without those that test a further argument, of which there are many."""
    return [item for item in relations.items() if not isinstance(item[0], Star)]


def _length(term: Relation) -> int:
    """How many steps a relation takes."""
    return _length(term.first) + _length(term.second) if isinstance(term, Chain) else 1
