"""Run the notebooks of examples/ and, with --write, put what they show into them.

A notebook that fails is an error. They learn with `progress=False`: a bar would be another one each time.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

EXAMPLES = Path(__file__).parents[1] / "examples"
SECONDS = 300


def main() -> None:
    """Run those that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("notebooks", type=Path, nargs="*", default=sorted(EXAMPLES.glob("*.ipynb")))
    parser.add_argument("--write", action="store_true", help="Put the outputs into the files.")
    asked = parser.parse_args()
    if sys.platform == "win32":
        asyncio.set_event_loop_policy(asyncio.WindowsSelectorEventLoopPolicy())
    for path in asked.notebooks:
        notebook = nbformat.read(path, as_version=4)
        NotebookClient(
            notebook, timeout=SECONDS, kernel_name="python3", resources={"metadata": {"path": str(EXAMPLES)}}
        ).execute()
        for cell in notebook.cells:
            cell.metadata.pop("execution", None)  # when it was run is of no interest
        if asked.write:
            nbformat.write(notebook, path)
        print(f"{path.name}: {sum(cell.cell_type == 'code' for cell in notebook.cells)} cells ran")


if __name__ == "__main__":
    main()
