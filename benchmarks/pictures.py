"""Screenshots of six reports into docs/pictures: learned anew, drawn by headless Chromium."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image

import dlm
from benchmarks.browser import open_browser
from dlm.report import write_report

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
TALLEST = 1800


def make_pages(folder: Path) -> dict[str, tuple[Path, str | None]]:
    """Reports of different kinds, and the section that each picture begins with."""
    uncle = dlm.learn("family/is-uncle", learner="search", out=folder / "uncle", progress=False)
    sister = dlm.learn("family/has-sister", learner="gradient", out=folder / "sister", progress=False)
    unstack = dlm.learn_policy("rl/unstack", learner="search", out=folder / "unstack", progress=False)
    data = folder / "people"
    data.mkdir()
    people = [(f"p{i}", 20 + 5 * i, "red" if i % 3 else "blue") for i in range(12)]
    (data / "person.csv").write_text("id,age,colour\n" + "".join(f"{p},{a},{c}\n" for p, a, c in people))
    (data / "knows.csv").write_text("person,other\n" + "".join(f"p{i},p{(i + 1) % 12}\n" for i in range(12)))
    labels = "".join(f"{p},{'yes' if a > 50 or c == 'blue' else 'no'}\n" for p, a, c in people)
    (data / "happy.csv").write_text(f"person,label\n{labels}")
    happy = dlm.learn(data, target="happy", out=folder / "happy", progress=False)
    program = dlm.parse_program("colleague(x, y) :- exists z: works_for(x, z) & works_for(y, z) & x != y.")
    rows = {"works_for": [(f"person{i}", f"firm{i % 3}") for i in range(9)]}
    facts = write_report(program, folder / "facts.html", facts=rows)
    return {
        "report-task": (uncle.report(folder / "uncle.html"), None),
        "report-machine": (sister.report(folder / "sister.html"), "#machine"),
        "report-policy": (unstack.report(folder / "unstack.html"), "#episode"),
        "report-data": (happy.report(folder / "happy.html"), None),
        "report-facts": (facts, None),
        "report-phone": (unstack.report(folder / "phone.html"), None),
    }


def take_pictures(browser: Any, pages: dict[str, tuple[Path, str | None]]) -> None:
    for name, (path, section) in pages.items():
        phone = name == "report-phone"
        context = browser.new_context(
            viewport={"width": 390 if phone else 1000, "height": 900}, color_scheme="dark" if phone else "light"
        )
        page = context.new_page()
        page.goto(path.as_uri())
        content = page.locator(section).screenshot() if section else page.screenshot(full_page=True)
        taken = Image.open(io.BytesIO(content))
        cut = taken.crop((0, 0, taken.width, min(taken.height, TALLEST))).convert("RGB")
        cut.quantize(96).save(PICTURES / f"{name}.png", optimize=True)
        print(f"{name}.png", flush=True)
        context.close()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, open_browser() as browser:
        take_pictures(browser, make_pages(Path(folder)))


if __name__ == "__main__":
    main()
