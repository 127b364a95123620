"""Finished runs in a file, one JSON object a line, written as they come.

A line is written whole with one call, so that two sweeps can share a file; a later line about the same run replaces the
earlier one. Half a line, left by a sweep that was killed or by a disk that was full, counts as not written.
"""

from __future__ import annotations

import errno
import json
import math
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import cast

from dlm.data.draft import explained, make_folder
from dlm.data.json_text import parse_json_text
from dlm.errors import RunError
from dlm.sweeps.job import Job, Record, goes_on, key_of

__all__ = ["Records", "read_records"]


class Records(dict[str, Record]):
    """Finished runs by their names, and the file that holds them."""

    def __init__(self, path: Path) -> None:
        super().__init__(_read_lines(path) if path.exists() else ())
        self.path = path

    def keep(self, key: str, record: Record) -> None:
        """Add a run, in the file before anything else."""
        kept = {"key": key, **record}
        line = json.dumps(_finite(kept), allow_nan=False) + "\n"
        make_folder(self.path.parent)
        with explained(self.path):
            _append(self.path, line.encode())
        self[key] = kept

    def take(self, records: Iterable[Record]) -> int:
        """Add runs that were made elsewhere, unless they ended in an error or are here already. How many were new."""
        new = {_key(record): record for record in records if "error" not in record}
        new = {key: record for key, record in new.items() if "error" in self.get(key, {"error": ""})}
        for key, record in new.items():
            self.keep(key, {name: value for name, value in record.items() if name != "key"})
        return len(new)

    def is_missing(self, job: Job) -> bool:
        """Whether a run is yet to be made, or of these data, or has more time now. Errors are tried again."""
        known = self.get(job.key, {"error": ""})
        other = known.get("data", job.data) != job.data
        return other or "error" in known or goes_on(known, known.get("limit", math.inf), job.limit)

    @property
    def done(self) -> list[Record]:
        """The runs that came with a program."""
        return [record for record in self.values() if "error" not in record]

    @property
    def errors(self) -> dict[str, str]:
        return {key: record["error"] for key, record in self.items() if "error" in record}


def read_records(source: Path) -> list[Record]:
    """Records that were made elsewhere: a file of lines, one JSON object, or a folder of such files."""
    if source.is_dir():
        files = sorted(path for path in source.iterdir() if path.suffix in (".json", ".jsonl"))
        return [record for path in files for record in read_records(path)]
    if not source.is_file():
        raise RunError(f"there are no records in {source}: expected a file of JSON lines, or a folder of JSON files")
    return [{**record, "settings": _settings(record)} for _, record in _read_lines(source)]


def _read_lines(path: Path) -> Iterator[tuple[str, Record]]:
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, ValueError) as error:
        raise RunError(f"cannot read {path}: {error}") from None
    # What follows the last end of a line is empty, or half a line, or all of a file that does not end its last line.
    *whole, last = lines
    for number, line in enumerate([*whole, *([last] if _is_whole(last) else [])], 1):
        if line.strip():
            record = parse_json_text(line, f"{path}:{number}", RunError)
            if not isinstance(record, dict) or not {"asked", "task", "seed"} <= record.keys():
                raise RunError(f"{path}:{number} should be the record of a run, with asked, task and seed")
            yield _key(cast(Record, record)), record


def _is_whole(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _key(record: Record) -> str:
    """The name of a run, also of one that was made by hand: `dlm learn --json`, with asked, task and seed."""
    if "key" in record:
        return str(record["key"])
    return key_of(record["asked"], record["task"], record["seed"], _settings(record))


def _settings(record: Record) -> Record:
    named = {"schedule": record["schedule_name"]} if "schedule_name" in record else {}
    return {**(record.get("settings") or {}), **named}


def _finite(value: object) -> object:
    """A value of which what is not a number is nothing: JSON has no word for it."""
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _append(path: Path, line: bytes) -> None:
    """Write a line at the end of a file, all of it or nothing."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
    try:
        before = os.fstat(file).st_size
        if before and os.pread(file, 1, before - 1) != b"\n":
            before = _cut(file, before)
        try:
            if os.write(file, line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(file)
        except OSError:
            os.ftruncate(file, before)
            raise
    finally:
        os.close(file)


def _cut(file: int, size: int) -> int:
    """Take half a line away from the end of a file, or end one that is whole. Its size then."""
    start = os.pread(file, size, 0).rfind(b"\n") + 1
    if _is_whole(os.pread(file, size - start, start).decode(errors="replace")):
        os.write(file, b"\n")
        return size + 1
    os.ftruncate(file, start)
    return start
