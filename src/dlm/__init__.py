"""Learn readable, verified first-order logic programs.

>>> import dlm
>>> program = dlm.parse_program("grandparent(x, y) :- exists z: parent(x, z) & parent(z, y).")
>>> program.inputs
{'parent': 2}
"""

import sys
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from dlm.logic.display import shown_by
from dlm.runs.views import viewed_by

if TYPE_CHECKING:
    from dlm.api.estimator import LogicClassifier as LogicClassifier
    from dlm.api.facts import check as check
    from dlm.api.facts import explain as explain
    from dlm.api.facts import run as run
    from dlm.api.front_door import learn as learn
    from dlm.api.front_door import learn_policy as learn_policy
    from dlm.api.front_door import load as load
    from dlm.api.front_door import resume as resume
    from dlm.api.inspection import init as init
    from dlm.api.inspection import inspect as inspect
    from dlm.api.trials import play as play
    from dlm.api.trials import test as test
    from dlm.data.facts import Facts as Facts
    from dlm.data.problem import DataProblem as DataProblem
    from dlm.data.readers import read_facts as read_facts
    from dlm.data.readers import write_facts as write_facts
    from dlm.data.sources.problems import Problem as Problem
    from dlm.data.sources.reading import read_problem as read_problem
    from dlm.data.structure import Structure as Structure
    from dlm.data.worlds import Examples as Examples
    from dlm.data.worlds import Worlds as Worlds
    from dlm.engines import Answers as Answers
    from dlm.engines import evaluate_target as evaluate_target
    from dlm.engines.check import Check as Check
    from dlm.errors import DlmError as DlmError
    from dlm.export import export_program as export_program
    from dlm.learning.result import Result as Result
    from dlm.learning.result import SoftResult as SoftResult
    from dlm.learning.rules.result import DataResult as DataResult
    from dlm.learning.settings import LearnSettings as LearnSettings
    from dlm.learning.verify import Verification as Verification
    from dlm.learning.verify import verify as verify
    from dlm.logic import Program as Program
    from dlm.logic import evaluate as evaluate
    from dlm.logic import format_program as format_program
    from dlm.logic import parse_program as parse_program
    from dlm.logic import simplify as simplify
    from dlm.logic.explain.explain import Explanation as Explanation
    from dlm.policies.policy import Policy as Policy
    from dlm.programs import read_program as read_program
    from dlm.prove import Proof as Proof
    from dlm.prove import prove_equal as prove_equal
    from dlm.runs.observer import Progress as Progress
    from dlm.space import MachineSettings as MachineSettings
    from dlm.tasks import Instance as Instance
    from dlm.tasks import Task as Task
    from dlm.tasks import draw_instance as draw_instance
    from dlm.tasks import get_task as get_task
    from dlm.tasks import task_names as task_names

__version__ = "0.1.0"

PUBLIC = {
    "dlm.api.inspection": ("init", "inspect"),
    "dlm.api.facts": ("check", "explain", "run"),
    "dlm.api.front_door": ("learn", "learn_policy", "load", "resume"),
    "dlm.api.trials": ("play", "test"),
    "dlm.data": ("Examples", "Facts", "Structure", "Worlds"),
    "dlm.data.problem": ("DataProblem",),
    "dlm.data.readers": ("read_facts", "write_facts"),
    "dlm.data.sources.problems": ("Problem",),
    "dlm.data.sources.reading": ("read_problem",),
    "dlm.engines": ("Answers", "evaluate_target"),
    "dlm.engines.check": ("Check",),
    "dlm.errors": ("DlmError",),
    "dlm.export": ("export_program",),
    "dlm.learning.result": ("Result", "SoftResult"),
    "dlm.learning.rules.result": ("DataResult",),
    "dlm.learning.settings": ("LearnSettings",),
    "dlm.learning.verify": ("Verification", "verify"),
    "dlm.logic": ("Program", "evaluate", "format_program", "parse_program", "simplify"),
    "dlm.logic.explain.explain": ("Explanation",),
    "dlm.policies.policy": ("Policy",),
    "dlm.programs": ("read_program",),
    "dlm.prove": ("Proof", "prove_equal"),
    "dlm.runs.observer": ("Progress",),
    "dlm.space": ("MachineSettings",),
    "dlm.tasks": ("Instance", "Task", "draw_instance", "get_task", "task_names"),
}
"""Where public names come from. A module is loaded when one of its names is asked for: no verb needs them all."""

_PLACES = {name: module for module, names in PUBLIC.items() for name in names}

__all__ = ["__version__", *_PLACES]


def __getattr__(name: str) -> object:
    """A public name, or a package of this one. `LogicClassifier` needs scikit-learn and is no part of ``__all__``."""
    if name in _PLACES or name == "LogicClassifier":
        found: object = getattr(import_module(_PLACES.get(name, "dlm.api.estimator")), name)
    elif not name.startswith("_") and find_spec(f"dlm.{name}") is not None:
        found = import_module(f"dlm.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


shown_by("dlm.export.notebook", "dlm.api.display")
viewed_by("dlm.report")

if "gymnasium" in sys.modules:
    import_module("dlm.envs")  # registers our ids
