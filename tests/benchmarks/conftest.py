"""Benchmarks are run as a user runs them: as modules, in processes of their own."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def script() -> Callable[..., str]:
    """Runs a module of the benchmarks in some folder and returns what it prints."""

    def run(module: str, *arguments: object, cwd: Path) -> str:
        paths = os.pathsep.join(map(str, (ROOT / "src", ROOT / "tests", ROOT)))
        done = subprocess.run(
            [sys.executable, "-m", f"benchmarks.{module}", *map(str, arguments)],
            cwd=cwd,
            env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run
