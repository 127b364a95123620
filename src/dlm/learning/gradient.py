"""The paper's learner: descend the gradient of a soft machine, then read off the program it has settled on.

`GradientLearner._step` is the training step; everything around it decides on which worlds, how soft, and
when the program of the likeliest choices is worth a look.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import binary_cross_entropy

from dlm.data.worlds import Examples, Worlds
from dlm.engines import evaluate_target
from dlm.learning.learner import Candidate, Report, State
from dlm.learning.sampling import sample_rich, training_sizes
from dlm.learning.schedule import Schedule
from dlm.logic.syntax import Program
from dlm.machine import Layout, Machine, Selection, fast_apply, hard_choices, valuation_of
from dlm.space import Choices, MachineSettings, UnitKey, program_of, wire
from dlm.tasks.task import Task

__all__ = ["GradientLearner"]

# Predictions are cut to [CUT, 1 - CUT] before their logarithm is taken.
CUT = 1e-5
LOSS_MEMORY = 0.99
# Worlds of the first trial of a program, and of each size in the trial that decides.
FEW, MANY = 32, 32
# Counterexamples kept, and the share of slices that train on some.
KEPT, REMEMBER = 128, 0.3
# A program is about as good as a constant if it is right on a smaller share than this, both classes counted alike. A
# start that has found none better half way through is given up; the next gives twice the weight to the rarer class.
CONSTANT = 0.55
# Atoms of the rarer class should be about this share of all; draw as many worlds more as that takes, up to a limit.
RICH_SHARE, RICH_FACTOR = 0.1, 40


class GradientLearner:
    """Trains a machine by gradient descent, start after start."""

    name = "gradient"

    def __init__(self, task: Task, settings: MachineSettings, schedule: Schedule, seed: int) -> None:
        self.task, self.schedule = task, schedule
        self.wiring = wire(settings, task.inputs, task.target, task.target_arity)
        self._rng = np.random.default_rng(seed)
        self._generator = torch.Generator().manual_seed(int(self._rng.integers(2**62)))
        self._layouts: dict[int, Layout] = {}
        self._factor = self._rarity_factor() if schedule.rich else 1
        self._hard_examples: list[Examples] = []
        self._steps = 0
        self._starts = 0
        self._best = 0.0
        self._lift = 1.0
        self._begin()

    def advance(self) -> Report:
        """Train for a slice of steps on worlds of one size; try the program when it is time."""
        # Cold weights are numbers so small that a processor takes fifteen times longer; they count as zero.
        torch.set_flush_denormal(True)
        candidate: Candidate | None = None
        size = self._next_size()
        # A counterexample may be larger than other worlds are; its slice is not to take longer.
        steps = max(1, round(self.schedule.slice_steps * min(1.0, self.schedule.size / size) ** 3))
        examples = self._draw(size, self.schedule.batch * steps)
        order = self._rng.permutation(examples.count).reshape(steps, -1)
        for batch in order:
            self._step(examples.take(batch))
            over, every = self._epoch >= self.schedule.epochs, self.schedule.check_every
            if over or (every and self._step_of_start % every == 0):
                candidate = self._try_program() or candidate
            if every and 2 * self._epoch >= self.schedule.epochs and self._start_best < CONSTANT:
                self._lift *= 2
                over = True
            if over:
                self._begin()
        return Report(self.name, self._steps, self._starts, self._loss, self._accuracy, self._temperature, candidate)

    def refute(self, counterexamples: Sequence[Examples]) -> None:
        """Train on these worlds too from now on, unless the schedule has no room for it; the oldest are forgotten."""
        for examples in counterexamples if self.schedule.mine else ():
            self._hard_examples += [examples.take(slice(i, i + 1)) for i in range(examples.count)]
        del self._hard_examples[:-KEPT]

    def current_choices(self) -> Choices:
        """The choices of the best program of this start so far."""
        return self._start_choices

    # ------------------------------------------------------------------ training

    def _begin(self) -> None:
        """Start from fresh logits."""
        self._machine = Machine(self.wiring, self._generator)
        self._optimiser = torch.optim.AdamW(
            [self._machine.logits],
            lr=self.schedule.learning_rate,
            weight_decay=self.schedule.weight_decay,
            fused=True,
        )
        self._epoch_steps = self.schedule.steps_at(self._starts)
        self._starts += 1
        self._step_of_start = 0
        self._loss, self._accuracy = float("nan"), 0.0
        self._start_best = -1.0
        self._start_choices: Choices = hard_choices(self._machine)
        self._tried: Choices | None = None

    @property
    def _epoch(self) -> int:
        return self._step_of_start // self._epoch_steps

    @property
    def _temperature(self) -> float:
        return self.schedule.temperature * self.schedule.temperature_decay**self._epoch

    def _selection(self) -> Selection:
        schedule = self.schedule
        return Selection(
            self._temperature,
            schedule.noise * schedule.noise_decay**self._epoch,
            schedule.dropout * schedule.dropout_decay**self._epoch,
        )

    def _step(self, examples: Examples) -> None:
        layout = self._layout(examples.size)
        inputs = layout.to_layout(valuation_of(self.wiring, examples.worlds))
        target = layout.pick(torch.from_numpy(examples.target).float())
        weights = self._machine.weights(self._selection(), examples.count, self._generator)
        truth = squeeze(fast_apply(self.wiring, weights, inputs, layout), self.schedule.margin)
        balance = min(0.5, self._lift * self.schedule.balance) * self.schedule.balance_decay**self._epoch
        loss = binary_cross_entropy(truth, target, class_weights(target, balance))
        self._optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self._optimiser.step()
        self._steps += 1
        self._step_of_start += 1
        now = loss.item()
        self._loss = now if np.isnan(self._loss) else LOSS_MEMORY * self._loss + (1 - LOSS_MEMORY) * now

    # ------------------------------------------------------------------ worlds

    def _next_size(self) -> int:
        """The size of a slice's worlds: the largest, at times a smaller one or that of a counterexample."""
        size, draw = self.schedule.size, self._rng.random()
        if self._hard_examples and self._rng.random() < REMEMBER:
            return self._hard_examples[self._rng.integers(len(self._hard_examples))].size
        smaller = [s for s in training_sizes(size) if 2 * s >= size and s < size]
        return int(self._rng.choice(smaller)) if smaller and draw < self.schedule.smaller else size

    def _draw(self, size: int, count: int) -> Examples:
        """Fresh worlds, some of them rich, some replaced by counterexamples of that size."""
        rich = round(count * self.schedule.rich) if self._factor > 1 else 0
        parts = [self.task.sample(self._rng, count - rich, size)]
        if rich:
            parts.append(self._sample_rich(rich, size))
        known = [examples for examples in self._hard_examples if examples.size == size]
        if known:
            picked = self._rng.integers(len(known), size=count // 4)
            parts = [_join(parts).take(self._rng.permutation(count)[: count - len(picked)])]
            parts += [known[i] for i in picked]
        return _join(parts)

    def _sample_rich(self, count: int, size: int) -> Examples:
        return sample_rich(self.task, self._rng, count, size, self._factor)

    def _rarity_factor(self) -> int:
        """How many times more worlds to draw than to keep, so that the rarer class is not rare; of no seed."""
        examples = self.task.sample(np.random.default_rng(0), 1000, self.schedule.size)
        share = float(examples.target[:, examples.scored].mean())
        rare = min(share, 1 - share)
        return RICH_FACTOR if rare * RICH_FACTOR < RICH_SHARE else max(1, round(RICH_SHARE / rare))

    def _layout(self, size: int) -> Layout:
        if size not in self._layouts:
            self._layouts[size] = Layout(self.wiring, size, self.task.distinct_only)
        return self._layouts[size]

    # ------------------------------------------------------------------ programs

    def _try_program(self) -> Candidate | None:
        """Run the program of the likeliest choices on a few fresh worlds, and on many if those are right."""
        choices = hard_choices(self._machine)
        if self._tried is not None and _same(choices, self._tried):
            return None
        self._tried = choices
        program = program_of(self.wiring, choices)
        atoms, errors = np.zeros(2), np.zeros(2)
        for examples in self._draw_few():
            wrong = _wrong(examples, evaluate_target(program, examples.worlds))
            target = examples.target[:, examples.scored]
            atoms += np.sum(~target), np.sum(target)
            errors += np.sum(wrong & ~target), np.sum(wrong & target)
            self._mine(examples, wrong)
        self._accuracy = float(1 - errors.sum() / max(atoms.sum(), 1))
        # Where one atom in a hundred is true, a program that says no to all is not a good one.
        score = float(1 - np.mean(errors / np.maximum(atoms, 1)))
        believed = not errors.any() and self._try_sizes(program)
        if score > self._start_best:
            self._start_best, self._start_choices = score, choices
        if not believed and score <= self._best:
            return None
        self._best = max(score, self._best)
        return Candidate(program, self.name, self._accuracy, believed)

    def _draw_few(self) -> list[Examples]:
        few = [self.task.sample(self._rng, FEW, self.schedule.size)]
        return few if self._factor == 1 else [*few, self._sample_rich(FEW, self.schedule.size)]

    def _mine(self, examples: Examples, wrong: NDArray[np.bool_]) -> None:
        """Keep some worlds that the program is wrong on for training, if they are the exception."""
        bad = np.flatnonzero(wrong.any(axis=1))
        if 2 * len(bad) < examples.count:
            self.refute([examples.take(bad[: self.schedule.mine])])

    def _try_sizes(self, program: Program) -> bool:
        """Whether the program is right on worlds of all sizes up to the task's; what it is wrong on is kept."""
        for size in training_sizes(self.task.train_size):
            examples = self._sample_rich(MANY, size)
            bad = np.flatnonzero(_wrong(examples, evaluate_target(program, examples.worlds)).any(axis=1))
            if len(bad):
                self.refute([examples.take(bad[: self.schedule.mine])])
                return False
        return True

    # ------------------------------------------------------------------ stopping and going on

    def state(self) -> State:
        """All that the next step depends on."""
        moments = self._optimiser.state.get(self._machine.logits, {})
        nothing = torch.zeros_like(self._machine.logits)
        return {
            "logits": _copy(self._machine.logits),
            "moment1": _copy(moments.get("exp_avg", nothing)),
            "moment2": _copy(moments.get("exp_avg_sq", nothing)),
            "numpy_rng": np.frombuffer(json.dumps(self._rng.bit_generator.state).encode(), dtype=np.uint8),
            "torch_rng": _copy(self._generator.get_state()),
            "counts": np.array([self._steps, self._starts, self._step_of_start]),
            "values": np.array([self._loss, self._accuracy, self._best, self._start_best, self._lift]),
            "start_choices": _flatten(self._start_choices),
            "tried": _flatten(self._tried) if self._tried is not None else np.zeros(0, dtype=np.int64),
            "hard_sizes": np.array([examples.size for examples in self._hard_examples], dtype=np.int64),
            "hard_bits": np.concatenate([np.zeros(0, dtype=np.bool_), *map(_bits, self._hard_examples)]),
        }

    def restore(self, state: State) -> None:
        """Go on from a snapshot of a learner made with the same arguments."""
        self._steps, self._starts, step_of_start = (int(count) for count in state["counts"])
        self._starts -= 1
        self._begin()
        self._step_of_start = step_of_start
        values = (float(value) for value in state["values"])
        self._loss, self._accuracy, self._best, self._start_best, self._lift = values
        with torch.no_grad():
            self._machine.logits.copy_(_tensor(state["logits"]))
        if step_of_start:
            self._optimiser.state[self._machine.logits] = {
                "step": torch.tensor(float(step_of_start)),
                "exp_avg": _tensor(state["moment1"]),
                "exp_avg_sq": _tensor(state["moment2"]),
            }
        self._rng.bit_generator.state = json.loads(state["numpy_rng"].tobytes())
        self._generator.set_state(_tensor(state["torch_rng"]))
        self._start_choices = self._unflatten(state["start_choices"])
        self._tried = self._unflatten(state["tried"]) if state["tried"].size else None
        self._hard_examples = self._from_bits(state["hard_sizes"], state["hard_bits"])

    def _unflatten(self, flat: NDArray[np.generic]) -> Choices:
        """The inverse of `_flatten`."""
        choices: dict[UnitKey, NDArray[np.int64]] = {}
        start = 0
        for unit in self.wiring.units:
            shape = (len(unit.modules), unit.modules[0].atoms)
            choices[unit.key] = np.array(flat[start : start + math.prod(shape)], dtype=np.int64).reshape(shape)
            start += math.prod(shape)
        return choices

    def _from_bits(self, sizes: NDArray[np.generic], bits: NDArray[np.generic]) -> list[Examples]:
        """The inverse of `_bits`, for many worlds."""
        found = []
        start = 0
        names = [*sorted(self.task.inputs), self.task.target]
        for size in (int(size) for size in sizes):
            arrays = {}
            for name in names:
                shape = (1, *(size,) * self.task.inputs.get(name, self.task.target_arity))
                arrays[name] = np.array(bits[start : start + math.prod(shape)], dtype=np.bool_).reshape(shape)
                start += math.prod(shape)
            target = arrays.pop(self.task.target)
            found.append(Examples(Worlds(1, size, arrays), target, self.task.scored(size)))
        return found


def squeeze(truth: Tensor, margin: float) -> Tensor:
    """Predictions in [margin, 1 - margin], and where that is 0 cut off short of 0 and 1.

    Cutting off is the paper's way. It takes the gradient from what is wrong beyond doubt, which with choices nearly
    hard is most of what is wrong; a margin leaves it, and bounds it.
    """
    return margin + (1 - 2 * margin) * truth if margin else truth.clamp(CUT, 1 - CUT)


def class_weights(target: Tensor, least: float) -> Tensor | None:
    """Weights of atoms, 1 on average, under which the rarer class has at least that share of the total."""
    positive = target.mean().item()
    if not 0 < positive < 1 or least <= min(positive, 1 - positive):
        return None
    wanted = least if positive < 0.5 else 1 - least
    return torch.where(target > 0.5, wanted / positive, (1 - wanted) / (1 - positive))


def _wrong(examples: Examples, answers: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which of the scored atoms of each world are answered wrongly."""
    wrong: NDArray[np.bool_] = (answers != examples.target)[:, examples.scored]
    return wrong


def _join(parts: Sequence[Examples]) -> Examples:
    """Examples of one size together."""
    worlds = [part.worlds for part in parts]
    relations = {name: np.concatenate([w.relations[name] for w in worlds]) for name in worlds[0].relations}
    target = np.concatenate([part.target for part in parts])
    return Examples(Worlds(len(target), worlds[0].size, relations), target, parts[0].scored)


def _bits(examples: Examples) -> NDArray[np.bool_]:
    """The relations of one world in the order of their names, then the target, flat."""
    relations = examples.worlds.relations
    return np.concatenate([*(relations[name].ravel() for name in sorted(relations)), examples.target.ravel()])


def _flatten(choices: Choices) -> NDArray[np.int64]:
    return np.concatenate([choices[key].ravel() for key in choices])


def _copy(tensor: Tensor) -> NDArray[np.generic]:
    array: NDArray[np.generic] = tensor.detach().cpu().numpy().copy()
    return array


def _tensor(array: NDArray[np.generic]) -> Tensor:
    return torch.from_numpy(np.array(array))


def _same(one: Choices, other: Choices) -> bool:
    return all(np.array_equal(one[key], other[key]) for key in one)
