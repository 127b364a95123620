"""Read back how a run ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from dlm.errors import RunError
from dlm.learning.portfolio import Ending, Result
from dlm.learning.verify import Trial, Verification
from dlm.logic.text import parse_program
from dlm.runs.folder import RunFolder, read_program

__all__ = ["read_result"]


def read_result(folder: RunFolder) -> Result | None:
    """The result in a run folder, without its counterexamples, or None if the run has not ended yet."""
    if not folder.has("result.json"):
        return None
    saved: Mapping[str, Any] = folder.read_json("result.json")
    try:
        train, large, spread = (
            Trial(tuple(map(int, t["sizes"])), int(t["instances"]), int(t["right"]), float(t["success_rate"]))
            for t in saved["trials"]
        )
        if saved["ended"] not in get_args(Ending):
            raise ValueError(saved["ended"])
        return Result(
            task=str(saved["task"]),
            seed=int(saved["seed"]),
            learner=str(saved["learner"]),
            program=parse_program(str(saved["program"]), origin=f"{folder.path}/result.json"),
            raw=read_program(folder.path / "raw.dlm"),
            verification=Verification(train, large, spread, ()),
            seconds=float(saved["seconds"]),
            starts=int(saved["starts"]),
            steps=int(saved["steps"]),
            ended=saved["ended"],
            run_dir=folder.path,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise RunError(f"{folder.path}/result.json is damaged: {error!r}; delete it and resume the run") from None
