"""Turns whose words a memory of the same session kept: at recall the memory stands for them. Pure.

Who remembers something in a session, or distils it, leaves it there twice: in the turn that said it, and as a
memory. Both of one session, few words show that. In the sessions of three authors, one of whom nobody had
read, each of 100 memories had half of its words in the turn that it came from, and of 3,332 other turns
eight had, all of which repeated it. What else a turn says must not go with it: so a turn stays that says
much more, or has a word of the query that the memory lacks.
"""

from collections.abc import Set as AbstractSet

from hydramem.core.row_types import Chunk
from hydramem.text.search_terms import words
from hydramem.text.stated_numbers import number_difference, stated_numbers

_LEAST_SHARE = 0.5
"""Share of a memory's words of content that its turn has."""

_LEAST_SHARE_OF_TURN = 1 / 3
"""Share of a turn's words of content that the memory has: what is more is talk beside it."""

_LEAST_SHARED = 3
"""Words of content that both have."""


def keeps(memory: Chunk, turn: Chunk, asked: AbstractSet[str] = frozenset()) -> bool:
    """Say whether a memory kept what a turn of its session said.

    A turn that states another number, or that asks, stays for itself.

    Args:
        memory: What was remembered, or distilled.
        turn: What was said.
        asked: Stems of the words of content of the query, as `words` returns them.
    """
    if memory.session is None or (memory.project, memory.session) != (turn.project, turn.session):
        return False
    kept, said = set(words(memory.text)), set(words(turn.text))
    shared = len(kept & said)
    enough = max(_LEAST_SHARED, _LEAST_SHARE * len(kept), _LEAST_SHARE_OF_TURN * len(said))
    if shared < enough or "?" in turn.text or (said & asked) - kept:
        return False
    numbers = number_difference(stated_numbers(memory.text), stated_numbers(turn.text))
    return not (numbers.disagree or (numbers.first and numbers.second))
