"""Packing and unpacking are inverse, whatever the memory layout."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlm.data.bits import ALL, NONE, pack, pack_last, pack_padded, read_bits, unpack, unpack_last, words_where

COUNTS = st.integers(0, 200)
ARITIES = st.integers(0, 3)


def draw(count: int, arity: int, seed: int, size: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).random((count,) + (size,) * arity) < 0.5


@given(COUNTS, ARITIES, st.integers(0, 100))
def test_packing_and_unpacking_is_the_identity(count: int, arity: int, seed: int) -> None:
    table = draw(count, arity, seed)
    side_by_side = np.moveaxis(np.ascontiguousarray(np.moveaxis(table, 0, -1)), -1, 0)
    for layout in (table, side_by_side, np.concatenate([table, ~table])[:count]):
        words = pack(layout)
        assert words.shape == (3,) * arity + (-(-count // 64),)
        np.testing.assert_array_equal(unpack(words, count), table)
        np.testing.assert_array_equal(unpack_last(words, count), np.moveaxis(table, 0, -1))


@given(st.integers(1, 200), ARITIES, st.integers(0, 100))
def test_padding_bits_are_zero_and_bit_i_is_world_i(count: int, arity: int, seed: int) -> None:
    table = draw(count, arity, seed)
    words = pack(table)
    assert int(np.bitwise_count(words).sum()) == table.sum()
    for world in (0, count // 2, count - 1):
        np.testing.assert_array_equal(words[..., world // 64] >> np.uint64(world % 64) & np.uint64(1), table[world])
    some = np.random.default_rng(seed).integers(0, count, 5)
    np.testing.assert_array_equal(read_bits(words, some), table[some])


@given(st.lists(COUNTS.filter(bool), min_size=1, max_size=3), ARITIES, st.integers(0, 100))
def test_tables_of_several_sizes_are_packed_as_one(counts: list[int], arity: int, seed: int) -> None:
    tables = [draw(count, arity, seed, size) for size, count in enumerate(counts, 1)]
    found = unpack(pack_padded(tables, 4), sum(counts))
    padded = [np.pad(table, [(0, 0)] + [(0, 4 - table.shape[-1])] * arity) for table in tables]
    np.testing.assert_array_equal(found, np.concatenate(padded))


@pytest.mark.parametrize("word", [np.uint8, np.uint16, np.uint32, np.uint64])
@pytest.mark.parametrize("length", [1, 8, 9, 40, 64, 65])
def test_words_of_every_width(word: type[np.unsignedinteger], length: int) -> None:
    table = np.random.default_rng(length).random((3, length)) < 0.5
    words = pack_last(table, word)
    assert words.dtype == word
    bits = np.unpackbits(words.view(np.uint8), axis=-1, bitorder="little")
    np.testing.assert_array_equal(bits[:, :length], table)
    assert not bits[:, length:].any()


def test_one_word_may_stand_for_all_worlds() -> None:
    words = words_where(np.array([True, False]))
    assert words.tolist() == [[ALL], [NONE]]
    assert unpack(words, 130).tolist() == [[True, False]] * 130
