"""A headless Chromium for pages: Debian's, driven by Playwright."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

__all__ = ["Looked", "needs_browser", "open_page"]

CHROMIUM = shutil.which("chromium")

needs_browser = pytest.mark.skipif(
    CHROMIUM is None or find_spec("playwright") is None or find_spec("axe_core_python") is None,
    reason="a browser is not installed: apt-get install chromium, pip install playwright axe-core-python",
)

FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking")
FLAGS += ("--disable-component-update", "--disable-sync")


class Looked:
    """A page in a browser, with what it complained of and what it asked for."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.complaints: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))

    @property
    def asked(self) -> list[str]:
        """What was asked of others than the page itself."""
        return [url for url in self.requests[1:] if not url.startswith("data:")]

    def violations(self) -> list[str]:
        """What axe-core finds wrong with the page, for people who do not see it or use no mouse."""
        source = (files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8")
        self.page.evaluate(f"() => {{ {source}\n }}")
        found = self.page.evaluate("async () => (await axe.run()).violations")
        return [f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in found]


@contextmanager
def open_page(path: Path, width: int = 1280, scheme: str = "light") -> Iterator[Looked]:
    """A page of a file, as a window of some width shows it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        try:
            context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
            looked = Looked(context.new_page())
            looked.page.goto(path.resolve().as_uri())
            yield looked
        finally:
            browser.close()
