"""What a terminal of 80 columns shows, and the help."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from pathlib import Path

import pytest

from cli.conftest import ENVIRONMENT, Command, command
from dlm import parse_program, task_names

VERBS = (
    "tasks",
    "learn",
    "test",
    "play",
    "show",
    "run",
    "check",
    "explain",
    "export",
    "generate",
    "prove",
    "sweep",
    "reproduce",
)


def on_terminal(cwd: Path, *arguments: object, columns: int = 80) -> list[str]:
    """The lines that a terminal gets to see."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {**ENVIRONMENT, "TERM": "xterm", "NO_COLOR": "1"}
    process = subprocess.Popen(command(*arguments), cwd=cwd, env=environment, stdout=theirs, stderr=subprocess.DEVNULL)
    os.close(theirs)
    shown = b""
    try:
        while part := os.read(ours, 1 << 16):
            shown += part
    except OSError:  # how Linux says that the other end is closed
        pass
    os.close(ours)
    assert process.wait(timeout=60) == 0
    return re.sub(r"\x1b\[[0-9;]*m", "", shown.decode()).splitlines()


def words(lines: list[str]) -> set[str]:
    return {word for line in lines for word in line.split()}


def test_tasks_break_between_words(tmp_path: Path) -> None:
    narrow, wide = (on_terminal(tmp_path, "tasks", columns=columns) for columns in (80, 200))
    assert max(map(len, narrow)) <= 80
    assert len(narrow) > len(wide)
    assert words(narrow) == words(wide)
    assert {*task_names()} <= words(narrow)


def test_rules_break_between_atoms(tmp_path: Path) -> None:
    atoms = " & ".join(f"has_a_rather_long_name_{number}(x, y)" for number in range(8))
    text = f"target(x, y) :- {atoms}.\n"
    (tmp_path / "long.dlm").write_text(text)
    lines = on_terminal(tmp_path, "show", "long.dlm", "--raw")
    rule = lines[: lines.index("")]
    assert len(rule) > 2
    assert max(map(len, rule)) <= 80
    assert all(line.count("(") == line.count(")") for line in rule)
    assert parse_program("\n".join(rule)) == parse_program(text)


@pytest.mark.parametrize("verb", ["", *VERBS])
def test_the_help_shows_no_types(call: Command, verb: str) -> None:
    code, out, _ = call(*([verb] if verb else []), "--help")
    assert code == 0
    assert re.search(r"--help +-h +Show this message", out)
    assert not re.search(r"<\w+>|\bTEXT\b|\bINTEGER\b|False", out)
