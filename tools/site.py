"""What the documentation site has beyond docs/: the front page, tutorials, the command line, the changes.

MkDocs calls the functions below (`hooks` in mkdocs.yml). Pages that exist elsewhere are not written twice: the front
page is README.md, the tutorials are the executed notebooks of examples/, and the reference of the command line is what
the command itself says of its options.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

import typer
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from dlm.cli.app import app
from dlm.export.prose import Prose
from dlm.logic import parse_program
from dlm.report import write_report
from dlm.tasks import Task
from dlm.tasks.registry import TASKS

ROOT = Path(__file__).parents[1]
COPIED = {"index.md": "README.md", "contributing.md": "CONTRIBUTING.md", "changelog.md": "CHANGELOG.md"}
MOVED = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
LINK = re.compile(r"\]\(([^)\s]+)\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made here."""
    pages = {page: (ROOT / source).read_text(encoding="utf-8") for page, source in COPIED.items()}
    pages = {page: LINK.sub(_moved, text) for page, text in pages.items()}
    pages["gallery.md"] = "\n".join(gallery())
    pages["reference/cli.md"] = "\n".join(command_line())
    for notebook in sorted((ROOT / "examples").glob("*.ipynb")):
        pages[f"tutorials/{notebook.stem}.md"] = "\n\n".join(notebook_page(notebook))
    for page, text in pages.items():
        files.append(File.generated(config, page, content=text))
    return files


def _moved(link: re.Match[str]) -> str:
    """A link of a page at the root of the repository, as one of the site; what is not on the site is its name."""
    target, _, anchor = link.group(1).partition("#")
    if "://" in target or not target:
        return link.group()
    place = MOVED.get(target, target.removeprefix("docs/"))
    if target.startswith("examples/") and target.endswith(".ipynb"):
        place = f"tutorials/{Path(target).stem}.md"
    if place in MOVED.values() or (target.startswith("docs/") and (ROOT / target).is_file()):
        return f"]({place}{'#' + anchor if anchor else ''})"
    return "](benchmarks/ilp.md)" if target == "docs/benchmarks" else "](contributing.md)"


def command_line() -> Iterator[str]:
    """A page with a section for each verb: what it does, its arguments and its options."""
    group = typer.main.get_command(app)
    yield "# The command line\n"
    yield "What `dlm VERB --help` says. `python -m dlm` is the same command.\n"
    context = typer.Context(group)
    for name in group.list_commands(context):  # type: ignore[attr-defined]
        verb = group.get_command(context, name)  # type: ignore[attr-defined]
        yield f"## dlm {name}\n"
        within = typer.Context(verb, parent=context, info_name=f"dlm {name}")
        yield f"```text\n{verb.get_usage(within)}\n```\n"
        yield f"{verb.help}\n"
        yield "| option | |\n|---|---|"
        for parameter in verb.get_params(within):
            yield from _option_row(parameter, within)
        yield ""


def _option_row(parameter: Any, context: typer.Context) -> Iterator[str]:
    """An option or an argument as a line of a table."""
    if getattr(parameter, "hidden", False):
        return
    described = parameter.get_help_record(context)
    if described is not None:
        name, words = (escape(re.sub(r"\s+", " ", text), quote=False).replace("|", "&#124;") for text in described)
        yield f"| <code>{name}</code> | {words} |"


def smallest() -> Iterator[tuple[Task, dict[str, Any], str]]:
    """Each task, the run with the smallest verified program, and how many are verified, in words."""
    runs = json.loads((ROOT / "docs" / "benchmarks" / "ilp.json").read_text(encoding="utf-8")).values()
    for name, task in TASKS.items():
        verified = [run for run in runs if run["task"] == name and run["verified"]]
        if verified:
            best = min(verified, key=lambda run: (run["literals"], run["definitions"], run["seed"]))
            yield task, best, f"{len(verified)} of {sum(run['task'] == name for run in runs)} runs"


def gallery() -> Iterator[str]:
    """Of each task the smallest verified program of the recorded runs: as text, in words and in symbols."""
    yield "# Programs\n"
    yield "What was learned of each task that comes with the package: of the runs of [the benchmark](benchmarks/ilp.md)"
    yield "the smallest verified program. [Policies](learned-policies.md) have a page of their own.\n"
    for task, best, verified in smallest():
        name, program = task.name, parse_program(best["program"])
        yield f"## {name}\n\n{task.question} {task.reading or ''}\n"
        yield f"```text\n{str(program).strip()}\n```\n"
        yield from (f"{number}. {item.words}" for number, item in enumerate(Prose(program, "`{}`".format).items(), 1))
        again = f"dlm learn {name} --learner {best['asked']} --seed {best['seed']}"
        yield f'\n<a href="reports/{_file(name)}">Its report</a>'
        yield f"\nVerified with {verified}; this one by {best['learner']}: `{again}`.\n"


def on_post_build(config: MkDocsConfig) -> None:
    """Write the reports of the gallery."""
    folder = Path(config.site_dir) / "reports"
    folder.mkdir(exist_ok=True)
    for task, best, _ in smallest():
        program = folder / "program.dlm"
        program.write_text(best["program"], encoding="utf-8")
        write_report(program, folder / _file(task.name), problem=task)
        program.unlink()


def _file(name: str) -> str:
    return name.replace("/", "-") + ".html"


def notebook_page(path: Path) -> Iterator[str]:
    """The cells of a notebook, and what they showed when it was run."""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            yield source
        elif cell["cell_type"] == "code":
            yield f"```python\n{source}\n```"
            for output in cell["outputs"]:
                yield from _shown(output)
    yield f"This page is the notebook `examples/{path.name}`."


def _shown(output: dict[str, Any]) -> Iterator[str]:
    """An output of a cell: text, or a picture or HTML as it is."""
    data = output.get("data", {})
    if "image/png" in data:
        yield f"![A picture](data:image/png;base64,{''.join(data['image/png']).strip()})"
    elif "text/html" in data:
        yield "".join(data["text/html"]).replace("\n\n", "\n")  # an empty line would end it for Markdown
    elif output["output_type"] == "stream" or "text/plain" in data:
        text = "".join(output.get("text") or data["text/plain"]).rstrip()
        if text:
            yield f"```text\n{text}\n```"
