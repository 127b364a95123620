"""The paper's learner: descend the gradient of a soft machine, then read off the program it has settled on.

`GradientLearner._step` is the training step; everything around it decides on which worlds, how soft, and
when the program of the likeliest choices is worth a look.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import binary_cross_entropy

from dlm import seeds
from dlm.data.worlds import Examples, join_examples
from dlm.engines import evaluate_target
from dlm.errors import RunError
from dlm.learning.fit import Fit, fit_answers, fit_program
from dlm.learning.sampling import sample_rich, training_sizes
from dlm.learning.schedule import Schedule
from dlm.logic.syntax import Program
from dlm.machine import Layout, Machine, Selection, fast_apply, hard_choices, valuation_of, weights_of
from dlm.runs.checkpoint import choices_of, examples_of
from dlm.runs.learner import Candidate, Report
from dlm.seeds import Stream, fixed_rng
from dlm.space import Choices, MachineSettings, Wiring, embed_choices, program_of, wire
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
# A start that found a program right on a larger share than this, counted likewise, is worth going on from.
PROMISING = 0.9
# Atoms of the rarer class should be about this share of all; draw as many worlds more as that takes, up to a limit.
RICH_SHARE, RICH_FACTOR = 0.1, 40


LOOK_EVERY = 250
"""Steps between two looks at the program of a schedule that reads it off only at its end."""


@dataclass(frozen=True)
class GradientState:
    """All that the next step depends on."""

    logits: NDArray[np.float32]
    moment1: NDArray[np.float32]
    moment2: NDArray[np.float32]
    rng: np.random.Generator
    look_rng: np.random.Generator
    torch_rng: NDArray[np.uint8]
    steps: int
    restarts: int
    step_of_restart: int
    depth: int
    warm: int
    loss: float
    fit: Fit | None
    best: float
    look_best: float
    restart_best: float
    lift: float
    restart_choices: Choices
    tried: Choices | None
    elite: tuple[float, int, Choices] | None
    hard_examples: list[Examples]


class GradientLearner:
    """Trains a machine by gradient descent, start after start."""

    name = "gradient"
    state_type = GradientState
    latest: Program | None = None
    """The program that was tried last, good or not."""

    def __init__(
        self, task: Task, settings: MachineSettings, schedule: Schedule, seed: int, device: torch.device | str = "cpu"
    ) -> None:
        self.task, self.settings, self.schedule = task, settings, schedule
        self.device = torch.device(device)
        self._wirings: dict[int, Wiring] = {}
        self._rng = seeds.rng(seed, Stream.TASK_GRADIENT)
        self._look_rng = seeds.rng(seed, Stream.TASK_LOOK)
        self._generator = torch.Generator(self.device).manual_seed(int(self._rng.integers(2**62)))
        self._layouts: dict[tuple[int, int], Layout] = {}
        self._factor = self._rarity_factor() if schedule.rich else 1
        self._hard_examples: list[Examples] = []
        self._steps = 0
        self._starts = 0
        self._best = 0.0
        self._look_best = 0.0
        self._lift = 1.0
        self._warm = 0
        self._elite: tuple[float, int, Choices] | None = None
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
                self._end()
                self._begin()
            elif not every and self._step_of_start % LOOK_EVERY == 0:
                candidate = self._look() or candidate
        fit = {} if self._fit is None else self._fit.figures
        figures = {"loss": self._loss, **fit, "temperature": self._temperature}
        return Report(self.name, self._steps, self._starts, figures, candidate)

    @property
    def steps_left(self) -> int | None:
        """Steps until the program is read off, where that is only at the end of a restart."""
        if self.schedule.check_every:
            return None
        return self.schedule.epochs * self._epoch_steps - self._step_of_start

    def refute(self, counterexamples: Sequence[Examples]) -> None:
        """Train on these worlds too from now on, unless the schedule has no room for it; the oldest are forgotten."""
        for examples in counterexamples if self.schedule.mine else ():
            self._hard_examples += [examples.take(slice(i, i + 1)) for i in range(examples.count)]
        del self._hard_examples[:-KEPT]

    def current_choices(self) -> Choices:
        """The choices of the best program of this start so far, for a machine of full depth."""
        full = self._wiring_at(self.settings.depth)
        if self._depth == self.settings.depth:
            return self._start_choices
        return embed_choices(self.wiring, self._start_choices, full, fixed_rng())

    # ------------------------------------------------------------------ starts

    def _begin(self) -> None:
        """A start: warm, from the best program so far of this chain of starts, or from fresh logits."""
        elite = self._elite if self._warm < self.schedule.warm else None
        if elite is not None:
            self._warm += 1
            depth = min(elite[1] + 2, self.settings.depth) if self._warm > 1 else elite[1]
            self._set_up(depth)
            self._lean_on(elite)
        else:
            self._warm, self._elite = 0, None
            left_out = int(self._rng.integers(self.schedule.shallower + 1)) if self._starts else 0
            self._set_up(self.settings.depth - left_out)

    def _end(self) -> None:
        """Remember a start's best program, if it is a good one and the best of its chain."""
        if self._start_best > PROMISING and (self._elite is None or self._start_best > self._elite[0]):
            self._elite = self._start_best, self._depth, self._start_choices

    def _set_up(self, depth: int) -> None:
        """Fresh logits for a machine of some depth."""
        self._depth = depth
        self.wiring = self._wiring_at(depth)
        self._machine = Machine(self.wiring, self._generator, device=self.device)
        self._optimiser = torch.optim.AdamW(
            [self._machine.logits],
            lr=self.schedule.learning_rate,
            weight_decay=self.schedule.weight_decay,
            fused=True,
        )
        self._epoch_steps = self.schedule.steps_at(self._starts)
        self._starts += 1
        self._step_of_start = 0
        self._loss = float("nan")
        self._fit: Fit | None = None
        self._start_best = -1.0
        self._start_choices: Choices = hard_choices(self._machine)
        self._tried: Choices | None = None

    def _lean_on(self, elite: tuple[float, int, Choices]) -> None:
        """Raise the logits of a program's choices; what it invented is there to build on, nothing is fixed."""
        _, depth, choices = elite
        if depth < self._depth:
            choices = embed_choices(self._wiring_at(depth), choices, self.wiring, self._rng)
        with torch.no_grad():
            self._machine.logits.add_(
                weights_of(self.wiring, choices, device=self.device)[0], alpha=self.schedule.boost
            )

    def _wiring_at(self, depth: int) -> Wiring:
        if depth not in self._wirings:
            settings = self.settings.at_depth(depth)
            self._wirings[depth] = wire(settings, self.task.inputs, self.task.target, self.task.target_arity)
        return self._wirings[depth]

    # ------------------------------------------------------------------ training

    @property
    def _epoch(self) -> int:
        # A warm start is not as hot as one from fresh logits.
        offset = self.schedule.epochs // 3 if self._warm else 0
        return offset + self._step_of_start // self._epoch_steps

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
        inputs = layout.to_layout(valuation_of(self.wiring, examples.worlds, device=self.device))
        target = layout.pick(torch.from_numpy(examples.target).to(self.device, torch.float32))
        weights = self._machine.weights(self._selection(), examples.count, self._generator)
        truth = squeeze(fast_apply(self.wiring, weights, inputs, layout), self.schedule.margin)
        balance = min(0.5, self._lift * self.schedule.balance) * self.schedule.balance_decay**self._epoch
        if examples.one_is_enough:
            loss = any_answer_loss(truth, target, balance)
        else:
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
            parts = [join_examples(parts).take(self._rng.permutation(count)[: count - len(picked)])]
            parts += [known[i] for i in picked]
        return join_examples(parts)

    def _sample_rich(self, count: int, size: int) -> Examples:
        return sample_rich(self.task, self._rng, count, size, self._factor)

    def _rarity_factor(self) -> int:
        """How many times more worlds to draw than to keep, so that the rarer class is not rare; of no seed."""
        if self.task.one_is_enough:
            return 1
        examples = self.task.sample(fixed_rng(), 1000, self.schedule.size)
        share = float(examples.target[:, examples.scored].mean())
        rare = min(share, 1 - share)
        return RICH_FACTOR if rare * RICH_FACTOR < RICH_SHARE else max(1, round(RICH_SHARE / rare))

    def _layout(self, size: int) -> Layout:
        key = self._depth, size
        if key not in self._layouts:
            self._layouts[key] = Layout(self.wiring, size, self.task.distinct_only, device=self.device)
        return self._layouts[key]

    # ------------------------------------------------------------------ programs

    def _try_program(self) -> Candidate | None:
        """Run the program of the likeliest choices on a few fresh worlds, and on many if those are right."""
        choices = hard_choices(self._machine)
        if self._tried is not None and _same(choices, self._tried):
            return None
        self._tried = choices
        self.latest = program = program_of(self.wiring, choices)
        fit = Fit()
        for examples in self._draw_few():
            answers = evaluate_target(program, examples.worlds)
            fit += fit_answers(answers, examples)
            self._mine(examples, examples.mistakes(answers))
        self._fit = fit
        score = fit.balanced
        believed = not fit.misses + fit.alarms and self._try_sizes(program)
        if score > self._start_best:
            self._start_best, self._start_choices = score, choices
        if not believed and score <= self._best:
            return None
        self._best = max(score, self._best)
        return Candidate(program, self.name, fit.score, believed)

    def _look(self) -> Candidate | None:
        """The program of the likeliest choices, on the way to a schedule's end: shown, and kept if the best so far.

        Its worlds come from a stream of their own, so that looking changes nothing.
        """
        self.latest = program = program_of(self.wiring, hard_choices(self._machine))
        self._fit = fit_program(program, [self.task.sample(self._look_rng, FEW, self.task.train_size)])
        if self._fit.score <= self._look_best:
            return None
        self._look_best = self._fit.score
        return Candidate(program, self.name, self._fit.score)

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
            bad = np.flatnonzero(examples.mistakes(evaluate_target(program, examples.worlds)).any(axis=1))
            if len(bad):
                self.refute([examples.take(bad[: self.schedule.mine])])
                return False
        return True

    # ------------------------------------------------------------------ stopping and going on

    def state(self) -> GradientState:
        moments = self._optimiser.state.get(self._machine.logits, {})
        nothing = torch.zeros_like(self._machine.logits)
        return GradientState(
            logits=_copy(self._machine.logits),
            moment1=_copy(moments.get("exp_avg", nothing)),
            moment2=_copy(moments.get("exp_avg_sq", nothing)),
            rng=deepcopy(self._rng),
            look_rng=deepcopy(self._look_rng),
            torch_rng=self._generator.get_state().numpy().copy(),
            steps=self._steps,
            restarts=self._starts,
            step_of_restart=self._step_of_start,
            depth=self._depth,
            warm=self._warm,
            loss=self._loss,
            fit=self._fit,
            best=self._best,
            look_best=self._look_best,
            restart_best=self._start_best,
            lift=self._lift,
            restart_choices=self._start_choices,
            tried=self._tried,
            elite=self._elite,
            hard_examples=list(self._hard_examples),
        )

    def restore(self, state: GradientState) -> None:
        """Go on from a snapshot of a learner made with the same arguments."""
        elite_depth = state.depth if state.elite is None else state.elite[1]
        if not all(2 <= depth <= self.settings.depth for depth in (state.depth, elite_depth)):
            raise RunError("a depth is not one of this machine")
        self._starts = state.restarts - 1
        self._set_up(state.depth)
        self._steps, self._step_of_start, self._warm = state.steps, state.step_of_restart, state.warm
        self._loss, self._fit, self._best, self._look_best = state.loss, state.fit, state.best, state.look_best
        self._start_best, self._lift = state.restart_best, state.lift
        logits = self._machine.logits
        for array in (state.logits, state.moment1, state.moment2):
            # A fused optimiser writes wherever its moments say: their shape has to be right.
            if array.shape != tuple(logits.shape) or not np.isfinite(array).all():
                raise RunError("the saved weights do not fit this machine")
        with torch.no_grad():
            logits.copy_(torch.from_numpy(state.logits))
        if state.step_of_restart:
            self._optimiser.state[logits] = {
                "step": torch.tensor(float(state.step_of_restart), device=self.device),
                "exp_avg": torch.from_numpy(state.moment1.copy()).to(self.device),
                "exp_avg_sq": torch.from_numpy(state.moment2.copy()).to(self.device),
            }
        self._rng, self._look_rng = deepcopy(state.rng), deepcopy(state.look_rng)
        self._generator.set_state(torch.from_numpy(state.torch_rng.copy()))
        self._start_choices = choices_of(self.wiring, state.restart_choices)
        self._tried = None if state.tried is None else choices_of(self.wiring, state.tried)
        self._elite = state.elite
        if state.elite is not None:
            choices_of(self._wiring_at(elite_depth), state.elite[2])
        self._hard_examples = examples_of(self.task, state.hard_examples)


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


def any_answer_loss(truth: Tensor, target: Tensor, least: float) -> Tensor:
    """BCE where any one of a world's answers will do: on "one of them at least is true", and on every other atom.

    One answer in a hundred atoms weighs a hundredth of the total, or `least` if that is more.
    """
    hit = 1 - torch.where(target > 0.5, 1 - truth, 1.0).prod(dim=1)
    others = (1 - target).sum(dim=1)
    false_alarms = -(torch.log(1 - truth) * (1 - target)).sum(dim=1) / others.clamp(min=1)
    weight = torch.clamp(1 / (1 + others), min=least)
    return (-weight * torch.log(hit) + (1 - weight) * false_alarms).mean()


def _copy(tensor: Tensor) -> NDArray[np.float32]:
    array: NDArray[np.float32] = tensor.detach().cpu().numpy().copy()
    return array


def _same(one: Choices, other: Choices) -> bool:
    return all(np.array_equal(one[key], other[key]) for key in one)
