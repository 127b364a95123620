"""What results look like: plain text that can be copied, in colour where there is a terminal.

Nothing is cut to fit a width. On a terminal a long rule continues on the next line, between two atoms, and can still
be copied and parsed; elsewhere one definition, or one rule of a decision list, is one line.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from rich.console import Console
from rich.text import Text

from dlm.learning.portfolio import Result
from dlm.learning.verify import Trial
from dlm.logic.lists import rules_of
from dlm.logic.syntax import Program, literals
from dlm.logic.text import format_program

__all__ = [
    "column_widths",
    "console",
    "count",
    "percent",
    "print_program",
    "print_result",
    "print_rows",
    "print_table",
    "print_trials",
    "size_of",
]

KEYWORDS = r"\b(exists|forall|true|false|else)\b|:-|[~&|]"


def console() -> Console:
    """Standard output."""
    return Console(soft_wrap=True, highlight=False)


def print_program(program: Program) -> None:
    """The rules, the target's head in bold."""
    out = console()
    lines = format_program(program).splitlines()
    if out.is_terminal:
        lines = [part for line in lines for part in _continued(line, out.width)]
    text = Text("\n".join(lines))
    text.highlight_regex(KEYWORDS, "cyan")
    text.highlight_words([program.target.name], "bold")
    out.print(text)


def _continued(line: str, width: int) -> list[str]:
    """A rule on as many lines as it takes. A quoted name may have spaces that must stay as they are."""
    if "'" in line:
        return [line]
    margin = " " * (len(line) - len(line.lstrip()) + 4)
    whole = line.replace(", ", ",\xa0")
    lines = wrap(whole, width, subsequent_indent=margin, break_long_words=False, break_on_hyphens=False)
    return [part.replace("\xa0", " ") for part in lines]


def print_result(result: Result) -> None:
    """The program, what is known about it, and what to do next."""
    print_program(result.program)
    out = console()
    out.print()
    out.print(_headline(result))
    print_trials(result.verification.trials)
    out.print()
    out.print(f"size        {size_of(result.program)}; as extracted: {size_of(result.raw)}")
    out.print(f"effort      {result.seconds:.1f} s, {count(result.starts, 'start')}, {count(result.steps, 'step')}")
    out.print(f"task        {result.task}, seed {result.seed}")
    if result.run_dir is None:
        return
    out.print(f"run folder  {result.run_dir}")
    out.print()
    if result.verified:
        out.print(f"Next: dlm show {result.run_dir} --raw         # the program as extracted, before pruning")
        out.print(f"      dlm test {result.run_dir} --objects 200 # one more trial, at any size")
    else:
        more = f" --time-limit {_more(result.seconds)}" if result.ended == "time limit" else ""
        out.print(f"Next: dlm learn --resume {result.run_dir}{more}")


def _headline(result: Result) -> Text:
    if result.verified:
        instances = sum(trial.instances for trial in result.verification.trials)
        return Text.assemble(
            ("Verified", "bold green"), f": no error on {instances} fresh instances. Learned by {result.learner}."
        )
    why = "the time limit was reached" if result.ended == "time limit" else "interrupted"
    by = "no learner had a program yet" if result.learner == "none" else f"learned by {result.learner}"
    return Text.assemble(("Not verified", "bold yellow"), f": {why}. This is the best program so far, {by}.")


def print_trials(trials: Sequence[Trial]) -> None:
    """A table of how often a program was right."""
    rows = [(str(t.instances), _sizes(t.sizes), str(t.right), percent(t.success_rate)) for t in trials]
    print_table(("INSTANCES", "OBJECTS", "WHOLLY RIGHT", "SUCCESS RATE"), rows)


def column_widths(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[int]:
    """How wide the columns of a table need to be."""
    return [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]


def print_table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    """Columns two spaces apart."""
    widths = column_widths(head, rows)
    print_rows([head], widths, style="dim")
    print_rows(rows, widths)


def print_rows(rows: Sequence[tuple[str, ...]], widths: Sequence[int], style: str = "") -> None:
    """Rows of a table."""
    out = console()
    for row in rows:
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        out.print(Text(line, style=style))


def percent(share: float) -> str:
    """A share as a percentage that says 100 only if nothing is missing."""
    if share == 1:
        return "100%"
    rounded = f"{100 * share:.2f}%"
    return "> 99.99%" if rounded == "100.00%" else rounded


def size_of(program: Program) -> str:
    """How large a program is, in words; of a decision list also as it is printed."""
    size = f"{count(len(program.definitions), 'definition')}, {count(program.literals, 'literal')}"
    listed = rules_of(program)
    if listed is None:
        return size
    printed = f"{count(len(listed.rules), 'rule')}, {count(sum(map(literals, listed.printed)), 'literal')}"
    return f"{printed}; as an ordinary program {size}"


def count(number: int, noun: str) -> str:
    """A number of things, in words."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _sizes(sizes: tuple[int, ...]) -> str:
    if len(sizes) > 2 and list(sizes) == list(range(sizes[0], sizes[-1] + 1)):
        return f"{sizes[0]} to {sizes[-1]}"
    return ", ".join(map(str, sizes))


def _more(seconds: float) -> int:
    """A time limit that gives a run as long again as it had, in round numbers."""
    return max(60, round(2 * seconds / 60) * 60)
