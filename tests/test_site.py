"""The documentation site: it is built without a warning, names all that is public, and asks for nothing elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

import dlm
from dlm.errors import __all__ as errors

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


class Requests(HTMLParser):
    """What a browser would fetch for a page by itself; links to follow do not count."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        followed = tag == "a" or (tag == "link" and given.get("rel") in ("canonical", "next", "prev"))
        for name in ("src", "href", "srcset", "data", "poster", "action"):
            address = given.get(name)
            if address and not followed and re.match(r"(?i)\s*(https?:)?//", address):
                self.found.append(address)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(built)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return built


def test_pages_ask_for_nothing_elsewhere(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 40
    assert {page.name: asked for page in pages if (asked := Requests(page.read_text(encoding="utf-8")).found)} == {}
    for style in site.rglob("*.css"):
        assert not re.search(r"url\(\s*[\"']?(https?:)?//|@import\s+[\"']?http", style.read_text(encoding="utf-8"))


def test_the_reference_has_everything_public(site: Path) -> None:
    api = (site / "reference" / "api.html").read_text(encoding="utf-8")
    described = set(re.findall(r'id="dlm\.(\w+)"', api))
    assert set(dlm.__all__) - {"__version__"} <= described
    assert errors


def test_the_reference_has_every_verb_and_its_options(site: Path) -> None:
    page = (site / "reference" / "cli.html").read_text(encoding="utf-8")
    for verb in ("learn", "run", "explain", "export", "inspect", "sweep"):
        assert f'id="dlm-{verb}"' in page
    assert "--time-limit" in page
    assert "Seconds" in page or "seconds" in page


def test_the_gallery_leads_to_reports(site: Path) -> None:
    reports = re.findall(r'href="(reports/[^"]+)"', (site / "gallery.html").read_text(encoding="utf-8"))
    assert len(reports) == len(dlm.task_names())
    assert all((site / report).is_file() for report in reports)


def test_tutorials_are_the_notebooks(site: Path) -> None:
    for notebook in NOTEBOOKS:
        assert "Verified" in (site / "tutorials" / f"{notebook.stem}.html").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(notebook: Path) -> None:
    done = subprocess.run(
        [sys.executable, "tools/notebooks.py", str(notebook)],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
