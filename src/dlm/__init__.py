"""Learn readable, verified first-order logic programs.

>>> import dlm
>>> program = dlm.parse_program("grandparent(x, y) :- exists z: parent(x, z) & parent(z, y).")
>>> program.inputs
{'parent': 2}
"""

from dlm.api import check, explain, learn, learn_policy, resume, resume_policy, run
from dlm.data import Examples, Facts, Structure, Worlds
from dlm.data.readers import read_facts, write_facts
from dlm.engines import Answers, evaluate_target
from dlm.engines.check import Check
from dlm.errors import DlmError
from dlm.export import export_program
from dlm.learning.portfolio import Result
from dlm.learning.settings import LearnSettings
from dlm.learning.verify import Verification, verify
from dlm.logic import Program, evaluate, format_program, parse_program, simplify
from dlm.logic.explain.explain import Explanation
from dlm.policies.policy import Policy
from dlm.prove import Proof, prove_equal
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
    "parse_program",
    "prove_equal",
    "read_facts",
    "resume",
    "resume_policy",
    "run",
    "simplify",
    "task_names",
    "verify",
    "write_facts",
]
