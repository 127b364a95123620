import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlm.data.json_text import MAX_DIGITS, MAX_NESTING, parse_json_text
from dlm.errors import RunError

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inside: (
        st.lists(inside, max_size=4) | st.dictionaries(st.text("ab[{\"'\\é", max_size=3), inside, max_size=4)
    ),
    max_leaves=20,
)


@given(VALUES, st.booleans())
def test_reads_what_python_writes(value: object, ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    assert parse_json_text(text, "f.json", RunError) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"f\.json:1:1: this is not JSON"),
        ('{\n  "a": }', r"f\.json:2:8: this is not JSON"),
        ("\ufeff{}", r"f\.json:1:1: this is not JSON"),
        ("[" * (MAX_NESTING + 1), rf"f\.json:1:{MAX_NESTING + 1}: more than {MAX_NESTING} lists and objects"),
        ('{"a":\n' * 1_000_000, rf"f\.json:{MAX_NESTING + 1}:1: more than {MAX_NESTING} lists and objects"),
        ('{\n"seed": ' + "1" * 5000 + "}", r"f\.json:2:9: a number of 5000 digits"),
        ("-" + "1" * (MAX_DIGITS + 1), "digits; at most"),
        ('{"a": 1, "b": [], "a": 2}', "an object has the key 'a' twice"),
        ("{" + '"a": 1,' * 100_000 + '"b": 2}', "an object has the key 'a' twice"),
        ('{"seconds": NaN}', r"f\.json:1:13: NaN is not a number"),
        ("[-Infinity]", "-Infinity is not a number"),
        ("[1e999]", "1e999 is not a number"),
        (r'["\ud800"]', "half a character"),
        (r'{"\udfff": 1}', "half a character"),
        ('["\udc80"]', "half a character"),
    ],
)
def test_refuses(text: str, message: str) -> None:
    with pytest.raises(RunError, match=message):
        parse_json_text(text, "f.json", RunError)


def test_brackets_in_texts_are_not_nested() -> None:
    value = ["[" * 1000, '"[{' * 1000, "\\" * 999]
    assert parse_json_text(json.dumps(value), "f.json", RunError) == value
    assert parse_json_text("[" * MAX_NESTING + "]" * MAX_NESTING, "f.json", RunError) is not None
    assert parse_json_text(json.dumps([[]] * 1000), "f.json", RunError) == [[]] * 1000


def test_whole_numbers_that_are_read_can_be_made_floating() -> None:
    value = parse_json_text("9" * MAX_DIGITS, "f.json", RunError)
    assert isinstance(value, int)
    assert float(value) > 1e299
