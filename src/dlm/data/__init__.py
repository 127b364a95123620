"""What is learned from: structures and batches of them."""

from dlm.data.facts import Facts, Rows
from dlm.data.structure import Structure
from dlm.data.worlds import BoolArray, Examples, Worlds

__all__ = ["BoolArray", "Examples", "Facts", "Rows", "Structure", "Worlds"]
