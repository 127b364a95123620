"""Learn readable, verified first-order logic programs.

>>> import dlm
>>> program = dlm.parse_program("grandparent(x, y) :- exists z: parent(x, z) & parent(z, y).")
>>> program.inputs
{'parent': 2}
"""

from dlm.api import check, explain, learn, learn_policy, load, play, resume, run, test
from dlm.data import Examples, Facts, Structure, Worlds
from dlm.data.readers import read_facts, write_facts
from dlm.engines import Answers, evaluate_target
from dlm.engines.check import Check
from dlm.errors import DlmError
from dlm.export import export_program
from dlm.learning.result import Result
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

__version__ = "0.1.0"

__all__ = [
    "Answers",
    "Check",
    "DlmError",
    "Examples",
    "Explanation",
    "Facts",
    "Instance",
    "LearnSettings",
    "MachineSettings",
    "Policy",
    "Program",
    "Progress",
    "Proof",
    "Result",
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
    "learn",
    "learn_policy",
    "load",
    "parse_program",
    "play",
    "prove_equal",
    "read_facts",
    "read_program",
    "resume",
    "run",
    "simplify",
    "task_names",
    "test",
    "verify",
    "write_facts",
]
