"""Token counts in cl100k, the unit of every budget here, and cuts of a text at token boundaries.

The vocabulary ships with the package and the encoding is built from it directly, so counting never
reaches for the network, a cache folder or an environment variable.
"""

import lzma
import re
from binascii import a2b_base64
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hydramem.text.surrogates import well_formed

if TYPE_CHECKING:
    from tiktoken import Encoding

_VOCABULARY = Path(__file__).parent.parent / "data" / "cl100k_base.tiktoken.xz"
_PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)

# Merging a run of n characters costs more than n steps; no word of any language is this long, so runs
# are cut here, and every other text is counted exactly as tiktoken counts it.
_RUN = 512
_LONG_RUN = re.compile(rf"(?<!\S)\S{{{_RUN + 1},}}|(?<!\s)\s{{{_RUN + 1},}}")


def count_tokens(text: str) -> int:
    """Count the tokens of a text; special tokens such as `<|endoftext|>` in it are ordinary text."""
    encode = _encoding().encode_ordinary
    return sum(len(encode(part)) for part in _parts(well_formed(text)))


def split_at(text: str, tokens: int) -> tuple[int, ...]:
    """Cut a text into consecutive pieces of at most so many tokens.

    A cut falls before white space where the second half of a piece has any, and never inside a
    character. A single character may have more tokens than asked for, and is then a piece of its own.

    Args:
        text: Any text; an empty one has no piece.
        tokens: Most tokens of a piece, from 1.

    Returns:
        The end of each piece as a character offset, ascending; the last is `len(text)`.

    Raises:
        ValueError: `tokens` is less than 1.
    """
    if tokens < 1:
        raise ValueError(f"tokens: {tokens} is less than 1")
    sound = well_formed(text)
    boundaries = token_ends(sound)
    ends: list[int] = []
    start = 0
    while start < len(sound):
        start = _piece_end(sound, start, tokens, boundaries)
        ends.append(start)
    return tuple(ends)


def token_ends(text: str) -> NDArray[np.int64]:
    """Return where each token of a text ends, as ascending character offsets, one a token.

    A token that ends inside a character ends before it.
    """
    text = well_formed(text)
    encoding = _encoding()
    ids = [token for part in _parts(text) for token in encoding.encode_ordinary(part)]
    lengths = [len(piece) for piece in encoding.decode_tokens_bytes(ids)]
    ends: NDArray[np.int64] = np.cumsum(lengths, dtype=np.int64)
    data = np.frombuffer(text.encode("utf-8"), dtype=np.uint8)
    begins = (data & 0xC0) != 0x80
    # Characters begun before each byte, and one more for the end of the text.
    begun: NDArray[np.int64] = np.concatenate(([0], np.cumsum(begins)))
    inside = np.concatenate((~begins, [False]))
    boundaries: NDArray[np.int64] = begun[ends] - inside[ends]
    return boundaries


def _piece_end(text: str, start: int, tokens: int, boundaries: NDArray[np.int64]) -> int:
    allowed = tokens
    while True:
        first = int(np.searchsorted(boundaries, start, side="right"))
        end = int(boundaries[min(first + allowed - 1, len(boundaries) - 1)])
        end = _before_space(text, start, max(end, start + 1))
        # A piece that begins inside a token or a run can have more tokens than it had in the whole.
        excess = count_tokens(text[start:end]) - tokens
        if excess <= 0 or end == start + 1:
            return end
        if allowed == 1:
            return start + 1
        allowed = max(1, allowed - excess)


def _before_space(text: str, start: int, end: int) -> int:
    if end == len(text):
        return end
    for cut in range(end, (start + end) // 2, -1):
        if text[cut].isspace() and not text[cut - 1].isspace():
            return cut
    return end


def _parts(text: str) -> Iterator[str]:
    """Yield the text in parts that have no long run of letters or of white space."""
    cuts = [0]
    if len(text) > _RUN:
        for run in _LONG_RUN.finditer(text):
            cuts.extend(range(run.start() + _RUN, run.end(), _RUN))
    cuts.append(len(text))
    return (text[start:end] for start, end in pairwise(cuts))


@cache
def _encoding() -> "Encoding":
    from tiktoken import Encoding

    fields = lzma.decompress(_VOCABULARY.read_bytes()).split()
    ranks = dict(zip(map(a2b_base64, fields[::2]), map(int, fields[1::2]), strict=True))
    encoding = Encoding("cl100k_base", pat_str=_PATTERN, mergeable_ranks=ranks, special_tokens={})
    # It has compiled them, and keeps 100,000 pieces of text besides: 13 MB.
    encoding._mergeable_ranks = {}
    return encoding
