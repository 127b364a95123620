"""The learner `nlm`: a neural logic machine (Dong et al., ICLR 2019), trained as its authors publish it.

AdamW on the binary cross-entropy of worlds of the training size, four a step, 250 steps an epoch; training ends early
once the mean loss of an epoch is small. What it learns stays soft: there is no program to read off.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from dlm import seeds
from dlm.data.memory import require_bytes
from dlm.data.worlds import BoolArray, Examples, Worlds
from dlm.errors import RunError
from dlm.learning.baselines.training import Baseline, BaselineSchedule
from dlm.machine.layout import Layout
from dlm.machine.memory import estimate_bytes
from dlm.machine.neural import NeuralMachine, fast_neural, neural_layout, neural_wiring
from dlm.machine.valuation import valuation_of
from dlm.runs.learner import Candidate
from dlm.seeds import Stream
from dlm.space.settings import MachineSettings
from dlm.space.wiring import Wiring, wire
from dlm.tasks.task import Task

__all__ = ["NlmLearner", "NlmModel", "SavedNlm", "nlm_schedule", "nlm_wiring"]

LEARNING_RATE = 0.005
EPOCH, BATCH = 250, 4
EPOCHS, ENOUGH = 50, 1e-5
LONGER = {
    "family/is-grandparent": (100, 1e-7),
    "family/is-uncle": (200, 1e-8),
    "family/is-mguncle": (200, 1e-8),
}
"""Epochs and the loss that is enough, of tasks that take longer than most."""
TRIED_TOGETHER, TRIED_BYTES = 64, 1 << 29
"""Worlds that are answered together, at most, and what they may take together; a single one may take more."""


def nlm_schedule(task: Task) -> BaselineSchedule:
    """The published numbers."""
    epochs, enough = LONGER.get(task.name, (EPOCHS, ENOUGH))
    return BaselineSchedule(task.train_size, BATCH, epochs * EPOCH, EPOCH, enough)


def nlm_wiring(task: Task, settings: MachineSettings) -> Wiring:
    """How the units of a task's neural logic machine read each other."""
    return neural_wiring(wire(settings, task.inputs, task.target, task.target_arity))


@dataclass(frozen=True)
class SavedNlm:
    """What a file keeps of a trained machine; the wiring is that of the run's settings."""

    weights: NDArray[np.float32]


@dataclass(frozen=True)
class NlmModel:
    """A trained machine as something that answers."""

    wiring: Wiring
    weights: Tensor

    def answers(self, worlds: Worlds) -> BoolArray:
        """What it holds more true than false, of worlds of any size."""
        one = estimate_bytes(self.wiring, worlds.size, 1, training=False)
        require_bytes(one, f"the answers of a neural logic machine on {worlds.size} objects", "use fewer objects")
        together = max(1, min(TRIED_TOGETHER, TRIED_BYTES // max(one, 1)))
        parts = []
        layout = neural_layout(self.wiring, worlds.size, distinct_only=False, device=self.weights.device)
        with torch.no_grad():
            for start in range(0, worlds.count, together):
                some = worlds.take(slice(start, start + together))
                valuation = valuation_of(self.wiring, some, device=self.weights.device)
                parts.append((layout.to_dense(fast_neural(self.weights, valuation, layout)) > 0).cpu().numpy())
        return np.concatenate(parts) if parts else np.zeros((0, *(worlds.size,) * self.wiring.target_arity), np.bool_)

    def saved(self) -> SavedNlm:
        return SavedNlm(self.weights.cpu().numpy().copy())

    @classmethod
    def of(cls, saved: SavedNlm, settings: MachineSettings, task: Task) -> NlmModel:
        """The model that was saved, if it is one of these settings and task."""
        wiring = nlm_wiring(task, settings)
        if saved.weights.shape != (wiring.parameters,):
            raise RunError(f"the saved soft model is not one of the machine for {task.name}")
        return cls(wiring, torch.from_numpy(saved.weights.copy()))


class NlmLearner(Baseline):
    """Trains a neural logic machine; `model` is what it has come to."""

    name = "nlm"

    def __init__(
        self,
        task: Task,
        settings: MachineSettings,
        schedule: BaselineSchedule,
        seed: int,
        device: torch.device | str = "cpu",
    ) -> None:
        self.wiring = nlm_wiring(task, settings)
        needed = estimate_bytes(self.wiring, schedule.size, schedule.batch, task.distinct_only)
        require_bytes(needed, "a training step of this neural logic machine", "use a smaller depth, breadth or outputs")
        self.device = torch.device(device)
        draw = int(seeds.rng(seed, Stream.BASELINE, 2).integers(2**62))
        self.machine = NeuralMachine(self.wiring, torch.Generator(self.device).manual_seed(draw), self.device)
        parameters = [self.machine.weights]
        optimiser = torch.optim.AdamW(parameters, lr=LEARNING_RATE, weight_decay=0.01, fused=True)
        self._layouts: dict[int, Layout] = {}
        super().__init__(task, schedule, seed, parameters, optimiser)

    def loss(self, examples: Examples) -> Tensor:
        layout = self._layout(examples.size)
        valuation = valuation_of(self.wiring, examples.worlds, device=self.device)
        target = torch.from_numpy(examples.target).to(self.device, torch.float32)
        return binary_cross_entropy_with_logits(
            fast_neural(self.machine.weights, valuation, layout), layout.pick(target)
        )

    def _layout(self, size: int) -> Layout:
        if size not in self._layouts:
            self._layouts[size] = neural_layout(self.wiring, size, self.task.distinct_only, self.device)
        return self._layouts[size]

    def look(self, *, last: bool) -> Candidate | None:  # noqa: ARG002 (there is nothing to show but the loss)
        return None

    def model(self) -> NlmModel:
        return NlmModel(self.wiring, self.machine.weights.detach().clone())
