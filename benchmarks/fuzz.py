"""Fuzz every reader and the command line: damaged and random inputs end in an answer or in a clear error.

``make fuzz`` takes seconds; ``make fuzz ARGS="--inputs 100000 --calls 2000"`` is for a long night. An input fails if it
raises anything but a `DlmError`, takes longer than ten seconds, or ends the command line with an undocumented exit code
or a traceback. Failing inputs are kept in a folder, with what happened.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import random
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import dlm
from dlm.cli.app import main as command_line
from dlm.errors import DlmError
from dlm.export.json import parse_json
from dlm.logic.explain.query import parse_query

SECONDS = 10
LONGEST = 2_000_000
"""Of an input in characters; beyond it ten seconds may be too short for any reader."""

EXIT_CODES = (0, 2, 3, 130)

PROGRAM = (
    "g(x, y) :- exists z: parent(x, z) & (parent(z, y) | ~forall w != z: q(w)).\nt(x) :- exists y: g(x, y) & x != y.\n"
)
LIST = "act(x) :- p(x) &\n  1. q(x)\n  2. else exists y: r(x, y).\n"
SEEDS = {
    "program": [PROGRAM, LIST, "p() :- true.\n", "'odd name'(x) :- 'a''b'(x) & x = x.\n"],
    "json": [dlm.export_program(dlm.parse_program(PROGRAM), "json")],
    "facts.pl": [
        "parent(ann, bob).\nparent(bob, 'C. D').\nq(1). r(a, b).\n% comment\n",
        ":- dynamic q/1, 'a b'/2.\np('\\x41\\', \"\\u0042\", -1.5e3, 0_7, 'it''s').\n/* no more */\n",
    ],
    "facts.csv": ['a,b\nann,bob\n"x,y",z\n1,2\n'],
    "examples.pl": ["pos(t(ann)).\nneg(t(bob)).\n"],
    "atom": ["t(ann)", "g('C. D', bob)", "p()"],
}
TOKENS = [
    "(",
    ")",
    ":-",
    "exists x:",
    "forall y != x:",
    "~",
    "&",
    "|",
    ",",
    ".",
    "'",
    '"',
    "\\",
    "\n",
    "\x00",
    "\ud800",
    "\u202e",
]
TOKENS += ["true", "else", "1.", "{", "}", "[", "]", "9" * 5000, "-1", "1e999", "null", "NaN", "é", "x" * 300]


def damaged(text: str, rng: random.Random) -> str:
    """Some edits: pieces left out, doubled, moved, nested, or replaced by what does not belong there."""
    for _ in range(rng.randint(1, 4)):
        first, last = sorted(rng.randint(0, len(text)) for _ in range(2))
        piece = text[first:last]
        match rng.randint(0, 5):
            case 0:
                text = text[:first] + text[last:]
            case 1:
                text = text[:last] + piece + text[last:]
            case 2:
                text = text[:first] + rng.choice(TOKENS) + text[first:]
            case 3:
                text = text[:first] + piece[::-1] + text[last:]
            case 4:
                text = text[:first] + rng.choice(TOKENS) * rng.choice([2, 20, 400]) + text[first:]
            case _:
                text = text[:first] + piece * rng.choice([2, 10, 50]) + text[last:]
    return text[:LONGEST]


def read(kind: str, text: str, folder: Path) -> None:
    """What a user's input goes through."""
    if kind in ("program", "json"):
        program = dlm.parse_program(text) if kind == "program" else parse_json(text)
        small = dlm.simplify(program)
        for target in ("text", "json", "python", "prolog", "markdown", "latex", "html"):
            dlm.export_program(small, target)
        objects = ("ann", "bob", "c")
        structure = dlm.Structure(objects, program.inputs, {name: frozenset() for name in program.inputs})
        dlm.run(program, structure, "bits").rows()
    elif kind == "atom":
        parse_query(text)
    else:
        path = folder / kind
        path.write_bytes(text.encode(errors="surrogatepass"))
        if kind.startswith("facts"):
            dlm.read_facts(path)
        else:
            dlm.check(dlm.parse_program(PROGRAM), {"parent": [("ann", "bob")], "q": [("bob",)]}, path)


def call(arguments: list[str]) -> None:
    """One call of the command line, in this process."""
    out, err = io.StringIO(), io.StringIO()
    before = sys.argv
    sys.argv = ["dlm", *arguments]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            command_line()
        code: object = 0
    except SystemExit as ended:
        code = ended.code or 0
    finally:
        sys.argv = before
    assert code in EXIT_CODES, f"exit code {code}: {err.getvalue()[-500:]}"
    assert "Traceback" not in err.getvalue(), err.getvalue()[-2000:]


def calls(folder: Path, rng: random.Random) -> Iterator[tuple[str, Callable[[], None]]]:
    """Calls of the command line on damaged programs, facts and run folders, without end."""
    run = folder / "run"
    dlm.learn("family/has-father", learner="search", out=run)
    (run / "progress.json").write_text(json.dumps({"seconds": 1.0, "counts": {"attempts": 1}}))
    names = sorted(path.name for path in run.iterdir() if path.suffix != ".safetensors")  # test_damage has those
    while True:
        copy = folder / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(run, copy)
        name = rng.choice(names)
        text = damaged((copy / name).read_text(encoding="utf-8"), rng)
        (copy / name).write_bytes(text.encode(errors="surrogatepass"))
        program = folder / "program.dlm"
        program.write_bytes(damaged(rng.choice(SEEDS["program"]), rng).encode(errors="surrogatepass"))
        facts = folder / "facts.pl"
        facts.write_bytes(damaged(rng.choice(SEEDS["facts.pl"]), rng).encode(errors="surrogatepass"))
        atom = damaged(rng.choice(SEEDS["atom"]), rng).replace("\x00", "")
        arguments = rng.choice(
            [
                ["show", str(copy)],
                ["test", str(copy), "--objects", "4", "--instances", "3"],
                ["learn", "--resume", str(copy), "--time-limit", "0.1"],
                ["show", str(program)],
                ["run", str(program), str(facts), "--missing", "empty"],
                ["explain", str(program), str(facts), atom, "--missing", "empty"],
                ["export", str(program), "--to", rng.choice(["prolog", "asp", "json", "html"])],
                ["export", str(program), "--to", "sql", *rng.choice([[], ["--create-tables"]])],
            ]
        )
        yield f"{' '.join(arguments)}\n{name}: {text}", partial(call, arguments)


def attempt(what: str, work: Callable[[], None], failures: Path) -> bool:
    """Whether an input was answered as documented; if not, it is kept."""

    def late(*_: object) -> None:
        raise TimeoutError(f"no answer within {SECONDS} s")

    signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        work()
    except DlmError:
        pass
    except Exception:  # whatever it is, it should not have come
        failures.mkdir(parents=True, exist_ok=True)
        path = failures / f"{len(list(failures.iterdir())):05d}.txt"
        path.write_bytes(f"{traceback.format_exc()}\n---\n{what}".encode(errors="surrogatepass"))
        return False
    finally:
        signal.alarm(0)
    return True


def main() -> int:
    """Fuzz, and say how many inputs were not answered as documented."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=2000, help="damaged inputs to readers")
    parser.add_argument("--calls", type=int, default=60, help="calls of the command line")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--failures", type=Path, default=Path("fuzz-failures"), help="where failing inputs are kept")
    asked = parser.parse_args()
    rng = random.Random(asked.seed)
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for _ in range(asked.inputs):
            kind = rng.choice(sorted(SEEDS))
            text = damaged(rng.choice(SEEDS[kind]), rng)
            failed += not attempt(f"{kind}: {text}", partial(read, kind, text, folder), asked.failures)
        for (what, work), _ in zip(calls(folder, rng), range(asked.calls), strict=False):
            failed += not attempt(what, work, asked.failures)
    kept = f"; see {asked.failures}" if failed else ""
    print(
        f"{asked.inputs} inputs and {asked.calls} calls, seed {asked.seed}: {failed} not answered as documented{kept}"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
