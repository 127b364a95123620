"""`dlm play`: one episode of a policy, each step with its action, and why."""

from __future__ import annotations

import json as json_text
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

import dlm
from dlm.api.trials import Episode
from dlm.cli.display import count
from dlm.cli.options import JsonOption, ProgramArgument
from dlm.cli.policy_options import GreedyOption, ProblemOption, TrustOption, WorldOption, mode_of, one_problem
from dlm.cli.results import decision_words
from dlm.data.draft import explained
from dlm.envs import State
from dlm.envs.domain import AnyDomain
from dlm.envs.picture import draw
from dlm.errors import SettingsError
from dlm.logic.syntax import Program
from dlm.policies.episode import Move, explain_move

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["play"]

NOT_SOLVED = 3


LEVELS = 3
"""How deep reasons go if nothing else is asked for: the rule, what it needed, and who was found."""

FRAME_MS = 700
LAST_FRAME_MS = 2500

Render = Literal["text", "png", "gif"]


def play(
    source: ProgramArgument,
    task: ProblemOption = None,
    env: WorldOption = None,
    objects: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Objects or blocks. Default: those of the first published test."),
    ] = None,
    trial: Annotated[
        str | None, typer.Option(metavar="NAME", help='Start as a published test does, such as "two columns".')
    ] = None,
    render: Annotated[
        Render, typer.Option(metavar="text|png|gif", help="Text, a picture a step, or one moving picture.")
    ] = "text",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE|DIR", help="The GIF file, or the folder of the PNG files.")
    ] = None,
    greedy: GreedyOption = None,
    explain: Annotated[
        bool, typer.Option("--explain", metavar="", help="Say why each action was chosen: the rule and its witnesses.")
    ] = False,
    levels: Annotated[
        int, typer.Option(min=0, metavar="N", help="How deep --explain goes; 0: down to the facts.")
    ] = LEVELS,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Seed of the start state and of choices.")] = 0,
    trust: TrustOption = False,
    json: JsonOption = False,
) -> None:
    """Play one episode of a policy. Exit code 0 if it reaches the goal, 3 if not."""
    problem, mode = one_problem(task, env), mode_of(greedy)
    episode = dlm.play(source, problem, size=objects, trial=trial, mode=mode, seed=seed, trust=trust)
    domain, program, start = episode.domain, episode.program, episode.start
    path = _picture_path(render, out, domain)
    moves: list[Move] = []
    shown = render == "text" and not json
    for move in episode:
        moves.append(move)
        if shown:
            _print_move(episode, moves, levels if explain else None)
    frames: list[Image] = []
    if path is not None:
        frames = [draw(domain, move.before, 0, f"step {number}: {move}") for number, move in enumerate(moves, 1)]
        if moves and _collects(domain, moves[-1]):
            frames.pop()
        frames.append(draw(domain, moves[-1].after if moves else start, 0))
        (_write_gif if render == "gif" else _write_pngs)(frames, path)
    if json:
        print(json_text.dumps(_to_json(domain, program, start, moves, seed, explain=explain)))
    else:
        if not shown and explain:
            for number, move in enumerate(moves, 1):
                print(f"step {number}: {_action(domain, move)}")
                _print_reason(domain, program, move, levels)
        _print_end(domain, start, moves, seed, greedy)
        if path is not None:
            print(f"{count(len(frames), 'picture')} in {path}")
    raise typer.Exit(0 if not moves or moves[-1].solved else NOT_SOLVED)


# ---------------------------------------------------------------------- text


def _print_move(episode: Episode, moves: list[Move], levels: int | None) -> None:
    """The state and what was done in it, with the reason down to some level; at the end the last state too."""
    domain, move = episode.domain, moves[-1]
    print(domain.describe(move.before, 0))
    print()
    print(f"step {len(moves)}: {_action(domain, move)}")
    if levels is not None:
        _print_reason(domain, episode.program, move, levels)
    print()
    if move.done and not _collects(domain, move):
        print(domain.describe(move.after, 0))
        print()


def _collects(domain: AnyDomain, move: Move) -> bool:
    """Whether the goal was there before: such a step earns its reward and changes nothing, whatever the action."""
    return domain.collects_late and move.solved


def _action(domain: AnyDomain, move: Move) -> str:
    if _collects(domain, move):
        return "the goal is there, and its reward is collected"
    if not move.chosen:
        return f"{move}    no action is true: any was as good"
    return f"{move}    one of {move.true} true actions" if move.true > 1 else str(move)


def _print_reason(domain: AnyDomain, program: Program, move: Move, levels: int) -> None:
    """Why the action was chosen, down to some level."""
    if not move.chosen or _collects(domain, move):
        return
    lines = str(explain_move(program, move)).splitlines()
    shown = _cut(lines, levels) if levels else lines
    for line in shown:
        print(f"  {line}")
    if len(shown) < len(lines):
        print("  (--levels 0 goes down to the facts)")


def _cut(lines: list[str], levels: int) -> list[str]:
    """The lines down to a level; each level stands two spaces further in. What leads nowhere is not announced.

    In a list of objects, a line that only names one and would explain further down goes too.
    """
    depths = [(len(line) - len(line.lstrip())) // 2 for line in lines]
    kept: list[tuple[int, str]] = []
    parent, bare = "", False
    for line, depth, following in zip(lines, depths, [*depths[1:], 0], strict=True):
        if depth < levels:
            parent = line
        if depth == levels and following > depth:
            bare = _lists_objects(parent) and line.endswith(":")
            line = line.removesuffix(", because").removesuffix(":")
        elif depth == levels:
            bare = bare and line.endswith("in like manner")
        if depth < levels or (depth == levels and not bare):
            kept.append((depth, line))
    followers = [*(depth for depth, _ in kept[1:]), 0]
    return [
        line if following > depth else line.removesuffix(":")
        for (depth, line), following in zip(kept, followers, strict=True)
    ]


def _lists_objects(line: str) -> bool:
    return line.endswith(":") and ("; there " in line or "; only " in line)


def _print_end(domain: AnyDomain, start: State, moves: list[Move], seed: int, greedy: bool | None) -> None:
    optimum = domain.optimal_return(start)
    known = f"{'optimum' if optimum.exact[0] else 'best known'} {optimum.returns[0]:.3f}"
    best = "optimum unknown" if math.isnan(optimum.returns[0]) else known
    end = "The goal is reached" if moves and moves[-1].solved else "The goal is not reached"
    total = sum(move.reward for move in moves)
    print(f"{end} in {count(len(moves), 'step')}. Return {total:.3f}, {best}.")
    print(f"decision  {decision_words(mode_of(greedy))}")
    print(f"task      {domain.name}, {domain.size(start)} {domain.counts}, seed {seed}")


def _to_json(
    domain: AnyDomain, program: Program, start: State, moves: list[Move], seed: int, *, explain: bool
) -> dict[str, object]:
    optimum = domain.optimal_return(start)
    return {
        "task": domain.name,
        "seed": seed,
        "size": domain.size(start),
        "steps": [
            {
                "action": str(move),
                "true_actions": move.true,
                "reward": move.reward,
                **({"explanation": explain_move(program, move).to_json()} if explain else {}),
            }
            for move in moves
        ],
        "return": sum(move.reward for move in moves),
        "optimum": None if math.isnan(optimum.returns[0]) else float(optimum.returns[0]),
        "optimum_exact": bool(optimum.exact[0]),
        "solved": bool(moves) and moves[-1].solved,
    }


# ---------------------------------------------------------------------- pictures


def _picture_path(render: Render, out: Path | None, domain: AnyDomain) -> Path | None:
    """Where pictures go, refused before the episode if they cannot go there."""
    stem = domain.name.replace("/", "-")
    match render:
        case "text":
            if out is not None:
                raise SettingsError("--out is for pictures: add --render png or --render gif")
            return None
        case "gif":
            path = out or Path(f"{stem}.gif")
            if path.suffix.lower() != ".gif" or path.is_dir():
                raise SettingsError(f"--render gif writes one file whose name ends in .gif, got --out {path}")
            return path
        case "png":
            path = out or Path(stem)
            if path.exists() and not path.is_dir():
                raise SettingsError(f"--render png writes a picture a step into a folder; {path} is a file")
            return path


def _write_gif(frames: list[Image], path: Path) -> None:
    durations = [FRAME_MS] * (len(frames) - 1) + [LAST_FRAME_MS]
    with explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        # Frames that do not differ must stay apart, or the durations would not fit: dispose of each one whole.
        frames[0].save(
            path, save_all=True, append_images=frames[1:], duration=durations, loop=0, disposal=2, optimize=False
        )


def _write_pngs(frames: list[Image], path: Path) -> None:
    with explained(path):
        path.mkdir(parents=True, exist_ok=True)
        for number, frame in enumerate(frames):
            frame.save(path / f"step-{number:03d}.png")
