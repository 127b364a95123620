"""The table of a sweep."""

from dlm.sweeps.table import cells, markdown_table, names_in, page, table_rows

RUN = {
    "asked": "search",
    "task": "t",
    "seed": 0,
    "kind": "task",
    "verified": True,
    "wall_seconds": 1.0,
    "cpu_seconds": 0.5,
    "literals": 2,
    "raw_literals": 9,
}


def test_a_row_for_each_combination() -> None:
    records = [
        {**RUN, "settings": {"depth": 4}},
        {**RUN, "settings": {"depth": 6}, "verified": False, "wall_seconds": 9.0},
        {**RUN, "settings": {"depth": 4}, "wall_seconds": 3.0, "literals": 5},
        {"asked": "search", "seed": 1, "settings": {"depth": 4}, "error": "no memory"},
        {"asked": "gradient", "seed": 1, "settings": {"depth": 6}, "error": "no memory"},
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


def test_a_page_says_what_all_runs_have_in_common_and_what_each_row_is_of() -> None:
    records = [
        {**RUN, "settings": {"depth": 4, "breadth": (2, 3, 3)}, "limit": None},
        {**RUN, "settings": {"depth": 4, "breadth": [2, 3, 3]}, "seed": 1, "limit": 1200.0},
        {**RUN, "settings": {"depth": 4, "unit_outputs": ((1, 2, 16), (2, 2, 4))}, "seed": 7, "limit": 20.0},
    ]
    head, _, *rows = page(table_rows(records, names_in(records))).splitlines()[-4:]
    assert "- problem: t\n- learner: search\n- depth: 4\n" in page(table_rows(records, names_in(records)))
    assert head.startswith("| breadth | unit outputs | seeds | limit s | runs | verified |")
    assert rows[0].startswith("| 2+3+3 |  | 0-1 | 600, 1,200 | 2 | 2 (100 %) |")
    assert rows[1].startswith("|  | 1:2:16+2:2:4 | 7 | 20 | 1 | 1 (100 %) |")
