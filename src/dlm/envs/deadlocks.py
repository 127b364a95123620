"""The least number of moves that turn one arrangement of blocks into another.

Every block that is not in its place moves at least once. In a shortest plan a block goes to its place, or to the
ground first if it is in a deadlock: its place can only be made ready after it has gone away. The plan is as long as
the number of misplaced blocks plus the number of those that go over the ground, so the question is how few these can
be (Gupta and Nau, 1992: finding out is NP-hard in general). Write F(b) for the first move of a misplaced block b and
L(b) for its last. Then

- F(c) comes before F(b) if c stands on b,
- L(c) comes before L(b) if c is misplaced and b's place is on c,
- F(c) comes before L(b) if b's place is on a block that is in its place already but has c on it,
- F(b) comes before L(b), and L(b) before F(b) too unless b goes over the ground: then they are one move.

A set of blocks that go over the ground makes a plan if and only if what is left has no cycle. The search looks for a
shortest cycle, one of whose blocks must go over the ground, and tries each, deeper and deeper.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

__all__ = ["LeastMoves", "least_moves"]

SEARCH_NODES = 3000
"""Budget of cycles visited; beyond it the result is an upper bound."""

GROUND = 0


class LeastMoves(NamedTuple):
    """How many moves are enough, and whether fewer are impossible."""

    moves: int
    exact: bool


def least_moves(source: list[int], target: list[int], nodes: int = SEARCH_NODES) -> LeastMoves:
    """The least number of moves between two arrangements, each given as what block b stands on; 0 is the ground."""
    order = _Order.of(source, target)
    least = order.disjoint_cycles()
    search = _CycleSearch(order, nodes)
    for over_ground in range(least, len(order.misplaced) + 1):
        try:
            if search.breakable(frozenset(), over_ground):
                return LeastMoves(len(order.misplaced) + over_ground, True)
        except _OutOfNodes:
            break
    return LeastMoves(len(order.misplaced) + len(order.break_greedily()), False)


@dataclass(frozen=True)
class _Order:
    """What must happen before what: successors of F(b), numbered 2 b, and of L(b), numbered 2 b + 1."""

    misplaced: tuple[int, ...]
    after: dict[int, tuple[int, ...]]

    @classmethod
    def of(cls, source: list[int], target: list[int]) -> _Order:
        blocks = range(1, len(source))
        on_top = {source[block]: block for block in blocks if source[block] != GROUND}
        misplaced = [block for block in blocks if not _placed(block, source, target)]
        wrong = set(misplaced)
        after: dict[int, list[int]] = {event: [] for block in misplaced for event in (2 * block, 2 * block + 1)}
        for block in misplaced:
            after[2 * block].append(2 * block + 1)
            if block in on_top:
                after[2 * on_top[block]].append(2 * block)
            place = target[block]
            if place in wrong:
                after[2 * place + 1].append(2 * block + 1)
            elif place != GROUND and place in on_top:
                after[2 * on_top[place]].append(2 * block + 1)
        return cls(tuple(misplaced), {event: tuple(later) for event, later in after.items()})

    def cycle(self, over_ground: frozenset[int]) -> tuple[int, ...] | None:
        """The blocks that would close a cycle by moving only once: as few as possible; None if there is no cycle."""
        best: tuple[int, ...] | None = None
        for block in self.misplaced:
            if block not in over_ground:
                found = self._closing(block, over_ground, len(best) if best else len(self.misplaced) + 1)
                if found is not None:
                    best = found
                    if len(best) == 1:
                        break
        return best

    def _closing(self, block: int, over_ground: frozenset[int], shorter_than: int) -> tuple[int, ...] | None:
        """The blocks that move once on a way from F(block) to L(block), itself among them: as few as possible."""
        start, goal = 2 * block, 2 * block + 1
        came: dict[int, int] = {start: -1}
        cost = {start: 1}
        waiting = deque([start])
        while waiting:
            event = waiting.popleft()
            # The edge from F(block) to L(block) itself closes nothing.
            steps = [(later, 0) for later in self.after[event] if (event, later) != (start, goal)]
            if event % 2 and event // 2 not in over_ground:
                steps.append((event - 1, 1))
            for later, price in steps:
                total = cost[event] + price
                if total < cost.get(later, shorter_than):
                    cost[later] = total
                    came[later] = event
                    if price:
                        waiting.append(later)
                    else:
                        waiting.appendleft(later)
        if goal not in cost:
            return None
        single, event = [block], goal
        while event != start:
            before = came[event]
            if before == event + 1:
                single.append(event // 2)
            event = before
        return tuple(single)

    def disjoint_cycles(self) -> int:
        """A lower bound: cycles that share no single move need a block over the ground each."""
        found, removed = 0, frozenset[int]()
        while (cycle := self.cycle(removed)) is not None:
            found += 1
            removed = removed.union(cycle)
        return found

    def break_greedily(self) -> frozenset[int]:
        """Blocks over the ground that break every cycle: one of each shortest cycle, not always the fewest."""
        chosen = frozenset[int]()
        while (cycle := self.cycle(chosen)) is not None:
            chosen = chosen | {cycle[0]}
        return chosen


def _placed(block: int, source: list[int], target: list[int]) -> bool:
    """Whether a block and all below it stand where they belong."""
    while source[block] == target[block]:
        block = source[block]
        if block == GROUND:
            return True
    return False


class _OutOfNodes(Exception):
    """The search gives up."""


@dataclass
class _CycleSearch:
    order: _Order
    nodes: int
    _failed: dict[frozenset[int], int] = field(default_factory=dict)

    def breakable(self, over_ground: frozenset[int], more: int) -> bool:
        """Whether at most `more` further blocks over the ground break every cycle."""
        if self._failed.get(over_ground, -1) >= more:
            return False
        if self.nodes == 0:
            raise _OutOfNodes
        self.nodes -= 1
        cycle = self.order.cycle(over_ground)
        if cycle is None:
            return True
        if more > 0 and any(self.breakable(over_ground | {block}, more - 1) for block in cycle):
            return True
        self._failed[over_ground] = more
        return False
