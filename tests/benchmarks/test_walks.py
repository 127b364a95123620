"""Walks count the files that are entered, once, and not what only imports run."""

from benchmarks.walks import ROOT, measure


def test_a_walk_lists_files_in_the_order_in_which_they_are_entered() -> None:
    files = measure(ROOT, 2)
    assert files[0] == "cli/app.py"
    assert files.index("cli/run.py") < files.index("data/readers/prolog.py") < files.index("engines/dense.py")
    assert len({*files}) == len(files)


def test_what_is_only_imported_does_not_count() -> None:
    files = measure(ROOT, 2)
    assert "learning/portfolio.py" not in files
    assert "tasks/registry.py" not in files, "tasks are registered while it is imported"
