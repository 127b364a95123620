"""Answers as streams, as tables and as files."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from dlm.data import Rows
from dlm.data.readers import read_facts
from dlm.engines import Answers
from dlm.errors import MissingExtraError, ResourceError, SettingsError

ROWS = [[2, 0], [0, 1], [0, 0]]


def answers(rows: list[list[int]] = ROWS, parameters: tuple[str, ...] = ("x", "y"), objects: Any = None) -> Answers:
    names = np.array(["a", 'b "quoted"', "c"], dtype=object) if objects is None else objects
    batches = (np.array([row], dtype=np.int64).reshape(1, len(parameters)) for row in rows)
    return Answers("p", parameters, names, batches, "bits")


@given(st.sets(st.tuples(st.integers(0, 2), st.integers(0, 2))))
def test_rows_are_sorted(rows: set[tuple[int, ...]]) -> None:
    found = answers([list(row) for row in rows])
    assert found.rows().tolist() == sorted(map(list, rows))
    assert found.rows().shape == (len(rows), 2)
    assert found.count == len(found.names()) == len(rows)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_files_are_facts_again(form: str, tmp_path: Path) -> None:
    assert answers().write(tmp_path / f"p.{form}") == 3
    assert answers([[]], ()).write(tmp_path / f"yes.{form}") == 1
    assert answers([], ()).write(tmp_path / f"no.{form}") == 0
    assert answers([]).write(tmp_path / f"none.{form}") == 0
    read = read_facts(tmp_path)
    assert read.arities == {"p": 2, "yes": 0, "no": 0, "none": 2}
    assert [len(read.relations[name]) for name in ("yes", "no", "none")] == [1, 0, 0]
    named = {tuple(row) for row in read.objects[read.relations["p"]].tolist()}
    assert named == set(answers().names()) == {("c", "a"), ("a", 'b "quoted"'), ("a", "a")}
    assert len(list(tmp_path.iterdir())) == 4


def test_columns_have_the_names_of_the_parameters_and_the_type_of_the_objects(tmp_path: Path) -> None:
    answers(objects=np.array([7, 8, 9])).write(tmp_path / "p.parquet")
    table = parquet.read_table(tmp_path / "p.parquet")
    assert table.to_pydict() == {"x": [9, 7, 7], "y": [7, 8, 7]}
    answers(objects=np.array([7, 8, 9])).write(tmp_path / "p.csv")
    assert (tmp_path / "p.csv").read_text() == "x,y\n9,7\n7,8\n7,7\n"


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, OSError])
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    form: str, error: type[BaseException], tmp_path: Path
) -> None:
    def broken() -> Iterator[Rows]:
        yield np.array(ROWS)
        assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".")], "the draft lies beside"
        raise error

    path = tmp_path / f"p.{form}"
    path.write_text("old")
    with pytest.raises(ResourceError if error is OSError else error):
        Answers("p", ("x", "y"), np.arange(3), broken(), "bits").write(path)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    assert path.read_text() == "old"


def test_a_stream_is_read_once_unless_kept(tmp_path: Path) -> None:
    streamed = answers()
    assert sum(len(batch) for batch in streamed.stream()) == streamed.count == 3
    with pytest.raises(RuntimeError, match="streamed already"):
        streamed.rows()
    kept = answers()
    kept.rows()
    assert kept.write(tmp_path / "p.csv") == kept.write(tmp_path / "q.csv") == 3


@pytest.mark.parametrize("name", ["p.txt", "p", "nowhere/p.csv", "folder.csv"])
def test_a_file_that_cannot_be_written_is_refused_at_once(name: str, tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    found = answers()
    with pytest.raises(SettingsError):
        found.write(tmp_path / name)
    assert found.count == 3, "nothing was streamed away"


def test_csv_needs_no_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(__import__("sys").modules, package, None)
    assert answers().write(tmp_path / "p.csv") == 3
    with pytest.raises(MissingExtraError, match=r"dlm\[scale\]"):
        answers().write(tmp_path / "p.parquet")
    assert [file.name for file in tmp_path.iterdir()] == ["p.csv"]


def test_answers_are_data_frames() -> None:
    found = answers()
    rows = [tuple(row) for row in found.names()]
    assert list(found.to_pandas().itertuples(index=False, name=None)) == rows
    assert found.to_polars().rows() == rows
    assert [tuple(row.values()) for row in found.to_arrow().to_pylist()] == rows
    assert (
        found.to_pandas().columns.tolist() == found.to_polars().columns == found.to_arrow().column_names == ["x", "y"]
    )
    numbers = answers(objects=np.array([10, 20, 30], dtype=np.int64))
    assert numbers.to_polars().rows() == list(numbers.to_pandas().itertuples(index=False, name=None))
    assert numbers.to_polars().rows() == [(10, 10), (10, 20), (30, 10)]


@pytest.mark.parametrize("rows", [[[]], []])
def test_answers_without_parameters_are_data_frames_too(rows: list[list[int]]) -> None:
    found = answers(rows, ())
    assert len(found.to_pandas()) == len(found.to_polars()) == len(found.to_arrow()) == len(rows)


def test_no_answers_are_data_frames_of_the_right_kind() -> None:
    found = answers([])
    assert found.to_pandas().shape == found.to_polars().shape == found.to_arrow().shape == (0, 2)
    assert str(found.to_polars().dtypes[0]) == "String"
