"""Learn readable, verified first-order logic programs.

>>> import dlm
>>> program = dlm.parse_program("grandparent(x, y) :- exists z: parent(x, z) & parent(z, y).")
>>> program.inputs
{'parent': 2}
"""

from typing import TYPE_CHECKING

from dlm.api import check, explain, init, inspect, learn, learn_policy, load, play, resume, run, test
from dlm.data import Examples, Facts, Structure, Worlds
from dlm.data.problem import DataProblem
from dlm.data.readers import read_facts, write_facts
from dlm.data.sources.problems import Problem
from dlm.data.sources.reading import read_problem
from dlm.engines import Answers, evaluate_target
from dlm.engines.check import Check
from dlm.errors import DlmError
from dlm.export import export_program
from dlm.learning.result import Result, SoftResult
from dlm.learning.rules.result import DataResult
from dlm.learning.settings import LearnSettings
from dlm.learning.verify import Verification, verify
from dlm.logic import Program, evaluate, format_program, parse_program, simplify
from dlm.logic.explain.explain import Explanation
from dlm.policies.policy import Policy
from dlm.programs import read_program
from dlm.prove import Proof, prove_equal
from dlm.runs.observer import Progress
from dlm.space import MachineSettings
from dlm.tasks import Instance, Task, draw_instance, get_task, task_names

if TYPE_CHECKING:
    from dlm.api.estimator import LogicClassifier as LogicClassifier

__version__ = "0.1.0"

__all__ = [
    "Answers",
    "Check",
    "DataProblem",
    "DataResult",
    "DlmError",
    "Examples",
    "Explanation",
    "Facts",
    "Instance",
    "LearnSettings",
    "MachineSettings",
    "Policy",
    "Problem",
    "Program",
    "Progress",
    "Proof",
    "Result",
    "SoftResult",
    "Structure",
    "Task",
    "Verification",
    "Worlds",
    "__version__",
    "check",
    "draw_instance",
    "evaluate",
    "evaluate_target",
    "explain",
    "export_program",
    "format_program",
    "get_task",
    "init",
    "inspect",
    "learn",
    "learn_policy",
    "load",
    "parse_program",
    "play",
    "prove_equal",
    "read_facts",
    "read_problem",
    "read_program",
    "resume",
    "run",
    "simplify",
    "task_names",
    "test",
    "verify",
    "write_facts",
]


def __getattr__(name: str) -> object:
    """`LogicClassifier` needs scikit-learn: it is loaded when it is asked for, and no part of ``__all__``."""
    if name == "LogicClassifier":
        from dlm.api.estimator import LogicClassifier

        return LogicClassifier
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
