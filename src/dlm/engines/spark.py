"""The engine for clusters: the same query in Spark, with facts and answers handed over as Parquet files."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dlm.data.facts import Facts, Rows
from dlm.engines.answers import Answers
from dlm.engines.engine import Progress, require_inputs
from dlm.engines.query.algebra import Statistics
from dlm.engines.query.plan import plan_program
from dlm.engines.query.sql import Names, TableStep, plan_to_steps
from dlm.errors import ResourceError, require_packages
from dlm.logic.syntax import Program

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["SparkEngine"]

BATCH_ROWS = 1 << 18
ORDERED = "ordered"
QUIET_LOGS = """
rootLogger.level = error
rootLogger.appenderRef.console.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %p %c: %m%n
"""


@dataclass(frozen=True)
class SparkEngine:
    """Runs a program as a query in Spark: in the session that is active, or else in one on this machine.

    Facts and answers pass through `folder`, which all workers must see; by default the machine's temporary folder.
    """

    folder: Path | None = None
    name: str = "spark"

    def run(self, program: Program, facts: Facts, *, on_progress: Progress | None = None) -> Answers:
        """The tuples of the program's target. The query starts when they are asked for."""
        facts = require_inputs(program, facts)
        require_packages("pyarrow", "pyspark", extra="spark", purpose="the engine spark")
        names = Names({name: f"table{number}" for number, name in enumerate(program.inputs)}, "objects")
        plan = plan_program(program, Statistics.of(facts, program.inputs))
        steps = plan_to_steps(plan, names, dialect="spark", few=True)
        tables = {table: facts.relations[name] for name, table in names.tables.items()}
        tables[names.objects] = np.arange(facts.size, dtype=np.int64)[:, None]
        report = on_progress or (lambda _: None)

        def batches() -> Iterator[Rows]:
            with TemporaryDirectory(prefix="dlm-spark-", dir=self.folder or gettempdir()) as place:
                folder = Path(place)
                for number, (table, rows) in enumerate(tables.items(), start=1):
                    report(f"writing table {number} of {len(tables)}, {len(rows):,} rows")
                    _write(folder / f"{table}.parquet", rows)
                report("starting Spark")
                session = _session(folder)
                for table, rows in tables.items():
                    # Without a schema Spark starts a job for each table, only to look for its columns.
                    reader = session.read.schema(", ".join(f"{name} BIGINT" for name in _columns(rows)))
                    reader.parquet(str(folder / f"{table}.parquet")).createOrReplaceTempView(table)
                for number, step in enumerate(steps, start=1):
                    report(f"step {number} of {len(steps)}")
                    _make(session, folder, step)
                report("ordering the answers")
                _order(session, folder, steps[-1].table, program.target.arity)
                for view in (*tables, *(step.table for step in steps)):
                    session.catalog.dropTempView(view)
                yield from _read(folder / ORDERED, program.target.arity)

        return Answers(program.target.name, program.target.parameters, facts.objects, batches(), self.name)


def _session(folder: Path) -> SparkSession:
    """The active session, or a quiet one on this machine; the settings of its logs are read from `folder`."""
    from pyspark.errors import PySparkRuntimeError
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        raise ResourceError("the engine spark needs Java 17 or later, and there is no `java` on this machine")
    logs = folder / "log4j2.properties"
    logs.write_text(QUIET_LOGS)
    settings = {
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={logs.as_uri()}",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": str(4 * (os.cpu_count() or 1)),
    }
    builder = SparkSession.builder.master("local[*]").appName("dlm")
    for key, value in settings.items():
        builder = builder.config(key, value)
    try:
        return builder.getOrCreate()
    except PySparkRuntimeError as error:
        raise ResourceError(f"Spark does not start: {error}; it needs Java 17 or later") from None


def _make(session: SparkSession, folder: Path, step: TableStep) -> None:
    """Compute the table of a step once. As a part of the query, Spark would compute it wherever it is read."""
    path = str(folder / step.table)
    found = session.sql(step.query.sql(dialect="spark"))
    found.write.parquet(path)
    session.read.schema(found.schema).parquet(path).createOrReplaceTempView(step.table)


def _order(session: SparkSession, folder: Path, table: str, arity: int) -> None:
    """Write a table with its rows in order. As a part of its query, Spark would run that twice to share rows out."""
    columns = [f"arg{place}" for place in range(1, arity + 1)]
    found = session.table(table)
    (found.sort(columns) if columns else found).write.parquet(str(folder / ORDERED))


def _write(path: Path, rows: Rows) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.table(_columns(rows)), path)


def _columns(rows: Rows) -> dict[str, NDArray[np.int64]]:
    columns = {f"arg{place}": column for place, column in enumerate(rows.T, start=1)}
    return columns or {"arg0": np.ones(len(rows), dtype=np.int64)}


def _read(folder: Path, arity: int) -> Iterator[Rows]:
    """The answers that Spark has written, file by file and batch by batch."""
    from pyarrow import parquet

    for path in sorted(folder.glob("*.parquet")):
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(BATCH_ROWS):
                rows = np.empty((batch.num_rows, arity), dtype=np.int64)
                for place in range(arity):
                    rows[:, place] = batch.column(place).to_numpy()
                yield rows
