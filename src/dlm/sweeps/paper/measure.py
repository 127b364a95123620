"""Time and memory of one thing, in a process of its own: ``python -m dlm.sweeps.paper.measure '{"what": ...}'``.

One thread; CPU seconds, the median of several runs. Memory is the peak of the process's resident memory beyond what it
had before anything was laid out.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from os import environ
from pathlib import Path
from typing import TYPE_CHECKING

from dlm.data.memory import available_bytes
from dlm.engines import evaluate_target
from dlm.learning.schedule import paper_schedule
from dlm.logic import parse_program
from dlm.seeds import fixed_rng
from dlm.space.settings import as_published
from dlm.space.wiring import Wiring, wire
from dlm.sweeps.job import Record
from dlm.sweeps.process import ONE_THREAD
from dlm.tasks import Task, get_task

if TYPE_CHECKING:
    from dlm.learning.baselines.dnl import DnlLearner
    from dlm.learning.baselines.training import Baseline

__all__ = ["main", "measure"]

BATCH = 4
"""Worlds a training step, as in the paper."""
SHARE = 0.8
"""Of the memory that is free: what is estimated to need more is not tried."""
TOTAL_SECONDS = 5.0
MOST_RUNS = 9
PATIENCE = 1800.0


def measure(what: str, **asked: object) -> Record:
    """Measure in another process; an error is a result too."""
    command = [sys.executable, "-m", "dlm.sweeps.paper.measure", json.dumps({"what": what, **asked})]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env={**environ, **ONE_THREAD}, timeout=PATIENCE
        )
    except subprocess.TimeoutExpired:
        return {"error": f"did not end in {PATIENCE:.0f} s"}
    if done.returncode:
        return {"error": done.stderr.strip()[-500:] or f"exit code {done.returncode}"}
    found: Record = json.loads(done.stdout.splitlines()[-1])
    return found


def measure_step(task: Task, objects: int) -> Record:
    """A training step of the machine: weights, forward, loss, backward, AdamW."""
    import torch
    from torch.nn.functional import binary_cross_entropy

    from dlm.machine import Layout, Machine, Selection, estimate_bytes, fast_apply, keep_memory, valuation_of

    wiring = _wiring(task)
    if (refused := _refusal(estimate_bytes(wiring, objects, BATCH, task.distinct_only))) is not None:
        return refused
    before = _begin_training()
    keep_memory()
    generator = torch.Generator().manual_seed(0)
    machine = Machine(wiring, generator)
    optimiser = torch.optim.AdamW(machine.parameters(), lr=0.005, weight_decay=0.01, fused=True)
    layout = Layout(wiring, objects, task.distinct_only)
    examples = task.sample(fixed_rng(), BATCH, objects)
    inputs = layout.to_layout(valuation_of(wiring, examples.worlds))
    target = layout.pick(torch.from_numpy(examples.target).float())

    def step() -> None:
        weights = machine.weights(Selection(1.0, 1.0, 0.1), BATCH, generator)
        truth = fast_apply(wiring, weights, inputs, layout).clamp(1e-5, 1 - 1e-5)
        optimiser.zero_grad()
        binary_cross_entropy(truth, target).backward()  # type: ignore[no-untyped-call]
        optimiser.step()

    descent = paper_schedule(task, task.settings).descent
    return {**_timed(step, before), "steps": descent.epochs * descent.steps}


def measure_soft(task: Task, objects: int) -> Record:
    """The soft machine on one world."""
    import torch

    from dlm.machine import Layout, Machine, Selection, estimate_bytes, fast_apply, valuation_of

    wiring = _wiring(task)
    if (refused := _refusal(estimate_bytes(wiring, objects, 1, task.distinct_only, training=False))) is not None:
        return refused
    torch.set_num_threads(1)
    before = _begin_peak()
    machine = Machine(wiring, torch.Generator().manual_seed(0))
    worlds = task.sample(fixed_rng(), 1, objects).worlds
    layout = Layout(wiring, objects, task.distinct_only)
    with torch.no_grad():
        weights = machine.weights(Selection())
        return _timed(
            lambda: fast_apply(wiring, weights, layout.to_layout(valuation_of(wiring, worlds)), layout), before
        )


def measure_nlm_step(task: Task, objects: int) -> Record:
    """A training step of the neural logic machine of a task."""
    from dlm.learning.baselines.architectures import nlm_machine
    from dlm.learning.baselines.nlm import NlmLearner, nlm_schedule

    before = _begin_training()
    return _step_of(NlmLearner(task, nlm_machine(task), nlm_schedule(task), 0), objects, before)


def measure_dnl_step(task: Task, objects: int) -> Record:
    """A training step of dNL-ILP, which takes one world."""
    before = _begin_training()
    return _step_of(_dnl(task), objects, before)


def measure_nlm(task: Task, objects: int) -> Record:
    """The neural logic machine on one world."""
    import torch

    from dlm.learning.baselines.architectures import nlm_machine
    from dlm.learning.baselines.nlm import NlmModel, nlm_wiring
    from dlm.machine import estimate_bytes
    from dlm.machine.neural import NeuralMachine

    wiring = nlm_wiring(task, nlm_machine(task))
    if (refused := _refusal(estimate_bytes(wiring, objects, 1, training=False))) is not None:
        return refused
    torch.set_num_threads(1)
    worlds = task.sample(fixed_rng(), 1, objects).worlds
    before = _begin_peak()
    weights = NeuralMachine(wiring, torch.Generator().manual_seed(0)).weights.detach()
    return _timed(lambda: NlmModel(wiring, weights).answers(worlds), before)


def measure_dnl(task: Task, objects: int) -> Record:
    """The memberships of dNL-ILP on one world."""
    import torch

    from dlm.learning.baselines.dnl import dnl_bytes
    from dlm.learning.baselines.dnl_templates import dnl_template

    needed = dnl_bytes(dnl_template(task), task.inputs, task.target, objects, training=False)
    if (refused := _refusal(needed)) is not None:
        return refused
    torch.set_num_threads(1)
    examples = task.sample(fixed_rng(), 1, objects)
    learner = _dnl(task)
    before = _begin_peak()
    with torch.no_grad():
        return _timed(lambda: learner.truth(examples, 0), before)


def measure_program(task: Task, objects: int, program: str) -> Record:
    """An extracted program on one world, by the evaluator on bits."""
    known = parse_program(program)
    examples = task.sample(fixed_rng(), 1, objects)
    before = _begin_peak()
    found = _timed(lambda: evaluate_target(known, examples.worlds), before)
    wrong = examples.mistakes(evaluate_target(known, examples.worlds))
    return {**found, "right": not wrong.any()}


MEASURES: dict[str, Callable[..., Record]] = {
    "step": measure_step,
    "nlm-step": measure_nlm_step,
    "dnl-ilp-step": measure_dnl_step,
    "soft": measure_soft,
    "program": measure_program,
    "nlm": measure_nlm,
    "dnl-ilp": measure_dnl,
}


def main() -> None:
    """Measure what the argument asks for."""
    asked = json.loads(sys.argv[1])
    found = MEASURES[asked.pop("what")](get_task(asked.pop("task")), **asked)
    sys.stdout.write(json.dumps(found) + "\n")


def _wiring(task: Task) -> Wiring:
    return wire(as_published(task.settings), task.inputs, task.target, task.target_arity)


def _dnl(task: Task) -> DnlLearner:
    from dlm.learning.baselines.dnl import DnlLearner, dnl_schedule
    from dlm.learning.baselines.dnl_templates import dnl_template

    return DnlLearner(task, dnl_template(task), dnl_schedule(task), 0)


def _step_of(learner: Baseline, objects: int, before: int) -> Record:
    """A step of a baseline on as many worlds as it takes."""
    examples = learner.task.sample(fixed_rng(), learner.schedule.batch, objects)

    def step() -> None:
        loss = learner.loss(examples)
        learner.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        learner.optimiser.step()

    return {**_timed(step, before), "steps": learner.schedule.steps}


def _refusal(needed: int) -> Record | None:
    """What is known of what memory does not suffice for."""
    return {"estimated_bytes": needed, "out_of_memory": True} if needed > SHARE * available_bytes() else None


def _timed(work: Callable[[], object], before: int) -> Record:
    """Run some work a few times after once to warm up."""
    work()
    seconds: list[float] = []
    while len(seconds) < MOST_RUNS and sum(seconds) < TOTAL_SECONDS:
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return {"seconds": statistics.median(seconds), "runs": len(seconds), "bytes": max(0, _peak_bytes() - before)}


def _begin_peak() -> int:
    """Forget the largest memory so far, where Linux lets us, so that drawing a world does not hide what follows."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return _peak_bytes()


def _begin_training() -> int:
    """The same after a training step of nothing, which has loaded all that one needs."""
    import torch

    torch.set_num_threads(1)
    nothing = torch.nn.Parameter(torch.zeros(1))
    nothing.sum().backward()  # type: ignore[no-untyped-call]
    torch.optim.AdamW([nothing]).step()
    return _begin_peak()


def _peak_bytes() -> int:
    # Unlike getrusage's, this figure starts anew with each program.
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    line = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024


if __name__ == "__main__":
    main()
