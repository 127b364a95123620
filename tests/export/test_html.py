"""HTML: what a browser takes the page for, whatever the names are."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given

from dlm.export.html import export_html
from dlm.export.identifiers import printable
from dlm.logic import Program, parse_program
from dlm.logic.lists import RuleList
from dlm.logic.syntax import atoms
from dlm.logic.text import format_name
from strategies import programs, rule_lists, signatures

TARGET = "</code><script>alert('&amp;')</script>"
TAGS = {"html", "head", "meta", "title", "style", "body", "h1", "ol", "ul", "li", "p", "br", "code"}
EMPTY = {"meta", "br"}


class Page(HTMLParser):
    """The tags and the code of a page; tags that do not match are an error."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.codes: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert not attrs or tag in ("html", "meta")
        self.tags.append(tag)
        if tag not in EMPTY:
            self.open.append(tag)
        if tag == "code":
            self.codes.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "code":
            self.codes[-1] += data


def check(program: Program) -> Page:
    page = Page(export_html(program))
    assert set(page.tags) <= TAGS
    codes = "\n".join(page.codes)
    for name in (*program.inputs, program.target.name):
        assert printable(format_name(name)) in codes
    return page


@given(programs(signatures(odd_names=True), odd_names=True, target=TARGET))
def test_names_are_data(program: Program) -> None:
    page = check(program)
    assert page.tags.count("ol") == 1
    for definition in program.definitions:
        assert all(printable(format_name(atom.predicate)) in "".join(page.codes) for atom in atoms(definition.body))


@given(rule_lists(signatures(odd_names=True), odd_names=True, target=TARGET))
def test_a_decision_list_is_a_list_in_the_list(listed: RuleList) -> None:
    page = check(listed.program())
    assert page.tags.count("ol") == 2
    assert not any("_works" in code for code in page.codes)


def test_page() -> None:
    text = export_html(parse_program("p(x, y) :- a(x) & 1. ~b(x, y) 2. else exists z != x: b(x, z)."))
    assert (
        text[text.index("<h1>") :]
        == """\
<h1><code>p(x, y)</code></h1>
<ol>
<li><code>p(x, y)</code> is decided by the first of these rules that is true of any different objects, where \
<code>a(x)</code>:
<ol>
<li>not <code>b(x, y)</code>.
<br><code>¬b(x, y)</code>
</li>
<li>Else there is a <code>z</code> other than <code>x</code> such that <code>b(x, z)</code>.
<br><code>∃z ≠ x: b(x, z)</code>
</li>
</ol>
</li>
</ol>
<p>Given:</p>
<ul>
<li><code>a</code>, of 1 object</li>
<li><code>b</code>, of 2 objects</li>
</ul>
<p>Size: 1 definition, 2 rules, 3 literals, 1 quantifier, 1 inequality.</p>
</body>
</html>
"""
    )
