"""Programs as one JavaScript function that needs nothing else, for Node and for web pages.

Every predicate becomes a function of object numbers. A definition is worked out where it is asked for, once for each
tuple; so the source reads as the program does. It is for worlds that fit on a page, not for millions of objects.
"""

from __future__ import annotations

import json
import re
from textwrap import wrap

from dlm.export.identifiers import Identifiers, choose_identifiers, printable
from dlm.logic.attributes import attribute_kinds, comparisons_of, tables_of
from dlm.logic.comparison import Comparison, format_constant
from dlm.logic.formulas import conjunction, conjuncts, disjunction, disjuncts
from dlm.logic.syntax import And, Atom, Definition, Equal, Exists, Forall, Formula, Not, Or, Program, Truth
from dlm.logic.text import format_definition

__all__ = ["export_javascript", "javascript_name", "javascript_text"]

WIDTH = 100

_WORDS = """
await break case catch class const continue debugger default delete do else enum export extends false finally for
function if implements import in instanceof interface let new null package private protected public return static super
switch this throw true try typeof var void while with yield arguments eval undefined NaN Infinity async of get set
"""
_OWN = """
Error JSON Map Object Set Uint8Array module objects relations everything names size number rows place cells cell table
define some every tuples values compare
"""
RESERVED = frozenset({*_WORDS.split(), *_OWN.split()})
"""Words of the language, what the source makes use of, and the names that it gives."""

_START = """\
  const names = [...new Set(objects)], size = names.length;
  const number = new Map(names.map((name, place) => [name, place]));
  const rows = (name, width) => {
    if (!Object.hasOwn(relations, name)) throw new Error(`relations has no ${JSON.stringify(name)}`);
    for (const row of relations[name])
      if (row.length !== width) throw new Error(`${JSON.stringify(name)} takes rows of ${width}, got ${row.length}`);
    return [...relations[name]];
  };
  const place = (name, object) => {
    if (!number.has(object)) throw new Error(`${JSON.stringify(name)} has ${JSON.stringify(object)}, no object`);
    return number.get(object);
  };
  const cells = (arity) => {
    if (size ** arity > 2 ** 27) throw new Error(`${size} objects are too many for ${arity} arguments`);
    return new Uint8Array(size ** arity);
  };
  const cell = (args) => args.reduce((at, arg) => at * size + arg, 0);
  const table = (name, arity) => {
    const found = cells(arity);
    for (const row of rows(name, arity)) found[cell(row.map((object) => place(name, object)))] = 1;
    if (arity === 1) return (i) => found[i] === 1;
    if (arity === 2) return (i, j) => found[i * size + j] === 1;
    return (...args) => found[cell(args)] === 1;
  };
  const define = (arity, holds) => {
    const known = cells(arity);
    const ask = (at, i, j, ...more) => {
      if (known[at] === 0) known[at] = holds(i, j, ...more) ? 2 : 1;
      return known[at] === 2;
    };
    if (arity === 1) return (i) => known[i] === 2 || ask(i, i);
    if (arity === 2) return (i, j) => known[i * size + j] === 2 || ask(i * size + j, i, j);
    return (...args) => ask(cell(args), ...args);
  };
  const some = (holds) => { for (let i = 0; i < size; i++) if (holds(i)) return true; return false; };
  const every = (holds) => { for (let i = 0; i < size; i++) if (!holds(i)) return false; return true; };
  const tuples = (arity, holds, before = []) =>
    before.length === arity
      ? holds(...before) ? [before.map((at) => names[at])] : []
      : names.flatMap((_, at) => tuples(arity, holds, [...before, at]));
"""

_VALUES = """\
  const values = (name, kind = null) => {
    const found = names.map(() => []);
    for (const [object, value] of rows(name, 2)) {
      if (kind !== null && typeof value !== kind)
        throw new Error(`${JSON.stringify(name)} has ${JSON.stringify(value)}, no ${kind}`);
      found[place(name, object)].push(value);
    }
    return found;
  };
  const compare = (left, holds, right = null) => (i, j) =>
    left[i].some((v) => (right === null ? holds(v) : right[j].some((w) => holds(v, w))));
"""


def export_javascript(program: Program) -> str:
    """The source of a function from objects and relations to the target's tuples."""
    names = choose_identifiers(program, RESERVED)
    target = program.target
    comparisons, kinds = comparisons_of(program.inputs), attribute_kinds(program.inputs)
    function = names.predicates[target.name]
    lines = [*_heading(program, names), f"function {function}(objects, relations, everything = false) {{"]
    lines += (_START + (_VALUES if comparisons else "")).splitlines()
    for name, arity in tables_of(program.inputs).items():
        if name in program.inputs:
            lines.append(f"  const {names.predicates[name]} = table({javascript_text(name)}, {arity});")
    for name, comparison in comparisons.items():
        lines.append(f"  const {names.predicates[name]} = {_comparison(comparison, kinds[comparison.attribute])};")
    writer = _JavaScriptWriter(names)
    for definition in program.definitions:
        lines += _comment(printable(format_definition(definition)), "  ")
        lines += writer.statement(definition)
    pairs = [f"[{javascript_text(each.name)}, {names.predicates[each.name]}]" for each in program.definitions]
    asked = "(...args) => holds(...args.map((object) => place(name, object)))"
    lines += ["  if (everything)", "    return new Map([", *(f"      {pair}," for pair in pairs)]
    lines += [f"    ].map(([name, holds]) => [name, {asked}]));"]
    lines += [f"  return tuples({target.arity}, {function});", "}"]
    lines.append(f'if (typeof module === "object") module.exports = {{ {function} }};')
    return "\n".join(lines) + "\n"


def javascript_name(program: Program) -> str:
    """The name of the function that `export_javascript` writes."""
    return choose_identifiers(program, RESERVED).predicates[program.target.name]


def javascript_text(text: str) -> str:
    """A literal for a text, in ASCII. It cannot end the script of a page that it stands in."""
    return _without_tags(json.dumps(text))


def _without_tags(text: str) -> str:
    return re.sub(r"<(?=[!/a-zA-Z])", r"\\u003c", text)


def _comment(text: str, margin: str) -> list[str]:
    lines = wrap(text, WIDTH, initial_indent=f"{margin}// ", subsequent_indent=f"{margin}//     ")
    return [_without_tags(line) for line in lines]


_KINDS = {"number": "a number", "date": "a date such as '1980-01-01'", "text": "a text"}


def _heading(program: Program, names: Identifiers) -> list[str]:
    target, kinds = program.target, attribute_kinds(program.inputs)
    head = f"{names.predicates[target.name]}({', '.join(names.variables[name] for name in target.parameters)})"
    lines = _comment(f"An array of the tuples that {head} holds of.", "")
    lines += [
        "//   objects: an array of all objects, texts or numbers",
        "//   relations: an object with arrays of rows:",
    ]
    for name, arity in tables_of(program.inputs).items():
        row = f"an object and {_KINDS[kinds[name]]}" if name in kinds else f"{arity} object{'' if arity == 1 else 's'}"
        lines += _comment(f"  {javascript_text(name)}: rows of {row}", "")
    return [*lines, "//   everything: give a map instead, of each definition as a function of objects"]


def _comparison(comparison: Comparison, kind: str) -> str:
    """The predicate of a comparison: some value of the attribute is as it says."""
    operator = "===" if comparison.operator == "=" else comparison.operator
    typed = {"number": ', "number"', "date": ', "string"'}.get(kind, "")  # what is only equal may be of any type
    left = f"values({javascript_text(comparison.attribute)}{typed})"
    if comparison.other is not None:
        right = f"values({javascript_text(comparison.other)}{typed})"
        return f"compare({left}, (v, w) => v {operator} w, {right})"
    constant = comparison.constant
    number = isinstance(constant, int | float)
    written = format_constant(constant) if number else javascript_text(str(constant))  # type: ignore[arg-type]
    return f"compare({left}, (v) => v {operator} {written})"


class _JavaScriptWriter:
    """Writes definitions with the identifiers chosen."""

    def __init__(self, names: Identifiers) -> None:
        self.names = names

    def statement(self, definition: Definition) -> list[str]:
        """The lines that define a predicate."""
        start = f"  const {self.names.predicates[definition.name]} = define({definition.arity}, "
        start += f"({', '.join(self.names.variables[name] for name in definition.parameters)}) => "
        return self.spread(definition.body, start, ");")

    def spread(self, formula: Formula, start: str, end: str) -> list[str]:
        """An expression between a start and an end, on one line if it fits."""
        line = f"{start}{self.condition(formula)}{end}"
        if len(line) <= WIDTH:
            return [line]
        margin = " " * (len(start) - len(start.lstrip()))
        match formula:
            case And(parts) | Or(parts):
                sign = "&&" if isinstance(formula, And) else "||"
                ends = [*(f") {sign}" for _ in parts[1:]), ")"]
                pairs = zip(parts, ends, strict=True)
                lines = [line for part, last in pairs for line in self.spread(part, f"{margin}  (", last)]
                return [f"{start}(", *lines, f"{margin}){end}"]
            case Exists() | Forall():
                return self.spread(_guarded(formula), start + self.loop(formula), f"){end}")
            case Not(body) if not isinstance(body, Atom | Equal):
                return self.spread(body, f"{start}!(", f"){end}")
        return [line]

    def condition(self, formula: Formula) -> str:
        """A formula as an expression."""
        match formula:
            case Atom(predicate, args):
                inside = ", ".join(self.names.variables[arg] for arg in args)
                return f"{self.names.predicates[predicate]}({inside})"
            case Equal(left, right):
                return f"{self.names.variables[left]} === {self.names.variables[right]}"
            case Not(Equal(left, right)):
                return f"{self.names.variables[left]} !== {self.names.variables[right]}"
            case Truth(value):
                return "true" if value else "false"
            case Not(body):
                text = self.condition(body)
                return f"!{text}" if isinstance(body, Atom | Truth | Exists | Forall) else f"!({text})"
            case And(parts):
                return " && ".join(map(self.operand, parts))
            case Or(parts):
                return " || ".join(map(self.operand, parts))
            case Exists() | Forall():
                return f"{self.loop(formula)}{self.condition(_guarded(formula))})"

    def operand(self, formula: Formula) -> str:
        text = self.condition(formula)
        return f"({text})" if isinstance(formula, And | Or) else text

    def loop(self, formula: Exists | Forall) -> str:
        word = "some" if isinstance(formula, Exists) else "every"
        return f"{word}(({self.names.variables[formula.variable]}) => "


def _guarded(formula: Exists | Forall) -> Formula:
    """The body of a quantifier with its inequalities: what must hold of some object, or of every one."""
    same = tuple(Equal(formula.variable, other) for other in formula.distinct)
    if isinstance(formula, Exists):
        return conjunction((*(Not(each) for each in same), *conjuncts(formula.body)))
    return disjunction((*same, *disjuncts(formula.body)))
