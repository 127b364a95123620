"""`dlm sweep`: one problem with many seeds and settings, and a table at the end."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from dlm.api.front_door import is_data
from dlm.cli.display import print_table
from dlm.cli.policy_options import complete_problem
from dlm.cli.sweep_options import SOME_FAILED, JobsOption, RayOption, RunLines, SeedsOption
from dlm.data.draft import draft, make_folder
from dlm.data.sources.fingerprint import fingerprint
from dlm.errors import SettingsError
from dlm.sweeps.executors import choose_executor
from dlm.sweeps.grid import check_settings, parse_grid, settings_of
from dlm.sweeps.job import Job, Record
from dlm.sweeps.records import Records
from dlm.sweeps.sweep import parse_seeds, run_missing
from dlm.sweeps.table import HEAD, cells, names_in, page, table_rows
from dlm.sweeps.wording import counted

__all__ = ["sweep"]


def sweep(
    problem: Annotated[
        str,
        typer.Argument(
            metavar="PROBLEM",
            help="A task (`dlm tasks` lists them), a Gymnasium id, module:attribute, or a path to one's own data.",
            autocompletion=complete_problem,
        ),
    ],
    grid: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SETTING=VALUES...",
            help="Settings of `dlm learn` with their values, such as depth=4,6 outputs=4,8: all combinations are run.",
        ),
    ] = None,
    seeds: SeedsOption = "0-4",
    learner: Annotated[str | None, typer.Option(metavar="NAME", help="Who learns. Default: auto.")] = None,
    schedule: Annotated[str | None, typer.Option(metavar="NAME", help="The schedule of `dlm learn`.")] = None,
    time_limit: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Of each run. Default: that of `dlm learn`.")
    ] = None,
    jobs: JobsOption = None,
    ray: RayOption = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where records and tables go. Default: sweeps/PROBLEM."),
    ] = None,
) -> None:
    """Learn a problem many times, and end with a table of success, seconds and sizes.

    Every run is a `dlm learn` in a process of its own with one thread. Its record is written when it ends: a sweep
    that was killed, or is started again, runs only what is missing. Exit code 3 if some run ended in an error.
    """
    combinations = parse_grid(grid or (), settings_of(problem))
    fixed = {name: value for name, value in (("learner", learner), ("schedule", schedule)) if value is not None}
    twice = [name for name in fixed if name in combinations[0]]
    if twice:
        raise SettingsError(f"--{twice[0]} and the grid both give the {twice[0]}: leave one of them out")
    chosen = [{**fixed, **combination} for combination in combinations]
    limit = {} if time_limit is None else {"time_limit": time_limit}
    check_settings(problem, [{**settings, **limit} for settings in chosen])
    planned = _jobs(problem, parse_seeds(seeds), time_limit, chosen)
    folder = out or Path("sweeps") / problem.replace("/", "-").replace(":", "-").strip("-.")
    executor = choose_executor(jobs, ray)
    make_folder(folder)
    records = Records(folder / "records.jsonl")
    run_missing(planned, records, executor, folder / "runs", RunLines())
    _show([records[job.key] for job in planned], list(combinations[0]), records)
    if any(job.key in records.errors for job in planned):
        raise typer.Exit(SOME_FAILED)


def _jobs(problem: str, seeds: Iterable[int], limit: float | None, chosen: Sequence[Record]) -> list[Job]:
    """All settings of a seed before those of the next."""
    found = []
    data = {
        test: fingerprint(problem, test) if is_data(problem) else "" for test in {each.get("test") for each in chosen}
    }
    for seed in seeds:
        for settings in chosen:
            rest = {name: value for name, value in settings.items() if name != "learner"}
            learner = settings.get("learner", "auto")
            found.append(Job(problem, learner, seed, limit, rest, data=data[settings.get("test")]))
    return found


def _show(runs: list[Record], names: list[str], records: Records) -> None:
    """Print the table of these runs, and write that of all runs beside the records."""
    folder = records.path.parent
    all_runs = [*runs, *(record for record in records.values() if record not in runs)]
    written = table_rows(all_runs, names_in(all_runs))
    with draft(folder / "table.json") as path:
        path.write_text(json.dumps(written, indent=1) + "\n")
    with draft(folder / "table.md") as path:
        path.write_text(page(written))
    head = (*(name.upper().replace("_", " ") for name in names), *HEAD)
    print_table(head, [cells(row) for row in table_rows(runs, names)])
    print(f"\nrecords     {records.path}")
    print(f"table       {folder / 'table.md'}, table.json: of {counted(len(records), 'run')}")
