"""Files and folders appear whole or not at all."""

import os
from pathlib import Path

import pytest

from dlm.data.draft import draft
from dlm.errors import ResourceError


def test_a_draft_is_on_the_disk_before_it_takes_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    seen: list[str] = []
    monkeypatch.setattr(os, "fsync", lambda _: seen.append(path.read_text()))
    with draft(path) as beside:
        beside.write_text("new")
    assert seen == ["old"]
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def write(path: Path, text: str, error: BaseException) -> None:
    with draft(path) as beside:
        beside.write_text(text)
        raise error


def write_folder(path: Path, error: OSError | None = None) -> None:
    with draft(path) as beside:
        beside.mkdir()
        (beside / "one").write_text("1")
        if error:
            raise error


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_draft_that_fails_leaves_what_was_there(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(error):
        write(path, "half", error())
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "folder"
    with pytest.raises(ResourceError, match=f"the disk is full: cannot write {path}. Free some space and try again$"):
        write_folder(path, OSError(28, "No space left on device"))
    assert not list(tmp_path.iterdir())
    write_folder(path)
    assert [file.name for file in path.iterdir()] == ["one"]
