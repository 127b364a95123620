"""`dlm learn`: from a task or a world to a verified program."""

from __future__ import annotations

import json as json_text
import sys
import warnings
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import dlm
from dlm.cli.data_options import (
    DefinitionsOption,
    FoldsOption,
    ForallOption,
    LeaveOutOption,
    NegativesOption,
    SplitOption,
    StartOption,
    TargetOption,
    TestOption,
    UseOption,
    WorldKindOption,
)
from dlm.cli.options import JsonOption
from dlm.cli.policy_options import TrustOption, complete_problem
from dlm.errors import ProblemWarning, SettingsError
from dlm.learning.settings import NOISES, LearnSettings, NoiseName
from dlm.policies.settings import MODELS, ModelName, PolicyRunSettings
from dlm.runs.settings import DEVICES, SCHEDULES, DeviceName, RunSettings, ScheduleName
from dlm.runs.tensorboard import LOGS, LogName
from dlm.space.settings import CONSTANTS, T_NORMS, Constants, MachineSettings, TNorm

__all__ = ["learn"]

NOT_VERIFIED = 3
AnyLearnerName = Literal[
    "auto",
    "gradient",
    "search",
    "nlm",
    "dilp",
    "dnl-ilp",
    "rules",
    "ppo",
    "reinforce",
    "imitation",
    "nlrl",
    "dlm-incr-sl",
    "dlm-incr-rl",
]
LEARNER_HELP = (
    "Who learns: auto, gradient, search or rules, or a baseline of the paper (nlm, dilp, dnl-ilp); of one's own data: "
    "auto (rules), search or gradient; of rl/... tasks: auto "
    "(search, then ppo if need be), search (planning and rule search), ppo, reinforce, imitation (of a teacher), "
    "dlm-incr-sl and dlm-incr-rl (the paper's stacks of machines, by a teacher or by ppo), or the baseline nlrl. "
    "Default: auto."
)
TEACHER_HELP = (
    "Of rl/... tasks, for --learner imitation and dlm-incr-sl: a program file, the run folder of a policy (its soft "
    "policy if it was kept), or a hand-written program by name. Default: the one written for the task."
)
KEEP_SOFT_HELP = "train the soft policy alone, as the paper's nIDLM, and report its returns."
REPAIR_HELP = "whether a local search mends the programs of ppo; what it changed is called ppo+repair. Default: repair."
MACHINE = "Machine settings (default: the task's; of gradient also --no-repeats and --constants published)"
TRAINING = "Changes of the schedule, for tasks (default: the schedule's)"
WORLD = "Of environments that are not ours"
TIME_HELP = (
    "Seconds of wall time after which the run ends. "
    f"Default: {LearnSettings.time_limit:g}, of worlds to act in {PolicyRunSettings.time_limit:g}."
)


def _setting(owner: type[RunSettings | MachineSettings], name: str, *flags: str, **more: Any) -> Any:
    """An option whose help is that of the setting it sets."""
    field = next(field for field in fields(owner) if field.name == name)
    text = field.metadata["help"]
    if owner is MachineSettings:
        more["rich_help_panel"] = MACHINE
    elif field.default is not None and not isinstance(field.default, bool):
        default = f"{field.default:g}" if isinstance(field.default, float) else field.default
        text += f" Default: {default}."
    return typer.Option(*flags, help=text, **{"metavar": "N", **more})


def learn(
    task: Annotated[
        str | None,
        typer.Argument(
            metavar="PROBLEM",
            help="A task (`dlm tasks` lists them), a path to one's own data, a Gymnasium id, or module:attribute.",
            autocompletion=complete_problem,
        ),
    ] = None,
    seed: Annotated[int | None, _setting(LearnSettings, "seed")] = None,
    time_limit: Annotated[float | None, typer.Option(metavar="SECONDS", help=TIME_HELP)] = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Run folder. Default: a new one in ./runs.")] = None,
    resume: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Go on with the run in this folder, with its settings.")
    ] = None,
    learner: Annotated[AnyLearnerName | None, typer.Option(metavar="NAME", help=LEARNER_HELP)] = None,
    schedule: Annotated[ScheduleName | None, _setting(LearnSettings, "schedule", metavar="|".join(SCHEDULES))] = None,
    keep_soft: Annotated[
        bool, typer.Option("--keep-soft", metavar="", help=f"Of rl/... tasks: {KEEP_SOFT_HELP}")
    ] = False,
    model: Annotated[ModelName | None, _setting(PolicyRunSettings, "model", metavar="|".join(MODELS))] = None,
    rollouts: Annotated[bool, _setting(PolicyRunSettings, "rollouts", "--rollouts", metavar="")] = False,
    repair: Annotated[
        bool | None, typer.Option("--repair/--no-repair", metavar="", help=f"Of rl/... tasks: {REPAIR_HELP}")
    ] = None,
    incremental: Annotated[bool, _setting(LearnSettings, "incremental", "--incremental", metavar="")] = False,
    teacher: Annotated[str | None, typer.Option(metavar="TEACHER", help=TEACHER_HELP)] = None,
    device: Annotated[DeviceName | None, _setting(LearnSettings, "device", metavar="|".join(DEVICES))] = None,
    jobs: Annotated[int | None, _setting(LearnSettings, "jobs")] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", metavar="", help="Show every better program as it comes.")
    ] = False,
    log: Annotated[
        LogName | None,
        typer.Option(metavar="|".join(LOGS), help="Write training curves into the run folder, for TensorBoard."),
    ] = None,
    trust: TrustOption = False,
    json: JsonOption = False,
    noise: Annotated[
        NoiseName | None, _setting(LearnSettings, "noise", metavar="|".join(NOISES), rich_help_panel=TRAINING)
    ] = None,
    noise_decay: Annotated[
        float | None, _setting(LearnSettings, "noise_decay", metavar="X", rich_help_panel=TRAINING)
    ] = None,
    dropout: Annotated[float | None, _setting(LearnSettings, "dropout", metavar="X", rich_help_panel=TRAINING)] = None,
    diversity: Annotated[
        float | None, _setting(LearnSettings, "diversity", metavar="X", rich_help_panel=TRAINING)
    ] = None,
    hardening: Annotated[
        float | None, _setting(LearnSettings, "hardening", metavar="X", rich_help_panel=TRAINING)
    ] = None,
    shorten: Annotated[float | None, _setting(LearnSettings, "shorten", metavar="K", rich_help_panel=TRAINING)] = None,
    depth: Annotated[int | None, _setting(MachineSettings, "depth")] = None,
    breadth: Annotated[str | None, _setting(MachineSettings, "breadth", metavar="N[,N...]")] = None,
    outputs: Annotated[int | None, _setting(MachineSettings, "outputs")] = None,
    unit_outputs: Annotated[str | None, _setting(MachineSettings, "unit_outputs", metavar="L:B:N,...")] = None,
    atoms: Annotated[int | None, _setting(MachineSettings, "atoms")] = None,
    negation: Annotated[
        bool | None, _setting(MachineSettings, "negation", "--negation/--no-negation", metavar="")
    ] = None,
    quantifiers: Annotated[str | None, _setting(MachineSettings, "quantifiers", metavar="NAMES|none")] = None,
    distinct: Annotated[bool | None, _setting(MachineSettings, "distinct", "--distinct/--plain", metavar="")] = None,
    repeats: Annotated[bool | None, _setting(MachineSettings, "repeats", "--repeats/--no-repeats", metavar="")] = None,
    residual: Annotated[
        bool | None, _setting(MachineSettings, "residual", "--residual/--no-residual", metavar="")
    ] = None,
    constants: Annotated[Constants | None, _setting(MachineSettings, "constants", metavar="|".join(CONSTANTS))] = None,
    t_norm: Annotated[TNorm | None, _setting(MachineSettings, "t_norm", metavar="|".join(T_NORMS))] = None,
    action: Annotated[
        str | None,
        typer.Option(metavar="NAME", rich_help_panel=WORLD, help="The predicate whose atoms are the actions."),
    ] = None,
    sizes: Annotated[
        str | None, typer.Option(metavar="N,N...", rich_help_panel=WORLD, help="The sizes to train on.")
    ] = None,
    limit: Annotated[int | None, typer.Option(metavar="N", rich_help_panel=WORLD, help="Steps of an episode.")] = None,
    target: TargetOption = None,
    negatives: NegativesOption = None,
    world: WorldKindOption = None,
    test: TestOption = None,
    split: SplitOption = None,
    folds: FoldsOption = None,
    use: UseOption = None,
    leave_out: LeaveOutOption = None,
    forall: ForallOption = None,
    definitions: DefinitionsOption = None,
    start: StartOption = None,
) -> None:
    """Learn a task and print the program with what was verified.

    Exit code 0 for a verified program, 3 for the best so far, which is printed and saved all the same. On one's own
    data 0 means that the accuracy that was claimed is met on held-out atoms, or without any that they are fitted. A
    task to act in (rl/...) gives a policy: verified if in every published test all fresh episodes reach the goal, or
    the mean return is as good as the optimum.
    """
    given = _given(
        seed=seed,
        learner=learner,
        schedule=schedule,
        incremental=incremental or None,
        device=device,
        jobs=jobs,
        keep_soft=keep_soft or None,
        repair=repair,
        model=model,
        rollouts=rollouts or None,
        teacher=teacher,
        noise=noise,
        noise_decay=noise_decay,
        dropout=dropout,
        diversity=diversity,
        hardening=hardening,
        shorten=shorten,
        depth=depth,
        breadth=None if breadth is None else _read_breadth(breadth),
        outputs=outputs,
        unit_outputs=None if unit_outputs is None else _read_unit_outputs(unit_outputs),
        atoms=atoms,
        negation=negation,
        quantifiers=None if quantifiers is None else _read_quantifiers(quantifiers),
        distinct=distinct,
        repeats=repeats,
        residual=residual,
        constants=constants,
        t_norm=t_norm,
    )
    acting = _given(action=action, sizes=None if sizes is None else _read_numbers("sizes", sizes, ","), limit=limit)
    own = _given(target=target, negatives=negatives, world=world, test=test, split=split, folds=folds)
    own |= _given(
        use=None if use is None else _read_names(use),
        leave_out=None if leave_out is None else _read_names(leave_out),
        forall=forall,
        definitions=definitions,
        start=start,
    )
    shown: dict[str, Any] = {"progress": not json, "verbose": verbose, "log": log}
    with warnings.catch_warnings():
        warnings.simplefilter("always", ProblemWarning)
        warnings.showwarning = _print_warning  # type: ignore[assignment]
        if resume is not None:
            if {**given, **_given(out=out)}:
                raise SettingsError(
                    f"a resumed run keeps its settings; leave out {_options({**given, **_given(out=out)})} or start a "
                    "new run without --resume"
                )
            result = dlm.resume(resume, time_limit=time_limit, problem=task, trust=trust, **shown, **acting)
        elif task is None:
            raise SettingsError("say what to learn, such as `dlm learn family/has-father`; `dlm tasks` lists all tasks")
        else:
            asked = {**given, **acting, **own, **_given(time_limit=time_limit)}
            result = dlm.learn(task, out=out or True, **shown, **asked)
    if json:
        print(json_text.dumps(result.to_json()))
    else:
        from dlm.cli.results import print_result

        print_result(result)
    good = getattr(result, "good", result.verified)
    raise typer.Exit(0 if good else NOT_VERIFIED)


def _print_warning(message: Warning | str, *_: object) -> None:
    print(f"warning: {message}", file=sys.stderr)


def _given(**options: Any) -> dict[str, Any]:
    """The options that were given."""
    return {name: value for name, value in options.items() if value is not None}


def _options(given: dict[str, Any]) -> str:
    return ", ".join("--" + name.replace("_", "-") for name in given)


def _read_breadth(text: str) -> int | tuple[int, ...]:
    numbers = _read_numbers("breadth", text, ",")
    return numbers[0] if len(numbers) == 1 else numbers


def _read_unit_outputs(text: str) -> tuple[tuple[int, ...], ...]:
    triples = tuple(_read_numbers("unit-outputs", part, ":") for part in text.split(","))
    if any(len(triple) != 3 for triple in triples):
        raise SettingsError(f"--unit-outputs takes LAYER:ARITY:N triples such as 1:2:16,2:2:4. Got {text!r} instead.")
    return triples


def _read_numbers(option: str, text: str, separator: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(separator))
    except ValueError:
        message = f"--{option} takes whole numbers with {separator!r} between them. Got {text!r} instead."
        raise SettingsError(message) from None


def _read_names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _read_quantifiers(text: str) -> tuple[str, ...]:
    return () if text == "none" else tuple(part.strip() for part in text.split(","))
