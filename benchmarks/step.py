"""What a training step costs: `python -m benchmarks.step` writes docs/benchmarks/step.md and step.json.

One thread, CPU seconds (`time.process_time`), the median of several steps after two to warm up, each
measurement in a process of its own so that its peak memory is its own. The literal path is the
paper's computation written to be read; the fast one is what training uses. The published numbers were
measured on a machine of our kind, see the table's note.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch.nn.functional import binary_cross_entropy

from dlm.machine import Layout, Machine, Selection, apply, estimate_bytes, fast_apply, keep_memory
from dlm.space import MachineSettings, wire

__all__ = ["CONFIGURATIONS", "Configuration", "main", "measure"]

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


@dataclass(frozen=True)
class Measurement:
    """CPU seconds a step, peak resident memory, that of torch alone, and what a fast step should add to it."""

    seconds: float
    megabytes: float
    idle_megabytes: float
    estimated_megabytes: float
    parameters: int
    steps: int


def measure(configuration: Configuration, path: str, steps: int) -> Measurement:
    """Run training steps in this process: weights, forward, loss, backward, AdamW."""
    torch.set_num_threads(1)
    keep_memory()
    idle = _idle_megabytes()
    settings = MachineSettings(depth=configuration.depth, breadth=configuration.breadth)
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
    return Measurement(statistics.median(seconds), _peak_megabytes(), idle, estimate, wiring.parameters, steps)


def _peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _idle_megabytes() -> float:
    """The memory of a process that has loaded torch and made a step with nothing to learn."""
    nothing = torch.nn.Parameter(torch.zeros(1))
    nothing.sum().backward()  # type: ignore[no-untyped-call]
    torch.optim.AdamW([nothing], fused=True).step()
    return _peak_megabytes()


def _measure_apart(configuration: Configuration, path: str) -> Measurement:
    steps = 40 if path == "fast" else 3
    command = [sys.executable, "-m", "benchmarks.step", "--measure", configuration.name, path, str(steps)]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    return Measurement(**json.loads(result.stdout))


def _table(results: dict[str, dict[str, Measurement]]) -> str:
    idle = max(measured["fast"].idle_megabytes for measured in results.values())
    lines = [
        "# A training step",
        "",
        "Written by `python -m benchmarks.step`. CPU seconds a step (weights, forward, loss, backward, AdamW),",
        f"batch {BATCH}, one thread, median after warm-up; peak resident memory of the process, of which torch with",
        f"nothing to do takes {idle:.0f} MB. *Published* is the DLM authors' implementation, measured earlier on a",
        "machine of the same kind and not in this run; *literal* and *fast* are ours, measured in this run on random "
        "facts.",
        "",
        f"Machine: {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, torch "
        f"{torch.__version__}; load average at the end {os.getloadavg()[1]:.1f} (a busy neighbour slows our "
        "columns, not the published one).",
        "",
        "| task | m, depth, breadth | logits | published | literal | fast | literal / fast | published / fast |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for configuration in CONFIGURATIONS:
        literal, fast = (results[configuration.name][path] for path in PATHS)
        lines.append(
            f"| {configuration.name} | {configuration.size}, {configuration.depth}, {configuration.breadth} "
            f"| {fast.parameters:,} "
            f"| {configuration.published_seconds:.3g} s, {configuration.published_megabytes} MB "
            f"| {literal.seconds:.3f} s, {literal.megabytes:.0f} MB "
            f"| {fast.seconds * 1000:.1f} ms, {fast.megabytes:.0f} MB "
            f"| {literal.seconds / fast.seconds:.1f} | {configuration.published_seconds / fast.seconds:.0f} |"
        )
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> None:
    """Measure everything and write the table, or one measurement for the process that asks for it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.step", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/benchmarks"), help="where step.md and step.json go")
    parser.add_argument("--measure", nargs=3, metavar=("TASK", "PATH", "STEPS"), help="print one measurement as JSON")
    options = parser.parse_args(arguments)
    by_name = {configuration.name: configuration for configuration in CONFIGURATIONS}
    if options.measure:
        name, path, steps = options.measure
        print(json.dumps(asdict(measure(by_name[name], path, int(steps)))))
        return
    results: dict[str, dict[str, Measurement]] = {}
    for configuration in CONFIGURATIONS:
        results[configuration.name] = {path: _measure_apart(configuration, path) for path in PATHS}
        shown = ", ".join(f"{path} {m.seconds * 1000:.1f} ms" for path, m in results[configuration.name].items())
        print(f"{configuration.name}: {shown}", flush=True)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "step.md").write_text(_table(results))
    content = {
        name: {"configuration": asdict(by_name[name]), **{path: asdict(m) for path, m in measured.items()}}
        for name, measured in results.items()
    }
    (options.out / "step.json").write_text(json.dumps(content, indent=2) + "\n")


if __name__ == "__main__":
    main()
