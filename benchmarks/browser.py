"""A headless Chromium for benchmarks: Debian's, driven by Playwright."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["open_browser"]

FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]


@contextmanager
def open_browser() -> Iterator[Any]:
    """A browser, as long as it is needed."""
    path = shutil.which("chromium")
    if path is None:
        sys.exit("error: this needs a browser: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()
