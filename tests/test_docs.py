"""The documentation is true: its Python runs, its commands run, the examples run.

In Markdown, blocks marked `python` run in order and share their names; sessions in them (`>>>`) must answer as
shown. What a block without a session prints is compared with a block marked `output` that follows it; `make
docs-output` writes these anew. Of blocks marked `console`, each line that starts with `$ dlm` runs, in a folder that
has examples/shop alone, and must end with exit code 0. In blocks marked `sh` the commands must exist, with their
options, and the targets of make too.
"""

import doctest
import io
import itertools
import os
import re
import shlex
import shutil
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
import typer

import dlm
from dlm.cli.app import app

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
NOTES = sorted((ROOT / "docs").glob("*/*.md"))
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WRITE = "DLM_WRITE_DOCS" in os.environ
DATA = ROOT / "examples" / "shop"
"""Tables that pages may read; they are put into the folder where their code runs."""
SECONDS = re.compile(r"\b[0-9.]+ s\b")
"""What is another each time."""


def blocks(page: Path, kind: str) -> list[str]:
    return [text for found, text in all_blocks(page) if found == kind]


def all_blocks(page: Path) -> list[tuple[str, str]]:
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def page_id(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_python_in_pages(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(DATA, tmp_path / "examples" / DATA.name)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__page__"}
    printed = ""
    for number, (kind, text) in enumerate(all_blocks(page)):
        if kind == "output":
            check_output(page, text, printed)
        if kind != "python":
            continue
        if ">>>" not in text:
            with redirect_stdout(io.StringIO()) as out:
                exec(compile(text, f"{page.name}, block {number}", "exec"), names)
            printed = out.getvalue()
            continue
        session = doctest.DocTestParser().get_doctest(text, names, f"{page.name}, block {number}", str(page), 0)
        failed, _ = doctest.DocTestRunner().run(session, clear_globs=False)
        assert not failed, "see the output above"
        names.update(session.globs)


def check_output(page: Path, shown: str, printed: str) -> None:
    if WRITE:
        page.write_text(
            page.read_text(encoding="utf-8").replace(f"```output\n{shown}```", f"```output\n{printed.rstrip()}\n```")
        )
    else:
        hint = "`make docs-output` writes what is printed into the page"
        assert SECONDS.sub("", shown.rstrip()) == SECONDS.sub("", printed.rstrip()), hint


COMMANDS = [
    pytest.param(page, text, id=f"{page_id(page)} {number}")
    for page in PAGES
    for number, text in enumerate(blocks(page, "console"))
]


@pytest.mark.parametrize(("page", "text"), COMMANDS)
def test_commands_in_pages(page: Path, text: str, tmp_path: Path) -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "BROWSER": "true"}  # nothing is opened
    shutil.copytree(DATA, tmp_path / "examples" / DATA.name)
    lines = [line.removeprefix("$ ") for line in text.splitlines() if line.startswith("$ dlm ")]
    assert lines, f"a console block of {page} without a dlm command; mark it `sh` if it is only shown"
    for line in lines:
        command = [sys.executable, "-m", *shlex.split(line, comments=True)]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"


@pytest.mark.parametrize("page", [*PAGES, *NOTES], ids=page_id)
def test_commands_that_are_only_shown_exist(page: Path) -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
    for text in blocks(page, "sh"):
        for line in text.replace("\\\n", " ").splitlines():
            if not line.startswith(("dlm ", "make ")):
                continue
            words = shlex.split(line.partition(" | ")[0].partition(" > ")[0], comments=True)
            if words[0] == "dlm":
                check_command(words[1:])
            else:
                assert {word for word in words[1:] if "=" not in word} <= targets, line
    for target in re.findall(r"`make ([\w-]+)", page.read_text(encoding="utf-8")):
        assert target in targets


def check_command(words: list[str]) -> None:
    """Refuse a verb or an option that there is not; whether files exist does not matter."""
    group = typer.main.get_command(app)
    context = typer.Context(group, info_name="dlm")
    _, verb, given = group.resolve_command(context, words)  # type: ignore[attr-defined]
    if verb is not None:
        known = {
            name for parameter in verb.get_params(context) for name in (*parameter.opts, *parameter.secondary_opts)
        }
        assert {word.partition("=")[0] for word in given if re.match(r"--?[a-z]", word)} <= known, words


@pytest.mark.parametrize("page", [*PAGES, *NOTES], ids=page_id)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page} links to {target}"


def test_architecture_names_every_file() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    package, listed = ROOT / "src" / "dlm", set()
    (tree,) = (text for text in blocks(ROOT / "docs" / "architecture.md", "text") if text.startswith("src/dlm/"))
    folder = ""
    for line in tree.splitlines()[1:]:
        if not line.startswith("    "):
            folder = line.split()[0] if line.split()[0].endswith("/") else ""
        names = line.split() if folder == "" else line.split()[line.split()[0] == folder :]
        inner = ""
        for name in itertools.takewhile(lambda word: word.endswith(".py"), names):
            inner = name.rpartition("/")[0] or inner
            listed.add(str(Path(folder, inner, name.rpartition("/")[2])))
    files = {str(file.relative_to(package)) for file in package.rglob("*.py") if not file.name.startswith("__")}
    assert listed == files, f"docs/architecture.md and src/dlm differ in {sorted(listed ^ files)}"
    walks = page.partition("## Four walks")[2]
    assert set(re.findall(r"`(\S+\.py)`", walks)) <= files


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_examples(example: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(example)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_sessions_in_docstrings() -> None:
    failed, tried = doctest.testmod(dlm)
    assert tried
    assert not failed
