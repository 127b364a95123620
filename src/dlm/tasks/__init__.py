"""The problems that come with the package: fresh instances, their answers, and fitting settings."""

from dlm.tasks.registry import get_task, task_names
from dlm.tasks.sparse import Instance, draw_instance
from dlm.tasks.task import Task

__all__ = ["Instance", "Task", "draw_instance", "get_task", "task_names"]
