"""Which files four walks lead through: those of which a function is called, in the order of first calls.

Run as ``python -m benchmarks.walks [TREE ...]``, each TREE a checkout; by default this one. ``--files`` lists
the files.
A file counts once, however often it is entered. What runs only while a module is imported does not count, nor does a
file of which only classes and constants are used. Learners are `search`, in this process, and problems are small.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).parents[1]
WALKS = ("learn family/is-grandparent", "learn rl/unstack", "run PROGRAM FACTS", "learn_policy(env)")
PROGRAM = "grandparent(x, y) :- exists z: parent(x, z) & parent(z, y).\n"
FACTS = "parent(ann, bob).\nparent(bob, cid).\n"


def main() -> None:
    """Print the four counts of each tree."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trees", nargs="*", type=Path, default=[ROOT], metavar="TREE")
    parser.add_argument("--files", action="store_true", help="list the files in the order in which they are entered")
    parser.add_argument("--walk", type=int, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.walk is not None:
        sys.stdout.write(json.dumps(walked(asked.walk, asked.trees[0].resolve() / "src" / "dlm")) + "\n")
        return
    for tree in asked.trees:
        print(tree)
        for number, name in enumerate(WALKS):
            files = measure(tree, number)
            print(f"  {len(files):3}  {name}")
            if asked.files:
                print("".join(f"       {file}\n" for file in files), end="")


def measure(tree: Path, walk: int) -> list[str]:
    """The files of one walk, in a process that imports from the tree."""
    path = os.pathsep.join([str(tree.resolve() / "src"), str(ROOT)])
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "benchmarks.walks", str(tree.resolve()), "--walk", str(walk)]
        environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{WALKS[walk]} failed in {tree}:\n{done.stderr}")
    files: list[str] = json.loads(done.stdout.splitlines()[-1])
    return files


def walked(walk: int, package: Path) -> list[str]:
    """Take a walk here, and tell which files of the package were entered."""
    seen: set[object] = set()
    entered: dict[str, None] = {}

    def watch(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event != "call" or code in seen or not code.co_filename.startswith(str(package)) or importing(frame):
            return
        seen.add(code)
        entered.setdefault(str(Path(code.co_filename).relative_to(package)))

    steps = (learn_task, learn_rl, run_program, learn_own)
    sys.setprofile(watch)
    try:
        steps[walk]()
    finally:
        sys.setprofile(None)
    return list(entered)


def importing(frame: FrameType | None) -> bool:
    """Whether a module is being imported: its body is on the stack."""
    while frame is not None and frame.f_globals.get("__name__") != "__main__":
        if frame.f_code.co_name == "<module>":
            return True
        frame = frame.f_back
    return False


# ---------------------------------------------------------------------- the walks


def command_line(*arguments: str) -> None:
    """A command of `dlm`, in this process."""
    sys.argv = ["dlm", *arguments]
    from dlm.cli.app import main as dlm

    try:
        dlm()
    except SystemExit as end:
        if end.code:
            raise


def learn_task() -> None:
    command_line("learn", "family/is-grandparent", "--learner", "search", "--out", "run")


def learn_rl() -> None:
    command_line("learn", "rl/unstack", "--learner", "search", "--out", "run")


def run_program() -> None:
    Path("program.dlm").write_text(PROGRAM)
    Path("facts.pl").write_text(FACTS)
    command_line("run", "program.dlm", "facts.pl")


def learn_own() -> None:
    import dlm

    names: dict[str, object] = {}
    page = (ROOT / "docs" / "tutorial-policy.md").read_text(encoding="utf-8")
    exec(page.split("```python\n")[1].split("```")[0], names)  # the world of the tutorial
    dlm.learn_policy(names["Delivery"], action="choose", sizes=(2, 3), seed=0, learner="search")


if __name__ == "__main__":
    main()
