"""What notebooks show: HTML in which names are inert, LaTeX, and text as the last resort."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given

import dlm
from dlm.envs import get_domain
from dlm.export.notebook import MOST
from dlm.learning.fit import Fit
from dlm.learning.rules.result import Front, FrontPoint, Interval
from dlm.learning.verify import TrialResult
from dlm.logic.display import Displayed, html_of, latex_of
from dlm.logic.names import quote
from dlm.policies.verify import Earned
from dlm.runs.result import Ending
from strategies import programs, signatures

HOSTILE = "</code></pre><script>alert('&amp;')</script><img src=x onerror=alert(1)>$x$"
PROGRAM = dlm.parse_program("parent(x, y) :- father(x, y) | mother(x, y). gp(x, y) :- exists z: parent(x, z).")
TAGS = {"div", "p", "b", "ol", "li", "br", "code", "pre", "table", "tr", "th", "td"}
TRIAL = TrialResult((20,), 250, 250, 1.0, Fit(10, 0, 0, 90))
EARNED = Earned(HOSTILE, 5, 100, 0.9, (0.8, 1.0), 0.95, False, 1.0)


class Fragment(HTMLParser):
    """The text of a fragment; tags that are not expected or do not match, and attributes but a few, are errors."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS
        assert {name for name, _ in attrs} <= {"class", "style", "start"}
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def hostile_results() -> list[Displayed]:
    program = dlm.parse_program(f"{quote(HOSTILE)}(x) :- 'a<b>'(x).")
    ended: Ending = "finished"
    common = {"task": HOSTILE, "seed": 0, "learner": HOSTILE, "seconds": 1.0, "restarts": 1, "steps": 1}
    common |= {"ended": ended, "run_dir": None}
    verification = dlm.Verification(TRIAL, TRIAL, TRIAL, ())
    front = Front([FrontPoint(1, 2.0, program), FrontPoint(2, 0.0, PROGRAM)])
    fit = Fit(1, 0, 0, 1)
    own = {"front": front, "train": fit, "test": fit, "folds": Interval(1, 0.5, 1), "worlds": HOSTILE}
    return [
        program,
        front,
        dlm.Result(**common, program=program, raw=program, verification=verification),  # type: ignore[arg-type]
        dlm.SoftResult(**common, train=TRIAL, large=TRIAL),  # type: ignore[arg-type]
        dlm.DataResult(**common, program=program, **own, chosen_because=HOSTILE),  # type: ignore[arg-type]
        dlm.Policy(**common, program=program, domain=get_domain("rl/stack"), tests=(EARNED,), soft_tests=(EARNED,)),  # type: ignore[arg-type]
        dlm.explain(dlm.parse_program("t(x) :- a(x)."), {"a": [(HOSTILE,)]}, f"t({quote(HOSTILE)})"),
    ]


@pytest.mark.parametrize("value", hostile_results(), ids=lambda value: type(value).__name__)
def test_hostile_names_are_inert(value: Displayed) -> None:
    bundle = value._repr_mimebundle_()
    assert bundle["text/html"] == value._repr_html_()
    assert bundle.get("text/latex") == value._repr_latex_()
    assert bundle["text/plain"] == str(value)
    assert "script" in Fragment(bundle["text/html"]).text
    assert "mathjax_ignore" in bundle["text/html"]


@given(programs(signatures(odd_names=True), odd_names=True, target=HOSTILE))
def test_any_program(program: dlm.Program) -> None:
    Fragment(html_of(program))


def test_a_program_is_told_and_typeset() -> None:
    text = Fragment(html_of(PROGRAM)).text
    assert "parent(x, y) holds if father(x, y) or mother(x, y)." in text
    assert "∃z: parent(x, z)" in text
    latex = PROGRAM._repr_latex_()
    assert latex is not None
    assert latex.startswith("\\begin{align*}\n&\\mathit{parent}(x, y) \\gets")


def test_what_is_large_is_cut() -> None:
    many = dlm.parse_program("".join(f"p{i}(x) :- {'a' if i == 0 else f'p{i - 1}'}(x). " for i in range(3000)))
    html = html_of(many)
    assert "2980 definitions before these are left out" in html
    assert "p2999(x)" in html
    assert len(html) < 10_000
    assert latex_of(many) is None
    rules = " ".join(f"{'' if i == 0 else 'else '}a{i}(x)".join((f"{i + 1}. ", "")) for i in range(100))
    listed = html_of(dlm.parse_program(f"t(x) :- {rules}."))
    assert "80 more are left out" in listed
    points = Front(FrontPoint(size, 100 - size, PROGRAM) for size in range(100))
    assert html_of(points).count("<tr>") == MOST + 2


def test_results_say_what_the_command_line_says() -> None:
    result = dlm.learn("family/has-father", learner="search", seed=0)
    text = Fragment(html_of(result)).text
    assert "Verified: no error on 750 fresh instances. Learned by search." in text
    assert "2 to 40" in text
    assert result._repr_latex_() == result.program._repr_latex_()
    assert (
        "Not verified: interrupted" in Fragment(html_of(replace(result, ended="interrupted", verification=FAILED))).text
    )


FAILED = dlm.Verification(replace(TRIAL, right=0), TRIAL, TRIAL, ())


def test_the_estimator_shows_its_diagram_and_its_programs() -> None:
    model = dlm.LogicClassifier()
    assert "has-father" not in model._repr_html_()
    rows = np.array([[float(i)] for i in range(20)])
    model.fit(rows, rows[:, 0] > 9)
    html = model._repr_mimebundle_()["text/html"]
    assert "LogicClassifier" in html
    assert html_of(model.result_) in html
