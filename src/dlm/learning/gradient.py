"""The paper's learner: descend the gradient of a soft machine, then read off the program it has settled on.

`GradientLearner._step` is the training step; everything around it decides on which worlds (`TrainingWorlds`), how soft,
and when the program of the likeliest choices is worth a look.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import binary_cross_entropy

from dlm import seeds
from dlm.data.worlds import Examples
from dlm.engines import evaluate_target
from dlm.errors import RunError
from dlm.learning.film import FilmFrame
from dlm.learning.fit import Fit, fit_answers, fit_program
from dlm.learning.sampling import TrainingWorlds, training_sizes
from dlm.learning.schedule import CUT, Descent, Schedule
from dlm.logic.syntax import Program
from dlm.machine import Layout, Machine, Selection, fast_apply, hard_choices, valuation_of, while_training
from dlm.machine.hardening import draw_layers, harden, layer_slices
from dlm.runs.checkpoint import choices_of, examples_of
from dlm.runs.learner import Candidate, Report
from dlm.seeds import Stream, fixed_rng
from dlm.space import Choices, MachineSettings, Wiring, embed_choices, program_of, wire
from dlm.tasks.task import Task

__all__ = ["GradientLearner", "GradientState"]

LOSS_MEMORY = 0.99
# Worlds of the first test of a program, and of each size in the test that decides.
FEW, MANY = 32, 32
# Programs are compared by their skill (`Fit.skill`). If half a restart has found none above this one, about that of a
# constant, another follows, with twice the weight of the rarer class; and at any rate if it has kept no promise.
CONSTANT = 0.05
LOOK_EVERY = 250
"""Steps between two looks at the program of a schedule that reads it off only at its end."""


@dataclass
class Standing:
    """What goes on from restart to restart."""

    steps: int = 0
    restarts: int = 0
    best: float = 0.0  # score of the best program that was tried
    look_best: float = 0.0  # and of the best one that was looked at on the way
    lift: float = 1.0  # factor on the weight of the rarer class


@dataclass
class RestartCourse:
    """How a restart goes: its steps, loss and fit, its best choices and their score, and the choices tried last."""

    depth: int
    choices: Choices
    best: float = -1.0
    tried: Choices | None = None
    step: int = 0
    loss: float = float("nan")
    fit: Fit | None = None


@dataclass(frozen=True)
class Restart:
    """A machine under training."""

    wiring: Wiring
    machine: Machine
    optimiser: torch.optim.Optimizer
    descent: Descent
    course: RestartCourse


@dataclass(frozen=True)
class GradientState:
    """All that the next step depends on."""

    logits: NDArray[np.float32]
    moment1: NDArray[np.float32]
    moment2: NDArray[np.float32]
    rng: np.random.Generator
    look_rng: np.random.Generator
    torch_rng: NDArray[np.uint8]
    standing: Standing
    course: RestartCourse
    hard_examples: list[Examples]


class GradientLearner:
    """Trains a machine by gradient descent, restart after restart."""

    name = "gradient"
    state_type = GradientState
    latest: Program | None = None
    """The program that was tried last, good or not."""

    def __init__(
        self, task: Task, settings: MachineSettings, schedule: Schedule, seed: int, device: torch.device | str = "cpu"
    ) -> None:
        self.task, self.settings, self.schedule = task, settings, schedule
        self.device = torch.device(device)
        self._rng = seeds.rng(seed, Stream.TASK_GRADIENT)
        self._look_rng = seeds.rng(seed, Stream.TASK_LOOK)
        self._generator = torch.Generator(self.device).manual_seed(int(self._rng.integers(2**62)))
        self._wirings: dict[int, Wiring] = {}
        self._layouts: dict[tuple[int, int], Layout] = {}
        self.worlds = TrainingWorlds(task, schedule, self._rng)
        self.standing = Standing()
        self.now = self._restart()

    def advance(self) -> Report:
        """Train for a slice of steps on worlds of one size; try the program when it is time."""
        candidate: Candidate | None = None
        done = False
        size = self.worlds.next_size()
        # A counterexample may be larger than other worlds are; its slice is not to take longer.
        steps = max(1, round(self.schedule.slice_steps * min(1.0, self.schedule.size / size) ** 3))
        examples = self.worlds.draw(size, self.schedule.batch * steps)
        order = self._rng.permutation(examples.count).reshape(steps, -1)
        for batch in order:
            self._step(examples.take(batch))
            course = self.now.course
            epochs, every = self.now.descent.epochs, self.schedule.check_every
            over = self._epoch >= epochs
            done = over and 0 < self.schedule.restarts <= self.standing.restarts
            if over or (every and course.step % every == 0):
                candidate = self._try_program(last=done) or candidate
            if every and 2 * self._epoch >= epochs and course.best < max(CONSTANT, self.now.descent.promise):
                self.standing.lift *= 2 if course.best < CONSTANT else 1
                over = True
            if done:
                break
            if over:
                self.now = self._restart()
            elif not every and course.step % LOOK_EVERY == 0:
                candidate = self._look() or candidate
        course = self.now.course
        fit = {} if course.fit is None else course.fit.figures
        figures = {"loss": course.loss, **fit, "temperature": self.temperature}
        return Report(self.name, self.standing.steps, self.standing.restarts, figures, candidate, done)

    def frame(self) -> FilmFrame:
        """The machine as it is now, for a film of the training."""
        logits, course = _copy(self.now.machine.logits), self.now.course
        return FilmFrame(self.standing.restarts, course.step, course.depth, self.temperature, logits)

    @property
    def steps_left(self) -> int | None:
        """Steps until the program is read off, where that is only at the end of a restart."""
        if self.schedule.check_every:
            return None
        return self.now.descent.epochs * self.now.descent.steps - self.now.course.step

    def refute(self, counterexamples: Sequence[Examples]) -> None:
        """Train on these worlds too from now on, unless the schedule has no room for it."""
        if self.schedule.worlds.mine:
            self.worlds.keep(counterexamples)

    def current_choices(self) -> Choices:
        """The choices of the best program of this restart so far, for a machine of full depth."""
        course, full = self.now.course, self._wiring_at(self.settings.depth)
        if course.depth == self.settings.depth:
            return course.choices
        return embed_choices(self.now.wiring, course.choices, full, fixed_rng())

    # ------------------------------------------------------------------ restarts

    def _restart(self) -> Restart:
        """From fresh logits, perhaps with fewer layers."""
        self.worlds.hard = []  # of other programs than this restart will come to
        most = self.schedule.shallower
        left_out = int(self._rng.integers(most + 1)) if self.standing.restarts else most // 2
        return self._set_up(self.settings.depth - left_out)

    def _set_up(self, depth: int) -> Restart:
        """Fresh logits for a machine of some depth."""
        wiring = self._wiring_at(depth)
        machine = Machine(wiring, self._generator, device=self.device)
        descent = self.schedule.descent_at(self.standing.restarts)
        self.worlds.size = descent.size or self.schedule.size
        machine.logits.data.mul_(descent.softness.diversity)
        optimiser = torch.optim.AdamW(
            [machine.logits], lr=descent.learning_rate, weight_decay=descent.weight_decay, fused=True
        )
        self.standing.restarts += 1
        return Restart(wiring, machine, optimiser, descent, RestartCourse(depth, hard_choices(machine)))

    def _wiring_at(self, depth: int) -> Wiring:
        if depth not in self._wirings:
            settings = self.settings.at_depth(depth)
            self._wirings[depth] = wire(settings, self.task.inputs, self.task.target, self.task.target_arity)
        return self._wirings[depth]

    # ------------------------------------------------------------------ training

    @property
    def _epoch(self) -> int:
        return self.now.course.step // self.now.descent.steps

    @property
    def temperature(self) -> float:
        """Of the choices, now."""
        soft = self.now.descent.softness
        return soft.temperature * soft.temperature_decay**self._epoch

    def _selection(self) -> Selection:
        soft, epoch = self.now.descent.softness, self._epoch
        noise, dropout = soft.noise * soft.noise_decay**epoch, soft.dropout * soft.dropout_decay**epoch
        return Selection(self.temperature, noise, dropout, soft.distribution)

    def _weights(self, batch: int) -> Tensor:
        """Of the choices in a step: soft, and where the descent says so hard in some layers of some samples."""
        machine, hardening = self.now.machine, self.now.descent.hardening
        weights = machine.weights(self._selection(), batch, self._generator)
        grown = (self._epoch / self.now.descent.epochs - hardening.begin) / hardening.growth
        if not hardening.samples or grown < 0:
            return weights
        layers = layer_slices(machine.wiring)
        most = round(min(1.0, grown) * hardening.layers * len(layers))
        chosen = draw_layers(self._rng, round(hardening.samples * batch), len(layers), max(1, most))
        return harden(weights.expand(batch, -1), machine.hard_weights(), layers, chosen)

    @while_training()
    def _step(self, examples: Examples) -> None:
        now, layout = self.now, self._layout(examples.size)
        inputs = layout.to_layout(valuation_of(now.wiring, examples.worlds, device=self.device))
        target = layout.pick(torch.from_numpy(examples.target).to(self.device, torch.float32))
        weights = self._weights(examples.count)
        truth = squeeze(fast_apply(now.wiring, weights, inputs, layout), now.descent.loss.margin)
        least = min(0.5, self.standing.lift * now.descent.loss.balance)
        balance = least * now.descent.loss.balance_decay**self._epoch
        if examples.one_is_enough:
            loss = any_answer_loss(truth, target, balance)
        elif examples.masked:
            asked = layout.pick(torch.from_numpy(examples.scored).to(self.device))
            truth, target = truth[asked], target[asked]
            loss = binary_cross_entropy(truth, target, class_weights(target, balance))
        else:
            loss = binary_cross_entropy(truth, target, class_weights(target, balance))
        now.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        now.optimiser.step()
        self.standing.steps += 1
        now.course.step += 1
        value, before = loss.item(), now.course.loss
        now.course.loss = value if np.isnan(before) else LOSS_MEMORY * before + (1 - LOSS_MEMORY) * value

    def _layout(self, size: int) -> Layout:
        key = self.now.course.depth, size
        if key not in self._layouts:
            self._layouts[key] = Layout(self.now.wiring, size, self.task.distinct_only, device=self.device)
        return self._layouts[key]

    # ------------------------------------------------------------------ programs

    def _try_program(self, *, last: bool = False) -> Candidate | None:
        """Run the program of the likeliest choices on a few fresh worlds, and on many if those are right.

        It is a candidate if it is a better one, or the last.
        """
        course, choices = self.now.course, hard_choices(self.now.machine)
        if not last and course.tried is not None and _same(choices, course.tried):
            return None
        course.tried = choices
        self.latest = program = program_of(self.now.wiring, choices)
        fit = Fit()
        for examples in self.worlds.few(FEW):
            answers = evaluate_target(program, examples.worlds)
            fit += fit_answers(answers, examples)
            self._mine(examples, examples.mistakes(answers))
        course.fit = fit
        score = fit.skill
        believed = not fit.misses + fit.alarms and self._try_sizes(program)
        if score > course.best:
            course.best, course.choices = score, choices
        if not (believed or last) and score <= self.standing.best:
            return None
        self.standing.best = max(score, self.standing.best)
        return Candidate(program, self.name, fit.score, believed)

    def _look(self) -> Candidate | None:
        """The program of the likeliest choices, on the way to a schedule's end: shown, and kept if the best so far.

        One without an error asks for verification, and training goes on. The worlds come from a stream of their own, so
        that looking changes nothing.
        """
        self.latest = program = program_of(self.now.wiring, hard_choices(self.now.machine))
        self.now.course.fit = fit = fit_program(program, [self.task.sample(self._look_rng, FEW, self.task.train_size)])
        believed = fit.hits > 0 and not fit.misses + fit.alarms
        if not believed and fit.score <= self.standing.look_best:
            return None
        self.standing.look_best = fit.score
        return Candidate(program, self.name, fit.score, believed, ends=False)

    def _mine(self, examples: Examples, wrong: NDArray[np.bool_]) -> None:
        """Keep some worlds that the program is wrong on for training, if they are the exception."""
        bad = np.flatnonzero(wrong.any(axis=1))
        if 2 * len(bad) < examples.count:
            self.refute([examples.take(bad[: self.schedule.worlds.mine])])

    def _try_sizes(self, program: Program) -> bool:
        """Whether the program is right on worlds of all sizes up to the task's; what it is wrong on is kept."""
        for size in training_sizes(self.task.train_size):
            examples = self.worlds.whole(MANY, size)
            bad = np.flatnonzero(examples.mistakes(evaluate_target(program, examples.worlds)).any(axis=1))
            if len(bad):
                self.refute([examples.take(bad[: self.schedule.worlds.mine])])
                return False
        return True

    # ------------------------------------------------------------------ stopping and going on

    def state(self) -> GradientState:
        logits = self.now.machine.logits
        moments = self.now.optimiser.state.get(logits, {})
        nothing = torch.zeros_like(logits)
        return GradientState(
            logits=_copy(logits),
            moment1=_copy(moments.get("exp_avg", nothing)),
            moment2=_copy(moments.get("exp_avg_sq", nothing)),
            rng=deepcopy(self._rng),
            look_rng=deepcopy(self._look_rng),
            torch_rng=self._generator.get_state().numpy().copy(),
            standing=replace(self.standing),
            course=replace(self.now.course),
            hard_examples=list(self.worlds.hard),
        )

    def restore(self, state: GradientState) -> None:
        """Go on from a snapshot of a learner made with the same arguments."""
        course = state.course
        if not 2 <= course.depth <= self.settings.depth:
            raise RunError("a depth is not one of this machine")
        self.standing = replace(state.standing, restarts=state.standing.restarts - 1)
        now = replace(self._set_up(course.depth), course=replace(course))
        logits = now.machine.logits
        for array in (state.logits, state.moment1, state.moment2):
            # A fused optimiser writes wherever its moments say: their shape has to be right.
            if array.shape != tuple(logits.shape) or not np.isfinite(array).all():
                raise RunError("the saved weights do not fit this machine")
        with torch.no_grad():
            logits.copy_(torch.from_numpy(state.logits))
        if course.step:
            now.optimiser.state[logits] = {
                "step": torch.tensor(float(course.step), device=self.device),
                "exp_avg": torch.from_numpy(state.moment1.copy()).to(self.device),
                "exp_avg_sq": torch.from_numpy(state.moment2.copy()).to(self.device),
            }
        for own, saved in ((self._rng, state.rng), (self._look_rng, state.look_rng)):
            own.bit_generator.state = saved.bit_generator.state
        self._generator.set_state(torch.from_numpy(state.torch_rng.copy()))
        for choices in (course.choices, course.tried):
            if choices is not None:
                choices_of(now.wiring, choices)
        self.worlds.hard = examples_of(self.task, state.hard_examples)
        self.now = now


def squeeze(truth: Tensor, margin: float) -> Tensor:
    """Predictions in [margin, 1 - margin], and where that is 0 cut off short of 0 and 1.

    Cutting off takes the gradient from what is wrong beyond doubt, which with choices nearly hard is most of what is
    wrong; a margin leaves it, and bounds it.
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
