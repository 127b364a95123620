"""The table of a sweep."""

from dlm.sweeps.table import cells, markdown_table, table_rows

RUN = {"asked": "search", "verified": True, "wall_seconds": 1.0, "cpu_seconds": 0.5, "literals": 2, "raw_literals": 9}


def test_a_row_for_each_combination() -> None:
    records = [
        {**RUN, "settings": {"depth": 4}},
        {**RUN, "settings": {"depth": 6}, "verified": False, "wall_seconds": 9.0},
        {**RUN, "settings": {"depth": 4}, "wall_seconds": 3.0, "literals": 5},
        {"asked": "search", "settings": {"depth": 4}, "error": "no memory"},
        {"asked": "gradient", "settings": {"depth": 6}, "error": "no memory"},
    ]
    rows = table_rows(records, ["learner", "depth"])
    assert [cells(row) for row in rows] == [
        ("search", "4", "3", "2 (67 %)", "2.0", "3.0", "0.5", "3.5 (at most 5)", "9 (at most 9)", "1"),
        ("search", "6", "1", "0 (0 %)", "9.0", "9.0", "0.5", "2 (at most 2)", "9 (at most 9)", "0"),
        ("gradient", "6", "1", "0 (0 %)", "", "", "", "", "", "1"),
    ]
    assert rows[0]["wall_seconds"] == {"median": 2.0, "worst": 3.0}


def test_markdown() -> None:
    assert markdown_table(["a", "b"], [["1", "2"]]) == "| a | b |\n| --- | --- |\n| 1 | 2 |\n"
