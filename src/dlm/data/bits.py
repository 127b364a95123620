"""The one bit kernel: truth values packed into machine words.

Bit i of a row of words is world i (or state, or object i), so that one bitwise operation serves 64 of them. Packed
tables have an axis for each argument and then the words; the last word is padded with zero bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "ALL",
    "NONE",
    "WORD",
    "BoolArray",
    "Words",
    "pack",
    "pack_last",
    "pack_padded",
    "read_bits",
    "unpack",
    "unpack_last",
    "words_for",
    "words_where",
]

BoolArray = NDArray[np.bool_]
Words = NDArray[np.uint64]
W = TypeVar("W", bound=np.unsignedinteger)

WORD = 64
"""Bits in a word."""
NONE, ALL = np.uint64(0), ~np.uint64(0)


def words_for(count: int) -> int:
    """How many words hold so many bits."""
    return -(-count // WORD)


def pack(table: BoolArray) -> Words:
    """A Boolean table with the worlds along its first axis, as words along the last."""
    return pack_last(_worlds_last(table), np.uint64)


def pack_last(table: BoolArray, word: type[W]) -> NDArray[W]:
    """A Boolean table with its last axis as words of some type."""
    octets = np.packbits(np.ascontiguousarray(table), axis=-1, bitorder="little")  # it is slow along other axes
    length, width = octets.shape[-1], np.dtype(word).itemsize
    if length % width == 0:
        return octets.view(word)
    padded = np.zeros((*octets.shape[:-1], length + -length % width), dtype=np.uint8)
    padded[..., :length] = octets
    return padded.view(word)


def pack_padded(tables: Sequence[BoolArray], size: int) -> Words:
    """`pack` of several tables as one, with objects that are not there, up to `size`."""
    count = sum(map(len, tables))
    dense = np.zeros((size,) * (tables[0].ndim - 1) + (words_for(count) * WORD,), dtype=np.bool_)
    begin = 0
    for table in tables:
        dense[(*map(slice, table.shape[1:]), slice(begin, begin + len(table)))] = _worlds_last(table)
        begin += len(table)
    return pack_last(dense, np.uint64)


def _worlds_last(table: BoolArray) -> BoolArray:
    return table.transpose(*range(1, table.ndim), 0)


def unpack(words: Words, count: int) -> BoolArray:
    """The Boolean table behind words, with `count` worlds along its first axis; one word may stand for all."""
    return np.moveaxis(unpack_last(words, count), -1, 0)


def unpack_last(words: Words, count: int) -> BoolArray:
    """The Boolean table behind words, with `count` worlds along its last axis; one word may stand for all."""
    if words.shape[-1] != words_for(count):
        words = np.broadcast_to(words, (*words.shape[:-1], words_for(count)))
    octets = np.ascontiguousarray(words).view(np.uint8)
    return np.unpackbits(octets, axis=-1, count=count, bitorder="little").view(np.bool_)


def read_bits(words: Words, worlds: NDArray[np.intp]) -> BoolArray:
    """The Boolean table of some worlds, which come along its first axis."""
    bits = words[..., worlds // WORD] >> (worlds % WORD).astype(np.uint64)
    return np.moveaxis(bits & np.uint64(1), -1, 0).astype(np.bool_)


def words_where(table: BoolArray) -> Words:
    """One word for each truth value, that of all worlds."""
    return np.where(table, ALL, NONE)[..., None]
