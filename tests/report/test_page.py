"""The page as text: what is in it, what is inert in it, and what it says where something is missing."""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64encode
from html.parser import HTMLParser
from pathlib import Path

import pytest

import dlm
from dlm.data.facts import Facts
from dlm.errors import MissingExtraError, SettingsError
from dlm.learning.fit import Fit
from dlm.learning.result import SoftResult
from dlm.learning.rules.result import DataResult
from dlm.learning.verify import TrialResult
from dlm.policies.policy import Policy
from dlm.report import write_report
from dlm.report.world import MOST, small_facts

GRANDPARENT = dlm.parse_program(
    "parent(x, y) :- father(x, y) | mother(x, y). grandparent(x, y) :- exists z: parent(x, z) & parent(z, y)."
)


class Reader(HTMLParser):
    """The tags, attributes and texts of a page, as a browser reads them."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


def read(path: Path) -> Reader:
    reader = Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    return reader


def test_a_program_alone(tmp_path: Path) -> None:
    (tmp_path / "grandparent.dlm").write_text(str(GRANDPARENT))
    found = read(write_report(tmp_path / "grandparent.dlm", tmp_path / "r.html"))
    assert "This is a program without a run" in found.text
    assert "grandparent(X, Y) :- parent(X, Z), parent(Z, Y)." in found.text
    assert "Nothing is known here yet: add facts." in found.text


def test_a_program_on_facts_with_examples(tmp_path: Path, family: Path) -> None:
    (tmp_path / "true.csv").write_text("x,y\nCleo,Ada\nDan,Ada\nEve,Ada\n")
    examples = tmp_path / "true.csv"
    found = read(write_report(GRANDPARENT, tmp_path / "r.html", facts=family, examples=examples))
    assert "grandparent(Eve, Ada) is false, wrongly" in found.text
    assert "grandparent(Cleo, Ada) is true, rightly" in found.text
    assert "father(Cleo, Ben) is a fact" in found.text
    assert "All 5 objects of the facts." in found.text


def test_of_data(data_run: DataResult, tmp_path: Path) -> None:
    path = data_run.report(tmp_path / "r.html")
    found = read(path)
    assert "Front: size against errors" in found.text
    assert "(chosen)" in found.text
    assert "dlm learn" in found.text
    assert path.stat().st_size < 3_000_000


def test_of_a_task(task_run: dlm.Result, tmp_path: Path) -> None:
    found = read(task_run.report(tmp_path / "r.html"))
    assert "The machine" in found.text
    assert "extracted" in found.text
    assert "Verified" in found.text
    assert "dlm learn family/has-father --seed 0 --learner gradient" in found.text
    assert "Learned by dlm" in found.text
    (film,) = [text for text in found.texts if text.startswith('{"steps"')]
    shares = json.loads(film)["shares"]
    assert shares
    assert all(0 <= share <= 1 for line in shares for share in line)


def test_of_a_policy(policy_run: Policy, tmp_path: Path) -> None:
    found = read(policy_run.report(tmp_path / "r.html"))
    assert "An episode" in found.text
    assert "optimum" in found.text
    assert sum(tag == "img" for tag, _ in found.tags) > 2
    for tag, attributes in found.tags:
        if tag == "img":
            assert str(attributes["src"]).startswith("data:image/png")


HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"' {{ 7*7 }}"


def test_hostile_names_are_inert(tmp_path: Path) -> None:
    name = "'" + HOSTILE.replace("'", "\\'") + "'"
    program = dlm.parse_program(f"{name}(x) :- exists y: 'r<b>'(x, y) & ~'<!--'(y) & 'a&lt;'(x) = 'v</style>'.")
    rows = {"r<b>": [(HOSTILE, "<i>")], "<!--": [("--></script>",)], "a&lt;": [(HOSTILE, "v</style>")]}
    path = write_report(program, tmp_path / "r.html", facts=rows)
    found = read(path)
    assert [tag for tag, _ in found.tags].count("script") == 1
    assert not {"img", "i", "b"} & {tag for tag, _ in found.tags}
    assert not [attributes for _, attributes in found.tags if any(name.startswith("on") for name in attributes)]
    assert "{{ 7*7 }}" in found.text
    text = path.read_text(encoding="utf-8")
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    assert "unsafe" not in policy
    for tag in ("script", "style"):
        (content,) = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{tag}-src &#39;sha256-{digest}&#39;" in policy


# ---------------------------------------------------------------------- what is missing


def test_a_run_without_metrics_and_with_a_damaged_line(data_run: DataResult, tmp_path: Path) -> None:
    assert data_run.run_dir is not None
    metrics = data_run.run_dir / "metrics.jsonl"
    kept = metrics.read_text() if metrics.exists() else None
    try:
        metrics.write_text('{"seconds": 1, "errors": 3, "learner": "rules"}\n{"seconds": 2, "err')
        assert "Training" in read(data_run.report(tmp_path / "r.html")).text
        metrics.unlink()
        assert "Training" not in read(data_run.report(tmp_path / "r.html")).text
    finally:
        if kept is not None:
            metrics.write_text(kept)


def test_a_run_whose_data_are_gone(data_run: DataResult, tmp_path: Path) -> None:
    assert data_run.run_dir is not None
    source = data_run.run_dir.parent
    gone = source.with_name("gone")
    run = tmp_path / "run"
    run.mkdir()
    for file in data_run.run_dir.iterdir():
        text = file.read_text().replace(str(source), str(gone))
        (run / file.name).write_text(text)
    found = read(write_report(run, tmp_path / "r.html"))
    assert "The data could not be read again" in found.text
    assert "Front" in found.text


def test_a_run_that_has_not_ended(task_run: dlm.Result, tmp_path: Path) -> None:
    assert task_run.run_dir is not None
    run = tmp_path / "run"
    run.mkdir()
    for name in ("settings.json", "program.dlm"):
        (run / name).write_text((task_run.run_dir / name).read_text())
    found = read(write_report(run, tmp_path / "r.html"))
    assert "The run has not ended. Go on with it" in found.text


def test_a_soft_model(tmp_path: Path) -> None:
    trial = TrialResult((20,), 250, 249, 0.99, Fit(9, 1, 0, 9))
    result = SoftResult(
        task="family/has-father",
        seed=0,
        learner="nlm",
        seconds=1.0,
        restarts=1,
        steps=10,
        ended="finished",
        run_dir=None,
        train=trial,
        large=trial,
    )
    found = read(result.report(tmp_path / "r.html"))
    assert "Soft model" in found.text
    assert "answered by the soft model" in found.text
    assert "1.0 seconds, 1 start, 10 steps" in found.text
    assert "Playground" not in found.text


def test_a_result_in_memory(tmp_path: Path) -> None:
    result = dlm.learn("family/has-father", learner="search", progress=False)
    found = read(result.report(tmp_path / "r.html"))
    assert "The run has no folder" in found.text
    assert "Playground" in found.text


def test_large_facts_are_cut_to_a_sample(tmp_path: Path) -> None:
    program = dlm.parse_program("t(x, y) :- exists z: e(x, z) & e(z, y).")
    facts = Facts.from_tuples({"e": [(f"n{i}", f"n{i + 1}") for i in range(1000)]})
    cut = small_facts(facts, program, [500, 502])
    assert cut.size == MOST
    assert {f"n{i}" for i in range(490, 511)} <= {*cut.objects.tolist()}
    found = read(write_report(program, tmp_path / "r.html", facts=facts))
    assert "24 of 1,001 objects: those around some answers." in found.text


def test_examples_need_facts(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"give the facts too \(--facts\)"):
        write_report(GRANDPARENT, tmp_path / "r.html", examples="x.csv")


def test_a_missing_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dlm.errors.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"a report needs jinja2, .* pip install 'dlm\[report\]'"):
        write_report(GRANDPARENT, tmp_path / "r.html")
    assert not (tmp_path / "r.html").exists()
