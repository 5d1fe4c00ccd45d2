"""Texts as vectors without a model, for finding what is near a question."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

DIMS = 512
SIZES = (3, 4, 5)

_FNV_START, _FNV_PRIME = np.uint32(2166136261), np.uint32(16777619)
_NO_LETTERS = re.compile(r"[\W_]+")


class Embedder(Protocol):
    """A text as a unit vector of shape (D,); equal texts give equal vectors, nothing to say gives zeros.

    The arena uses `hashed_ngrams`. A model's embedding can stand here as well; it should keep what
    it has embedded, because a memory asks again for every item at every recall.
    """

    def __call__(self, text: str) -> Vector: ...


@lru_cache(maxsize=4096)
def hashed_ngrams(text: str) -> Vector:
    """`text` by its character n-grams of 3 to 5, hashed into 512 dimensions; read-only.

    Case, punctuation and runs of spaces make no difference. An n-gram that occurs c times adds
    sign * sqrt(c) to its dimension, so that small words do not drown the rest; sign and dimension
    come from a 32-bit FNV-1a hash of its characters ("feature hashing", Weinberger et al. 2009).
    """
    words = _NO_LETTERS.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()
    letters = f" {words} ".encode("utf-32-le", "replace")
    codes = np.frombuffer(letters, dtype="<u4").astype(np.uint32)
    hashes, counts = np.unique(
        np.concatenate([_hashes(codes, n) for n in SIZES]), return_counts=True
    )
    signed = np.where(hashes >> np.uint32(31), -1.0, 1.0) * np.sqrt(counts)
    vector = np.bincount(hashes % DIMS, weights=signed, minlength=DIMS)
    length = float(np.sqrt((vector * vector).sum()))
    unit: Vector = vector / (length or 1.0)
    unit.setflags(write=False)
    return unit


def _hashes(codes: NDArray[np.uint32], n: int) -> NDArray[np.uint32]:
    """One hash for each n-gram of `codes`; none if there are fewer than `n`."""
    count = max(0, len(codes) - n + 1)
    found = np.full(count, _FNV_START ^ np.uint32(n), dtype=np.uint32)
    for k in range(n if count else 0):
        found = (found ^ codes[k : k + count]) * _FNV_PRIME
    return found ^ (found >> np.uint32(15))
