import hashlib
import lzma
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hydramem
from hydramem.text.surrogates import well_formed
from hydramem.text.tokens import count_tokens, split_at
from tests.examples import FEW

any_text = st.text(
    st.one_of(st.sampled_from("a b1'\n👍漢é\u0301\u200d"), st.characters(codec=None)), max_size=200
)


def test_counts_are_those_of_cl100k():
    assert count_tokens("") == 0
    assert count_tokens("hello world") == 2
    assert count_tokens("tiktoken is great!") == 6
    assert count_tokens("お誕生日おめでとう") == 9
    assert count_tokens("<|endoftext|>") > 1, "special tokens are ordinary text"
    assert well_formed("a\ud800b") == "a\ufffdb"
    assert count_tokens("a\ud800b") == count_tokens("a\ufffdb")


def test_the_shipped_vocabulary_is_the_published_one():
    shipped = Path(hydramem.__file__).parent / "data" / "cl100k_base.tiktoken.xz"
    digest = hashlib.sha256(lzma.decompress(shipped.read_bytes())).hexdigest()
    assert digest == "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"


@pytest.mark.slow
@pytest.mark.parametrize("run", ["a", " ", "漢", "\n", "a1", "!", "x" * 511 + " "])
def test_a_megabyte_without_separators_is_counted_quickly(run: str):
    text = run * (1_000_000 // len(run))
    count_tokens("loaded")
    started = time.process_time()
    assert count_tokens(text) > 1000
    assert time.process_time() - started < 3


@FEW
@given(any_text, st.integers(1, 12))
def test_pieces_cover_the_text_and_keep_the_bound(text: str, tokens: int):
    ends = split_at(text, tokens)
    starts = (0, *ends[:-1])
    pieces = [text[start:end] for start, end in zip(starts, ends, strict=False)]
    assert "".join(pieces) == text
    assert all(pieces)
    assert all(count_tokens(piece) <= tokens or len(piece) == 1 for piece in pieces)


def test_words_stay_whole_and_pieces_are_not_needlessly_small():
    text = "incomprehensibilities " * 50
    starts = (0, *split_at(text, 16)[:-1])
    assert all(start == 0 or text[start] == " " for start in starts)
    assert 5 < len(starts) <= count_tokens(text) / 12


@pytest.mark.costly  # a process of its own
def test_many_threads_may_be_the_first_to_count():
    program = (
        "import threading\n"
        "from hydramem.text.tokens import count_tokens\n"
        "found = []\n"
        "threads = [threading.Thread(target=lambda: found.append(count_tokens('a b'))) for _ in '1234']\n"
        "[t.start() for t in threads]; [t.join() for t in threads]\n"
        "assert found == [2] * 4, found\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, env={"TIKTOKEN_CACHE_DIR": "/nonexistent"})


def test_importing_it_does_not_load_tiktoken():
    program = "import sys, hydramem.text.tokens; sys.exit('tiktoken' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)
