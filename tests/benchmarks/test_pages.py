"""Pages in the documentation are what the templates make of the figures beside them."""

import json
from pathlib import Path

import pytest
from benchmarks.pages import PAGES, render
from jinja2 import UndefinedError

from benchmarks import compare, data, env, evaluate, hidden, ilp, report, rl, run, step
from dlm.sweeps.paper.experiment import Wanted
from dlm.sweeps.paper.reproduce import EXPERIMENTS, write_page
from dlm.sweeps.records import Records

DOCS = Path(__file__).parents[2] / "docs" / "benchmarks"

# torture.md has no figures beside it; learned-policies.md is written from episodes that are played for it (test_rl.py).
WRITERS = {
    "compare": compare.page,
    "data": data.page,
    "env": env.page,
    "evaluate": evaluate.page,
    "hidden": hidden.page,
    "ilp": ilp.page,
    "report": report.page,
    "rl": lambda records: rl.page(records, DOCS),
    "run": run.page,
    "step": step.page,
}


@pytest.mark.parametrize(
    "name", sorted(path.stem for path in DOCS.glob("*.json") if not path.stem.startswith("paper-"))
)
def test_pages_are_made_of_the_figures_beside_them(name: str) -> None:
    figures = json.loads((DOCS / f"{name}.json").read_text())
    assert WRITERS[name](figures) == (DOCS / f"{name}.md").read_text()


@pytest.mark.parametrize("path", sorted(DOCS.glob("paper-*.jsonl")), ids=lambda path: path.stem)
def test_pages_of_the_paper_are_made_of_the_runs_beside_them(path: Path, tmp_path: Path) -> None:
    name, _, schedule = path.stem.removeprefix("paper-").partition("-")
    shown = json.loads(path.with_suffix(".json").read_text())
    experiment = EXPERIMENTS[name]()  # type: ignore[index]
    wanted = Wanted(schedule=schedule or None, shorten=shown.get("shorten"))  # type: ignore[arg-type]
    page = write_page(experiment, wanted, Records(path), tmp_path)
    assert page.read_text() == path.with_suffix(".md").read_text()
    assert json.loads(page.with_suffix(".json").read_text()) == shown


def test_a_page_without_its_figures_is_an_error() -> None:
    with pytest.raises(UndefinedError, match="'raw_definitions' is undefined"):
        render("evaluate", {"program": "t(x) :- p(x).", "rows": []})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{ 0.123456|f('.2f', 100) }}", "12.35"),
        ("{{ none|f('.2f') }}", ""),
        ("{{ [1, 'a', none]|row }}", "| 1 | a | None |"),
        ("{{ ['b', 'a', 'a']|tally }}", "a 2, b 1"),
        ("{{ [{'commit': 'b'}, {'commit': 'a'}, {'commit': 'b'}]|commits }}", "a, b"),
    ],
)
def test_filters(text: str, expected: str) -> None:
    assert PAGES.from_string(text).render() == expected
