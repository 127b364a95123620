"""Pages in the documentation are what the templates make of the figures beside them."""

import json
from pathlib import Path

import pytest
from benchmarks.pages import PAGES, render
from jinja2 import UndefinedError

from benchmarks import compare, env, evaluate, ilp, rl, run, step

DOCS = Path(__file__).parents[2] / "docs" / "benchmarks"

# torture.md has no figures beside it; learned-policies.md is written from episodes that are played for it (test_rl.py).
WRITERS = {
    "compare": compare.page,
    "env": env.page,
    "evaluate": evaluate.page,
    "ilp": ilp.page,
    "rl": lambda records: rl.page(records, DOCS),
    "run": run.page,
    "step": step.page,
}


@pytest.mark.parametrize("name", sorted(path.stem for path in DOCS.glob("*.json")))
def test_pages_are_made_of_the_figures_beside_them(name: str) -> None:
    figures = json.loads((DOCS / f"{name}.json").read_text())
    assert WRITERS[name](figures) == (DOCS / f"{name}.md").read_text()


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
