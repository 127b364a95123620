"""What files hold, as a word."""

from pathlib import Path

from dlm.data.sources.fingerprint import fingerprint


def test_it_is_of_what_data_are_read_from(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "edge.csv").write_text("a,b\n1,2\n")
    first = fingerprint(data)
    (data / "records.jsonl").write_text("{}\n")
    (data / "sweeps").mkdir()
    assert fingerprint(data) == first, "what a sweep writes beside the data is none"
    (data / "dlm.toml").write_text("[keys]\n")
    described = fingerprint(data)
    assert described == fingerprint(data / "dlm.toml") != first
    (data / "edge.csv").write_text("a,b\n1,3\n")
    assert fingerprint(data) not in (first, described)


def test_it_is_of_the_test_examples_too(tmp_path: Path) -> None:
    (tmp_path / "edge.csv").write_text("a,b\n1,2\n")
    test = tmp_path / "test.csv"
    test.write_text("a\n1\n")
    found = fingerprint(tmp_path / "edge.csv", test)
    assert found != fingerprint(tmp_path / "edge.csv")
    test.write_text("a\n2\n")
    assert fingerprint(tmp_path / "edge.csv", test) != found


def test_it_does_not_depend_on_where_data_are(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "edge.csv").write_text("a,b\n1,2\n")
    assert fingerprint(tmp_path / "one") == fingerprint(tmp_path / "two")
