"""The page in a real browser: nothing is complained of or asked for, everything moves, and everybody can use it."""

from __future__ import annotations

from pathlib import Path

import dlm
from dlm.learning.rules.result import DataResult
from dlm.policies.policy import Policy
from dlm.report import write_report
from report.browser import needs_browser, open_page

GRANDPARENT = dlm.parse_program(
    "parent(x, y) :- father(x, y) | mother(x, y). grandparent(x, y) :- exists z: parent(x, z) & parent(z, y)."
)


@needs_browser
def test_the_playground_says_what_python_says(tmp_path: Path, family: Path) -> None:
    path = write_report(GRANDPARENT, tmp_path / "r.html", facts=family)
    with open_page(path) as looked:
        page = looked.page
        answers = page.locator("#answer-list button")
        assert {*answers.all_inner_texts()} == said({"father": FATHER, "mother": MOTHER})
        page.locator("#facts button", has_text="father(Cleo, Ben)").click()
        assert {*answers.all_inner_texts()} == said({"father": FATHER[1:], "mother": MOTHER})
        page.select_option("#predicate", label="mother")
        for place, name in enumerate(("Cleo", "Dan")):
            page.locator("#arguments select").nth(place).select_option(name)
        page.locator("#adding button").click()
        now = said({"father": FATHER[1:], "mother": [*MOTHER, ("Cleo", "Dan")]})
        assert {*answers.all_inner_texts()} == now
        answers.first.click()
        assert "is true, because" in page.locator("#reason").inner_text()
        assert looked.violations() == []
        assert (looked.complaints, looked.asked) == ([], [])


FATHER = [("Cleo", "Ben"), ("Dan", "Ben"), ("Eve", "Dan")]
MOTHER = [("Ben", "Ada")]


def said(facts: dict[str, list[tuple[str, str]]]) -> set[str]:
    return {f"grandparent({x}, {y})" for x, y in dlm.run(GRANDPARENT, facts).names()}


@needs_browser
def test_an_episode_moves(policy_run: Policy, tmp_path: Path) -> None:
    with open_page(policy_run.report(tmp_path / "r.html"), width=390, scheme="dark") as looked:
        page = looked.page
        assert page.locator(".frame:visible").count() == 1
        before = page.locator(".frame:visible strong").inner_text()
        page.locator("#step").focus()
        page.keyboard.press("ArrowRight")
        assert page.locator("#step-now").inner_text() == "2"
        assert page.locator(".frame:visible strong").inner_text() != before
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert looked.violations() == []
        assert (looked.complaints, looked.asked) == ([], [])


@needs_browser
def test_the_machine_moves(task_run: dlm.Result, tmp_path: Path) -> None:
    with open_page(task_run.report(tmp_path / "r.html")) as looked:
        page = looked.page
        shares = "[...document.querySelectorAll('#film meter')].map((meter) => meter.value)"
        at_the_end = page.evaluate(shares)
        page.locator("#when").focus()
        page.keyboard.press("Home")
        assert page.evaluate(shares) != at_the_end
        page.locator("[role=tab]", has_text="prolog").click()
        assert page.locator("#code-prolog pre").is_visible()
        assert not page.locator("#code-text pre").is_visible()
        assert looked.violations() == []
        assert (looked.complaints, looked.asked) == ([], [])


@needs_browser
def test_points_of_the_front_show_their_programs(data_run: DataResult, tmp_path: Path) -> None:
    """And comparisons work in the playground."""
    with open_page(data_run.report(tmp_path / "r.html"), width=390) as looked:
        page = looked.page
        page.locator("[data-front='0']").click()
        assert page.locator("#front-items details").first.get_attribute("open") is not None
        found = {*page.locator("#answer-list button").all_inner_texts()}
        assert len(found) == data_run.train.hits + data_run.train.alarms
        assert looked.violations() == []
        assert (looked.complaints, looked.asked) == ([], [])
