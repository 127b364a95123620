"""Decision lists: rules in order, of which the first that is true of any different objects decides.

A decision list is no kind of program of its own. `RuleList.program` writes it as definitions: one for each rule, one
that says whether the rule *works*, that is, is true of some different objects, and the target: rule k is true and no
rule before it works. `rules_of` recognises just these definitions. So a list is an ordinary program for every engine
and survives every format, while people are shown rules (`dlm.logic.text` and the exports for people).
"""

from __future__ import annotations

from dataclasses import dataclass

from dlm.logic.formulas import conjunction, conjuncts, disjunction
from dlm.logic.syntax import TRUE, And, Atom, Definition, Exists, Formula, Not, Or, Program, atoms

__all__ = ["RuleList", "rules_of"]


@dataclass(frozen=True)
class RuleList:
    """Rules about the parameters of one predicate, the most urgent first, and the definitions that they use."""

    definitions: tuple[Definition, ...]
    name: str
    parameters: tuple[str, ...]
    rules: tuple[Formula, ...]

    @property
    def names(self) -> list[tuple[str, str]]:
        """For each rule the name of its definition, and of the one that says whether it works; nothing else has them.

        The last rule is written into the target and needs neither.
        """
        bodies = [*(definition.body for definition in self.definitions), *self.rules]
        taken = {self.name, *(definition.name for definition in self.definitions)}
        taken |= {atom.predicate for body in bodies for atom in atoms(body)}
        numbers = range(1, len(self.rules) + 1)
        return [(_free(f"rule_{number}", taken), _free(f"rule_{number}_works", taken)) for number in numbers]

    def program(self) -> Program:
        """The list as an ordinary program."""
        return Program(self.written())

    def written(self) -> tuple[Definition, ...]:
        """The list as definitions, the target last; one rule is an ordinary definition, no rule is never true."""
        definitions = list(self.definitions)
        parts: list[Formula] = []
        before: list[Formula] = []
        for (name, works), rule in zip(self.names[:-1], self.rules, strict=False):
            definitions.append(Definition(name, self.parameters, rule))
            definitions.append(Definition(works, (), _somewhere(Atom(name, self.parameters))))
            parts.append(conjunction((Atom(name, self.parameters), *before)))
            before.append(Not(Atom(works)))
        parts += [conjunction((*(() if rule == TRUE else conjuncts(rule)), *before)) for rule in self.rules[-1:]]
        return (*definitions, Definition(self.name, self.parameters, disjunction(tuple(parts))))

    def steps(self) -> tuple[list[Formula], list[Formula]]:
        """Each rule as the target has it: by its name, and the last one as it is; and that each but the last works."""
        rules: list[Formula] = [Atom(name, self.parameters) for name, _ in self.names[:-1]]
        return [*rules, self.rules[-1]], [Atom(works) for _, works in self.names[:-1]]

    @property
    def shared(self) -> tuple[Formula, ...]:
        """The conditions that all rules begin with and none ends with: people are told them once.

        Rules that nest conjunctions share nothing, since the text would not tell how they are nested.
        """
        options = [conjuncts(rule) for rule in self.rules]
        if any(isinstance(part, And) for parts in options for part in parts):
            return ()
        length = min(map(len, options)) - 1
        same = [all(parts[place] == options[0][place] for parts in options) for place in range(length)]
        return options[0][: [*same, False].index(False)]

    @property
    def own(self) -> tuple[Formula, ...]:
        """The rules without what they share."""
        start = len(self.shared)
        return tuple(conjunction(conjuncts(rule)[start:]) for rule in self.rules) if start else self.rules

    @property
    def printed(self) -> list[Formula]:
        """All formulas that people are shown."""
        return [*(definition.body for definition in self.definitions), *self.shared, *self.own]


def rules_of(program: Program) -> RuleList | None:
    """The program as a decision list of two rules or more, if it is written as one."""
    *before, target = program.definitions
    count = len(target.body.parts) if isinstance(target.body, Or) else 0
    start = len(before) - 2 * (count - 1)
    if not isinstance(target.body, Or) or start < 0:
        return None
    named = before[start::2]
    if any(definition.parameters != target.parameters for definition in named):
        return None
    ending = conjuncts(target.body.parts[-1])
    rules = (*(definition.body for definition in named), conjunction(ending[: len(ending) - (count - 1)]))
    found = RuleList(tuple(before[:start]), target.name, target.parameters, rules)
    return found if found.program() == program else None


def _somewhere(atom: Atom) -> Formula:
    """The atom is true of some different objects."""
    formula: Formula = atom
    for number in reversed(range(len(atom.args))):
        formula = Exists(atom.args[number], atom.args[:number], formula)
    return formula


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name = f"{name}_"
    return name
