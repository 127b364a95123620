"""Exact discrete search over the choices of a machine.

The same hypothesis space as the gradient learner's, without relaxation: a state is a table of
choices, and the error of its program is computed exactly on a sample of worlds packed into bits. One
move takes one atom of one predicate that the target uses and resamples its choice from a Gibbs
distribution over all its literals, exp(-(error + size weight * predicates used) / temperature); a
second kind of move redefines a predicate by a pair of literals and may change its connective. The
temperature falls, the state freezes; then a new sample is drawn with more of the worlds that the
frozen program gets wrong, and the cycle repeats from a lower temperature, or the search restarts when
its patience is over. Depths up to the machine's own are tried, those that come closest more often, so
that shallow programs are found first. `docs/learning.md` tells what each part is for.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dlm import seeds
from dlm.data.worlds import Examples
from dlm.errors import RunError
from dlm.learning.circuit import Circuit, Netlist
from dlm.learning.fit import Fit
from dlm.learning.packing import pack_examples
from dlm.learning.pool import Pool, PoolState
from dlm.learning.sampling import training_sizes
from dlm.learning.verify import wrong_atoms
from dlm.logic.syntax import Program
from dlm.runs.checkpoint import choices_of, examples_of
from dlm.runs.learner import Candidate, Report
from dlm.seeds import Stream
from dlm.space.choices import Choices, embed_choices, program_of, random_choices
from dlm.space.settings import MachineSettings
from dlm.space.wiring import Wiring, wire
from dlm.tasks.task import Task

__all__ = ["Cooling", "RestartSettings", "SearchLearner", "SearchSettings", "SearchState"]


NEAR = 0.05
"""A program wrong on a smaller share of the pool's worlds is almost right."""


@dataclass(frozen=True)
class Cooling:
    """A cycle of falling temperature."""

    moves: int = 70  # for each layer of the machine: deeper machines need longer cycles
    quench: int = 20  # moves at temperature 0 after them, for each layer
    hot: float = 0.06  # temperature at the beginning
    cold: float = 0.002  # and at the end
    reheat: float = 0.5  # factor on `hot` after the first cycle of a restart


@dataclass(frozen=True)
class RestartSettings:
    """When to restart, and from what."""

    cycles: int = 8  # of a restart, at most
    patience: int = 2  # cycles without a better program before the next
    grow: float = 0.5  # share of the restarts that grow the best state of a shallower machine
    suggested: float = 0.25  # share from a suggestion, if there is one
    depth_temperature: float = 0.05  # of the choice of a depth, by how close its restarts came


@dataclass(frozen=True)
class SearchSettings:
    """How the search spends its moves. One set of values serves all tasks."""

    pool: int = 512  # training worlds to sample from
    sample: int = 64  # worlds that a program is scored on
    hard: float = 0.7  # share of them that is drawn by how often programs were wrong there
    cells: int = 1000  # in the widest table of a world; sets the size of training worlds
    cooling: Cooling = Cooling()
    restart: RestartSettings = RestartSettings()
    size_weight: float = 0.001  # penalty for each predicate that the target uses
    pair_share: float = 0.1  # of the moves that redefine a predicate by a pair of literals
    pair_budget: int = 256  # pairs that such a move looks at
    slice: int = 100  # moves a call of `advance`
    fresh: int = 200  # worlds of each size that a program without error on the pool is tried on
    mined: int = 10000  # worlds that are drawn in search of those that an almost-right program gets wrong
    false_alarm: float = 0.0  # matters only where any of several answers will do; see `Packing`


@dataclass
class SearchRestart:
    """How a restart goes. `best` is the share of the pool's worlds that its best choices get wrong, and the choices."""

    depth: int
    origin: str  # who made the choices that it began from
    cycle: int = 0
    move: int = 0  # of the cycle
    stale: int = 0  # cycles without a better program
    best: tuple[float, Choices] | None = None


@dataclass
class SearchStanding:
    """What goes on from restart to restart."""

    steps: int = 0
    restarts: int = 0
    fit: Fit | None = None  # of the best program so far
    depth_error: dict[int, float] = field(default_factory=dict)  # how close the restarts of a depth came
    elite: dict[int, tuple[float, Choices]] = field(default_factory=dict)  # the best choices of each depth

    def copy(self) -> SearchStanding:
        return replace(self, depth_error=dict(self.depth_error), elite=dict(self.elite))


@dataclass(frozen=True)
class SearchState:
    """All that the next move depends on."""

    rng: np.random.Generator
    pool: PoolState
    sample: list[Examples]
    choices: Choices
    restart: SearchRestart
    standing: SearchStanding


class SearchLearner:
    """The search; see the module's docstring."""

    name = "search"
    state_type = SearchState
    latest: Program | None = None
    """The program that was looked at last, good or not."""

    def __init__(self, task: Task, settings: MachineSettings, seed: int, search: SearchSettings | None = None) -> None:
        self.task = task
        self.settings = settings
        self.search = search or SearchSettings()
        self.rng = seeds.rng(seed, Stream.TASK_SEARCH)
        self._netlists: dict[int, Netlist] = {}
        self._wiring(settings.depth).check_reached()
        self.size = self._world_size()
        self.pool = Pool.draw(task, self.rng, self.search.pool, self.size)
        self.standing = SearchStanding()
        self._suggested: list[tuple[Choices, str]] = []
        self._restart()

    # ------------------------------------------------------------------ the learner's interface

    def advance(self) -> Report:
        """A slice of moves."""
        candidate: Candidate | None = None
        for _ in range(self.search.slice):
            self._move()
            if self.circuit.error == 0:
                candidate = self._inspect()
                break
            if self.now.move >= (self.search.cooling.moves + self.search.cooling.quench) * self.now.depth:
                candidate = self._end_cycle()
                break
        standing = self.standing
        fit = {} if standing.fit is None else standing.fit.figures
        figures = {"loss": self.circuit.error, **fit, "temperature": self._temperature()}
        return Report(self.name, standing.steps, standing.restarts, figures, candidate)

    def refute(self, counterexamples: Sequence[Examples]) -> None:
        """Take counterexamples into the sample and go on from the refuted program."""
        small = [batch for batch in counterexamples if batch.size <= self.size]
        if counterexamples and not small:
            smallest = min(counterexamples, key=lambda batch: batch.size)
            small = [self._mine_smaller(self._program(), smallest)]
        self.pool.add([batch.take(slice(0, 4)) for batch in small])
        self._resample()

    def _mine_smaller(self, program: Program, examples: Examples) -> Examples:
        """Smaller worlds that the program gets wrong too, if some can be found: large ones make every move slow."""
        for size in range(self.size, examples.size):
            found = self._mine(program, size)
            if found.count:
                return found
        return examples

    def suggest(self, choices: Choices, origin: str) -> None:
        """Restart next from an almost-right table of choices that another learner made; the latest one counts."""
        self._suggested = [(choices, origin)]

    # ------------------------------------------------------------------ restarts and cycles

    def _world_size(self) -> int:
        """The largest size whose widest tables stay small; never above the task's training size."""
        widest = max(unit.arity for unit in self._netlist(self.settings.depth).wiring.units)
        size = int(self.search.cells ** (1 / max(widest, 1)) + 1e-9)
        return min(self.task.train_size, max(size, 7), 20)

    def _netlist(self, depth: int) -> Netlist:
        if depth not in self._netlists:
            self._netlists[depth] = Netlist(self._wiring(depth))
        return self._netlists[depth]

    def _wiring(self, depth: int) -> Wiring:
        return wire(self.settings.at_depth(depth), self.task.inputs, self.task.target, self.task.target_arity)

    def _restart(self) -> None:
        """From a suggestion, or from random choices at a depth that looks promising."""
        self.standing.restarts += 1
        elite, deepest, settings = self.standing.elite, self.settings.depth, self.search.restart
        growable = [depth for depth in elite if depth < deepest]
        if self._suggested and self.rng.random() < settings.suggested:
            choices, origin = self._suggested.pop(0)
            self.now = SearchRestart(deepest, f"{origin}+{self.name}")
        elif growable and self.rng.random() < settings.grow:
            below = self._choose_depth(growable)
            self.now = SearchRestart(min(below + 2, deepest), self.name, cycle=1)
            wiring = self._netlist(self.now.depth).wiring
            choices = embed_choices(self._netlist(below).wiring, elite[below][1], wiring, self.rng)
        else:
            self.now = SearchRestart(self._choose_depth(self._depths), self.name)
            choices = random_choices(self._netlist(self.now.depth).wiring, self.rng)
        self._resample(choices)

    @cached_property
    def _depths(self) -> list[int]:
        """Those of machines that can say more than a constant: in some, no input reaches the target."""
        return [depth for depth in range(2, self.settings.depth + 1) if self._wiring(depth).reached]

    def _choose_depth(self, depths: list[int]) -> int:
        """One of these depths: each once, then those whose restarts came closest more often."""
        known = self.standing.depth_error
        untried = [depth for depth in depths if depth not in known]
        if untried:
            return untried[0]
        errors = np.array([known[depth] for depth in depths])
        chance = np.exp(-(errors - errors.min()) / self.search.restart.depth_temperature)
        return int(self.rng.choice(depths, p=chance / chance.sum()))

    def _resample(self, choices: Choices | None = None) -> None:
        """Put choices (by default the current ones) on a fresh sample, at the beginning of a cycle."""
        self.sample = self.pool.sample(self.rng, self.search.sample, self.search.hard)
        self._rebuild(self.circuit.table_of_choices() if choices is None else choices)
        self.now.move = 0

    def _rebuild(self, choices: Choices) -> None:
        netlist = self._netlist(self.now.depth)
        self.circuit = Circuit(netlist, pack_examples(netlist.wiring, self.sample, self.search.false_alarm), choices)

    def _end_cycle(self) -> Candidate | None:
        """The state is frozen and wrong: raise the weight of hard worlds, then reheat or restart.

        Samples differ from cycle to cycle, so progress is measured on the whole pool. A restart goes on
        from its best state until it has failed to improve it twice.
        """
        now, standing = self.now, self.standing
        program, origin, choices = self._program(), now.origin, self.circuit.table_of_choices()
        self.latest = program
        fit, wrong = self.pool.harden(program)
        if wrong < NEAR:
            self._harvest(program)
            wrong = self.pool.wrong(program)
        if now.depth not in standing.elite or wrong < standing.elite[now.depth][0]:
            standing.elite[now.depth] = wrong, choices
        now.cycle += 1
        if now.best is None or wrong < now.best[0]:
            now.best, now.stale = (wrong, choices), 0
        else:
            now.stale += 1
        if now.cycle >= self.search.restart.cycles or now.stale >= self.search.restart.patience:
            old = standing.depth_error.get(now.depth, now.best[0])
            standing.depth_error[now.depth] = 0.7 * old + 0.3 * now.best[0]
            self._restart()
        else:
            self._resample(now.best[1])
        if standing.fit is not None and fit.score <= standing.fit.score:
            return None
        standing.fit = fit
        return Candidate(program, origin, fit.score)

    def _inspect(self) -> Candidate | None:
        """No error on the sample: test on the pool, then on fresh worlds; believe, or add counterexamples."""
        self.latest = program = self._program()
        fit, wrong = self.pool.harden(program)
        if wrong == 0:
            for size in [self.size, *training_sizes(self.task.train_size)]:
                examples = self.task.sample(self.rng, self.search.fresh, size)
                errors = wrong_atoms(program, examples)
                if errors.any():
                    self.refute([examples.take(np.flatnonzero(errors))])
                    return None
            self.standing.fit = fit
            return Candidate(program, self.now.origin, fit.score, believed=True)
        self._resample()
        return None

    def _harvest(self, program: Program) -> None:
        """Add worlds that an almost-right program gets wrong to the pool, and rescore the elite on them."""
        self.pool.extend(self._mine(program, self.size))
        elite = self.standing.elite
        for depth, (_, choices) in elite.items():
            elite[depth] = self.pool.wrong(program_of(self._netlist(depth).wiring, choices)), choices

    def _mine(self, program: Program, size: int) -> Examples:
        """Fresh worlds that an almost-right program gets wrong: rare ones, so many are tried."""
        count = round(self.search.mined * min(1.0, self.size / size) ** 3)
        examples = self.task.sample(self.rng, count, size)
        return examples.take(np.flatnonzero(wrong_atoms(program, examples))[:32])

    def _program(self) -> Program:
        return program_of(self._netlist(self.now.depth).wiring, self.circuit.table_of_choices())

    # ------------------------------------------------------------------ moves

    def _temperature(self) -> float:
        cooling, now = self.search.cooling, self.now
        hot = cooling.hot * (cooling.reheat if now.cycle else 1.0)
        return float(hot * (cooling.cold / hot) ** min(1.0, now.move / (cooling.moves * now.depth)))

    def _move(self) -> None:
        now = self.now
        self.standing.steps += 1
        now.move += 1
        temperature = self._temperature() if now.move < self.search.cooling.moves * now.depth else 0.0
        used = self.circuit.used
        number = used[self.rng.integers(len(used))]
        if self.rng.random() < self.search.pair_share:
            self._redefine(number, temperature)
        else:
            self._rechoose(number, temperature)

    def _rechoose(self, number: int, temperature: float) -> None:
        """Resample one atom of a predicate among all its literals."""
        circuit = self.circuit
        atom = int(self.rng.integers(len(circuit.choices[number])))
        choices, tables = circuit.candidates(number, atom)
        energy = circuit.errors_of(number, tables)
        energy += self.search.size_weight * circuit.sizes_of(number, atom, choices)
        picked = int(choices[self._draw(energy, temperature)])
        chosen = circuit.choices[number]
        if picked != chosen[atom]:
            circuit.choose(number, [*chosen[:atom], picked, *chosen[atom + 1 :]])

    def _redefine(self, number: int, temperature: float) -> None:
        """Resample the first two atoms of a predicate, in its own module or in a spare one of the unit."""
        circuit, netlist = self.circuit, self.circuit.netlist
        module = number
        if number != netlist.output:
            spare = [other for other in netlist.members[netlist.unit[number]] if other not in circuit.used]
            module = [number, *spare][self.rng.integers(len(spare) + 1)]
        literals = len(circuit.literal_stack(netlist.unit[number])[0])
        count = min(literals, max(1, self.search.pair_budget // literals))
        pairs, tables = circuit.pair_candidates(module, self.rng.choice(literals, size=count, replace=False))
        energy = circuit.errors_of(number, tables) + self.search.size_weight * circuit.pair_sizes(number, pairs)
        picked = self._draw(energy, temperature)
        now = circuit.error + self.search.size_weight * len(circuit.used)
        worse = energy[picked] - now
        # The pairs are only some of those possible, so the state as it is competes as in Metropolis' rule.
        if worse <= 0 or (temperature > 0 and self.rng.random() < np.exp(-worse / temperature)):
            circuit.choose(module, [*pairs[picked].tolist(), *circuit.choices[module][2:]])
            if module != number:
                circuit.redirect(number, module)

    def _draw(self, energy: NDArray[np.float64], temperature: float) -> int:
        """An index from the Gibbs distribution exp(-energy / temperature); at temperature 0 a random minimum."""
        if temperature > 0:
            return int(np.argmin(energy - temperature * self.rng.gumbel(size=len(energy))))
        return int(np.argmin(energy + 1e-9 * self.rng.random(len(energy))))

    # ------------------------------------------------------------------ snapshots

    def state(self) -> SearchState:
        return SearchState(
            rng=deepcopy(self.rng),
            pool=self.pool.state(),
            sample=list(self.sample),
            choices=self.circuit.table_of_choices(),
            restart=replace(self.now),
            standing=self.standing.copy(),
        )

    def restore(self, state: SearchState) -> None:
        now, standing = replace(state.restart), state.standing.copy()
        if not {now.depth, *standing.elite, *standing.depth_error} <= {*self._depths}:
            raise RunError("a depth is not one of this machine")
        examples_of(self.task, [*state.pool.worlds, *state.pool.counterexamples])
        for depth, choices in [(depth, elite[1]) for depth, elite in standing.elite.items()]:
            self._fitting(choices, depth)
        if now.best is not None:
            self._fitting(now.best[1], now.depth)
        self.rng, self.pool = deepcopy(state.rng), Pool.restore(state.pool)
        self.sample = examples_of(self.task, state.sample)
        self.now, self.standing = now, standing
        self._rebuild(self._fitting(state.choices, now.depth))

    def _fitting(self, choices: Choices, depth: int) -> Choices:
        return choices_of(self._netlist(depth).wiring, choices)
