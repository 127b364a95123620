"""What a training step costs: ``make bench-step`` writes ``docs/benchmarks/step.md`` and JSON.

One thread, CPU seconds (`time.process_time`), the median of several steps after two to warm up, each
measurement in a process of its own so that its peak memory is its own. The literal path is the
paper's computation written to be read; the fast one is what training uses. Both are the machine that the learner
`gradient` trains, whose quantifiers skip tuples with a repeat as the published program's do. The published numbers were
measured on a machine of our kind, see the table's note.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch.nn.functional import binary_cross_entropy

from benchmarks.pages import OUT, Record, machine, render, write
from dlm.machine import Layout, Machine, Selection, apply, estimate_bytes, fast_apply, keep_memory
from dlm.space import MachineSettings, wire

__all__ = ["CONFIGURATIONS", "Configuration", "main", "measure", "page"]

FAMILY = ("daughter", "father", "mother", "son")
GRAPH = ("edge",)
PATHS = ("literal", "fast")
BATCH = 4


@dataclass(frozen=True)
class Configuration:
    """A task's shape, and the published implementation's CPU seconds and megabytes for a step of it."""

    name: str
    inputs: tuple[str, ...]
    target_arity: int
    distinct_only: bool
    size: int
    depth: int
    breadth: int
    published_seconds: float
    published_megabytes: int


CONFIGURATIONS = (
    Configuration("HasFather", FAMILY, 1, False, 20, 5, 3, 0.90, 668),
    Configuration("IsGrandparent", FAMILY, 2, False, 20, 5, 3, 1.14, 687),
    Configuration("IsMGUncle", FAMILY, 2, False, 20, 9, 3, 3.00, 863),
    Configuration("4-Connectivity", GRAPH, 2, True, 10, 5, 3, 0.136, 406),
    Configuration("6-Connectivity", GRAPH, 2, True, 10, 9, 3, 0.311, 503),
    Configuration("1-OutDegree", GRAPH, 1, False, 10, 5, 3, 0.098, 390),
    Configuration("2-OutDegree", GRAPH, 1, False, 10, 7, 4, 5.56, 1762),
)


def measure(configuration: Configuration, path: str, steps: int) -> Record:
    """Run training steps in this process: weights, forward, loss, backward, AdamW.

    CPU seconds a step, peak resident memory, that of torch alone, and what a fast step should add to it.
    """
    torch.set_num_threads(1)
    keep_memory()
    idle = _idle_megabytes()
    settings = MachineSettings(depth=configuration.depth, breadth=configuration.breadth, repeats=False)
    wiring = wire(settings, dict.fromkeys(configuration.inputs, 2), "target", configuration.target_arity)
    generator = torch.Generator().manual_seed(0)
    machine = Machine(wiring, generator)
    optimiser = torch.optim.AdamW(machine.parameters(), lr=0.005, weight_decay=0.01, fused=True)
    selection = Selection(temperature=1.0, noise=1.0, dropout=0.1)
    size = configuration.size
    layout = Layout(wiring, size, configuration.distinct_only)
    facts = torch.rand(BATCH, size, size, len(configuration.inputs), generator=generator) < 0.2
    valuation = {2: facts.float()}
    dense = torch.rand(BATCH, *(size,) * configuration.target_arity, generator=generator) < 0.3
    target = layout.pick(dense.float())

    def step() -> None:
        weights = machine.weights(selection, BATCH, generator)
        if path == "fast":
            truth = fast_apply(wiring, weights, layout.to_layout(valuation), layout)
        else:
            truth = layout.pick(apply(wiring, weights, valuation, size))
        loss = binary_cross_entropy(truth.clamp(1e-5, 1 - 1e-5), target)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()

    for _ in range(2):
        step()
    seconds = []
    for _ in range(steps):
        before = time.process_time()
        step()
        seconds.append(time.process_time() - before)
    estimate = estimate_bytes(wiring, size, BATCH, configuration.distinct_only) / 2**20
    return {
        "seconds": statistics.median(seconds),
        "megabytes": _peak_megabytes(),
        "idle_megabytes": idle,
        "estimated_megabytes": estimate,
        "parameters": wiring.parameters,
        "steps": steps,
    }


def _peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _idle_megabytes() -> float:
    """The memory of a process that has loaded torch and made a step with nothing to learn."""
    nothing = torch.nn.Parameter(torch.zeros(1))
    nothing.sum().backward()  # type: ignore[no-untyped-call]
    torch.optim.AdamW([nothing], fused=True).step()
    return _peak_megabytes()


def _measure_apart(configuration: Configuration, path: str) -> Record:
    steps = 40 if path == "fast" else 3
    command = [sys.executable, "-m", "benchmarks.step", "--measure", configuration.name, path, str(steps)]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    found: Record = json.loads(result.stdout)
    return found


def page(figures: Record) -> str:
    """The page of these figures."""
    idle = max(measured["fast"]["idle_megabytes"] for measured in figures["tasks"].values())
    return render("step", {**figures, "idle": idle, "batch": BATCH})


def main() -> None:
    """Measure everything and write the table, or one measurement for the process that asks for it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--out", type=Path, default=OUT, help="where step.md and step.json go")
    parser.add_argument("--measure", nargs=3, metavar=("TASK", "PATH", "STEPS"), help="print one measurement as JSON")
    options = parser.parse_args()
    if options.measure:
        name, path, steps = options.measure
        configuration = next(known for known in CONFIGURATIONS if known.name == name)
        print(json.dumps(measure(configuration, path, int(steps))))
        return
    tasks: dict[str, Record] = {}
    for configuration in CONFIGURATIONS:
        measured = {path: _measure_apart(configuration, path) for path in PATHS}
        tasks[configuration.name] = {"configuration": asdict(configuration), **measured}
        shown = ", ".join(f"{path} {1000 * found['seconds']:.1f} ms" for path, found in measured.items())
        print(f"{configuration.name}: {shown}", flush=True)
    here = {**machine(), "torch": torch.__version__, "load": os.getloadavg()[1]}
    figures = {"machine": here, "tasks": tasks}
    write(options.out, "step", figures, page(figures))


if __name__ == "__main__":
    main()
