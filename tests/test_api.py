"""The public interface: exactly these names, each with a docstring."""

import inspect
import subprocess
import sys

import pytest

import dlm

PUBLIC = {
    "learning": {
        "learn",
        "resume",
        "load",
        "test",
        "Progress",
        "Result",
        "SoftResult",
        "LearnSettings",
        "MachineSettings",
    },
    "policies": {"learn_policy", "play", "Policy"},
    "tasks": {"Task", "get_task", "task_names", "Instance", "draw_instance"},
    "programs": {
        "Program",
        "read_program",
        "parse_program",
        "format_program",
        "simplify",
        "evaluate",
        "evaluate_target",
    },
    "exports": {"export_program"},
    "worlds": {"Structure", "Worlds", "Examples"},
    "facts": {"Facts", "read_facts", "write_facts", "run", "Answers"},
    "own data": {"Problem", "DataProblem", "DataResult", "read_problem", "inspect", "init"},
    "explanations": {"explain", "Explanation", "check", "Check"},
    "verification": {"Verification", "verify", "Proof", "prove_equal"},
    "others": {"DlmError", "__version__"},
}


def test_all_is_what_is_documented() -> None:
    documented = set().union(*PUBLIC.values())
    assert len(dlm.__all__) == len(set(dlm.__all__))
    assert set(dlm.__all__) == documented
    assert all(hasattr(dlm, name) for name in dlm.__all__)


def test_the_estimator_is_loaded_when_asked_for() -> None:
    assert "LogicClassifier" not in dlm.__all__  # a star import must work without scikit-learn
    assert inspect.getdoc(dlm.LogicClassifier)


@pytest.mark.parametrize("name", [name for name in dlm.__all__ if name != "__version__"])
def test_everything_public_has_a_docstring(name: str) -> None:
    assert inspect.getdoc(getattr(dlm, name))


def test_every_error_is_a_dlm_error() -> None:
    from dlm import errors

    classes = [name for name in errors.__all__ if inspect.isclass(getattr(errors, name)) and "Error" in name]
    assert len(classes) >= 9
    for name in classes:
        assert issubclass(getattr(errors, name), dlm.DlmError)
        assert name in str(errors.__doc__)


def test_importing_writes_nothing() -> None:
    done = subprocess.run([sys.executable, "-c", "import dlm"], capture_output=True, check=True, timeout=60)
    assert done.stdout == done.stderr == b""
