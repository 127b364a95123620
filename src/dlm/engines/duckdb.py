"""The engine for large facts: the program as one query in an embedded DuckDB, which spills to disk."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import TYPE_CHECKING

import numpy as np

from dlm.data.facts import Facts, Rows
from dlm.data.memory import available_bytes
from dlm.engines.answers import Answers
from dlm.engines.engine import Progress, require_inputs
from dlm.engines.query.algebra import Statistics
from dlm.engines.query.plan import plan_program, require_room
from dlm.engines.query.sql import Names, TableStep, ordered, plan_to_steps
from dlm.errors import ResourceError, require_packages
from dlm.logic.syntax import Program

if TYPE_CHECKING:
    import duckdb

__all__ = ["DuckdbEngine"]

BATCH_ROWS = 1 << 18


@dataclass(frozen=True)
class DuckdbEngine:
    """Runs a program as a query in DuckDB.

    `memory` limits what DuckDB takes, in bytes (by default most of what is free); the rest goes to a folder inside
    `folder` that is removed at the end. `threads` is the number of cores to use, all by default.
    """

    memory: int | None = None
    threads: int | None = None
    folder: Path | None = None
    name: str = "duckdb"

    def run(self, program: Program, facts: Facts, *, on_progress: Progress | None = None) -> Answers:
        """The tuples of the program's target. The query starts when they are asked for."""
        facts = require_inputs(program, facts)
        require_packages("duckdb", "pyarrow", extra="scale", purpose="the engine duckdb")
        folder = self.folder or Path(gettempdir())
        memory = self.memory or int(available_bytes() * 0.6)
        plan = plan_program(program, Statistics.of(facts, program.inputs))
        require_room(plan, memory + shutil.disk_usage(folder).free)
        names = Names({name: f"table{number}" for number, name in enumerate(program.inputs)}, "objects")
        steps = plan_to_steps(plan, names)
        tables = {table: facts.relations[name] for name, table in names.tables.items()}
        tables[names.objects] = np.arange(facts.size, dtype=np.int64)[:, None]

        def batches() -> Iterator[Rows]:
            with TemporaryDirectory(prefix="dlm-duckdb-", dir=folder) as spill:
                yield from self._stream(steps, tables, program.target.arity, memory, spill, on_progress)

        return Answers(program.target.name, program.target.parameters, facts.objects, batches(), self.name)

    def _stream(
        self,
        steps: list[TableStep],
        tables: dict[str, Rows],
        arity: int,
        memory: int,
        spill: str,
        on_progress: Progress | None,
    ) -> Iterator[Rows]:
        import duckdb

        config: dict[str, str | bool | int | float | list[str]] = {
            "temp_directory": spill,
            "memory_limit": f"{memory // 2**20}MiB",
            "threads": self.threads or os.cpu_count() or 1,
            "preserve_insertion_order": "false",
        }
        report = on_progress or (lambda _: None)
        with duckdb.connect(":memory:", config=config) as connection:
            for number, (table, rows) in enumerate(tables.items(), start=1):
                report(f"loading table {number} of {len(tables)}, {len(rows):,} rows")
                _load(connection, table, rows)
            try:
                for number, step in enumerate(steps[:-1], start=1):
                    report(f"step {number} of {len(steps)}")
                    _make(connection, step)
                report(f"step {len(steps)} of {len(steps)}")
                found = 0
                query = ordered(steps[-1].query, arity).sql(dialect="duckdb")
                for batch in connection.sql(query).to_arrow_reader(BATCH_ROWS):
                    found += batch.num_rows
                    report(f"{found:,} answers")
                    yield _rows(batch.columns, batch.num_rows, arity)
            except duckdb.OutOfMemoryException as error:
                raise ResourceError(
                    f"the query needs more than the {memory / 2**30:.1f} GiB of memory it may take ({error}); "
                    "give the engine more, or use fewer objects"
                ) from None
            except (duckdb.InterruptException, RuntimeError) as error:
                if "interrupted" in str(error).lower():  # DuckDB's word for Ctrl-C
                    raise KeyboardInterrupt from None
                raise
            except duckdb.BinderException as error:  # a union or condition of very many parts
                raise ResourceError(
                    f"the query is too long for DuckDB ({error}); use the bits engine, or a shorter program"
                ) from None


def _load(connection: duckdb.DuckDBPyConnection, table: str, rows: Rows) -> None:
    """Copy a table into DuckDB, where it is compressed and its values are counted. `table` is a name of our own."""
    kind = np.int32 if rows.size == 0 or rows.max() < 2**31 else np.int64
    columns = {f"arg{place}": np.ascontiguousarray(column, kind) for place, column in enumerate(rows.T, start=1)}
    connection.register("arrays", columns or {"arg0": np.ones(len(rows), np.int32)})
    connection.execute(f"CREATE TABLE {table} AS SELECT * FROM arrays")
    connection.unregister("arrays")


def _make(connection: duckdb.DuckDBPyConnection, step: TableStep) -> None:
    """Make the table of a step, and remove those that are done with."""
    from sqlglot import exp

    table = exp.Table(this=exp.Identifier(this=step.table, quoted=True))
    connection.execute(exp.Create(this=table, kind="TABLE", expression=step.query).sql(dialect="duckdb"))
    for name in step.done:
        done = exp.Table(this=exp.Identifier(this=name, quoted=True))
        connection.execute(exp.Drop(tables=[done], kind="TABLE").sql(dialect="duckdb"))


def _rows(columns: list[object], count: int, arity: int) -> Rows:
    rows = np.empty((count, arity), dtype=np.int64)
    for place in range(arity):
        rows[:, place] = np.asarray(columns[place])
    return rows
