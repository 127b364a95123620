"""A library's database as a folder of CSV files, with empty cells, dates, a number, and some labels that are wrong.

Run as ``python examples/library.py FOLDER``. A loan is late if its book is long and its reader knows nobody who
works there: no friend of the reader's is on the staff. That is what `dlm learn FOLDER` should find out.
"""

from __future__ import annotations

import csv
import sys
from datetime import date, timedelta
from pathlib import Path

import numpy as np

READERS, BOOKS, LOANS = 60, 80, 300
LONG = 400
NOISE = 0.03
CITIES = ("Bergen", "Oslo", "Tromso", "Voss")
GENRES = ("crime", "essay", "novel", "poetry")


def write_library(folder: Path, seed: int = 0) -> None:
    """Write the tables readers, books, friends, loans and late."""
    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    staff = rng.random(READERS) < 0.25
    readers = [
        (
            number,
            f"reader {number}",
            "" if rng.random() < 0.1 else date(1950, 1, 1) + timedelta(days=int(rng.integers(20_000))),
            rng.choice(CITIES),
            "yes" if staff[number] else "no",
        )
        for number in range(READERS)
    ]
    pages = rng.integers(80, 900, BOOKS)
    books = [
        (number, f"book {number}", pages[number], "" if rng.random() < 0.05 else rng.choice(GENRES))
        for number in range(BOOKS)
    ]
    friends = sorted({tuple(pair) for pair in rng.integers(READERS, size=(2 * READERS, 2)).tolist()})
    helped = {reader for reader, friend in friends if staff[friend]}
    loans, late = [], []
    for number in range(LOANS):
        reader, book = int(rng.integers(READERS)), int(rng.integers(BOOKS))
        loans.append((number, reader, book, date(2024, 1, 1) + timedelta(days=int(rng.integers(365)))))
        truth = bool(pages[book] > LONG) and reader not in helped
        late.append((number, int(truth ^ bool(rng.random() < NOISE))))
    _write(folder / "readers.csv", "id,name,born,city,staff", readers)
    _write(folder / "books.csv", "id,title,pages,genre", books)
    _write(folder / "friends.csv", "reader_id,friend_id", friends)
    _write(folder / "loans.csv", "id,reader_id,book_id,day", loans)
    _write(folder / "late.csv", "loan_id,label", late)


def _write(path: Path, header: str, rows: list[tuple[object, ...]]) -> None:
    with path.open("w", newline="") as out:
        csv.writer(out).writerows([header.split(","), *rows])


if __name__ == "__main__":
    place = Path(sys.argv[1] if len(sys.argv) > 1 else "library")
    write_library(place)
    print(f"wrote {place}; look at it with: dlm inspect {place}")
