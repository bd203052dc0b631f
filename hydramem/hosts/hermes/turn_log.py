"""Turns of Hermes: whose they are, what is stored of them, and that each is stored once.

A session has a name that tells profiles apart. A turn has a key made of its session, its place in it and its
words: a call that is repeated stores it once, and the same words said twice are two turns. Places go on after
those that the memory has, so that they survive a restart.
"""

import hashlib
import logging
import re
import threading
import unicodedata
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hydramem.core.errors import HydraMemError, InvalidInputError
from hydramem.core.inputs import SaidTurn
from hydramem.ingest.screening.strip_recalled_blocks import spoken_text
from hydramem.text.surrogates import well_formed

log = logging.getLogger(__name__)
_MOST_NAME = 128
_MOST_CHARS = 20_000
_MOST_WAITING = 50
_LAST_ROWS = 60
_ANY_STATE = ("active", "superseded", "archived", "quarantined")

# The frame that Hermes puts around what a provider returned, should it come back in a message.
_HOST_FRAME = re.compile(
    r"<memory-context>\s{0,9}\[System note: The following is recalled memory context.*?"
    r"(?:</memory-context>|\Z)",
    re.IGNORECASE | re.DOTALL,
)


def session_name(session: str, *, profile: str, home: str) -> str:
    """Return the name of a session of Hermes in the memory, of at most 128 characters.

    A name that this function returned is returned as it is.

    Args:
        session: Its id in Hermes.
        profile: The profile of Hermes; empty for the default one.
        home: The home folder of Hermes.
    """
    plain = re.sub(r"[^\w.-]", "-", profile)[:40] or "default"
    prefix = f"hermes:profile-{plain}:home-{_hash(home, 12)}:"
    if session.startswith(prefix):
        return session
    is_plain = not any(unicodedata.category(each) in ("Cc", "Cs") for each in session)
    if is_plain and len(prefix) + len(session) <= _MOST_NAME and session == session.strip() != "":
        return prefix + session
    return prefix + _hash(session, 32)


def said(text: object, *, author: str) -> str:
    """Return what is stored of a text: without recalled blocks and reasoning, and of a bounded length."""
    if not isinstance(text, str):
        return ""
    sound = well_formed(text).replace("\x00", " ")
    kept = spoken_text(_HOST_FRAME.sub("", sound), author=author)
    return kept if len(kept) <= _MOST_CHARS else f"{kept[:_MOST_CHARS]}…"


def _hash(text: str, length: int) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]


Call = Callable[..., Any]
"""Runs an operation of the memory by its name, with its arguments by name."""


@dataclass(slots=True)
class _Exchange:
    """What was said in one turn, each side with its author.

    Attributes:
        turns: The same with keys; empty until the memory has told the place.
    """

    session: str
    sides: tuple[tuple[str, str], ...]
    turns: tuple[SaidTurn, ...] = ()


class TurnLog:
    """Stores turns in their order; safe to use from many threads.

    What cannot be stored now waits in this process, fifty turns at most, and goes before the next turn.

    Attributes:
        captured: Names of the sessions of which turns were stored.
    """

    def __init__(self, call: Call) -> None:
        self._call = call
        self._one = threading.Lock()
        self._places: dict[str, int] = {}
        self._waiting: deque[_Exchange] = deque()
        self.captured: set[str] = set()

    def add(self, session: str, *sides: tuple[str, str]) -> None:
        """Store one turn, and before it those that wait.

        Args:
            session: Name of the session in the memory.
            sides: Author and words of each side; the turn is left out if one of them says nothing.
        """
        if not all(text for _, text in sides):
            return
        with self._one:
            if len(self._waiting) == _MOST_WAITING:
                lost = self._waiting.popleft()
                log.warning("a turn of %s is lost: too many wait to be stored", lost.session)
            self._waiting.append(_Exchange(session, sides))
            self._flush()

    def flush(self) -> bool:
        """Store what waits, and say whether nothing waits any more."""
        with self._one:
            self._flush()
            return not self._waiting

    def _flush(self) -> None:
        while self._waiting:
            each = self._waiting[0]
            try:
                each.turns = each.turns or self._with_keys(each)
                done = self._call("capture", session=each.session, turns=each.turns)
            except InvalidInputError as error:
                log.warning("a turn of %s is not stored: %s", each.session, error)
            except HydraMemError as error:
                log.warning("%d turns wait to be stored: %s", len(self._waiting), error)
                return
            else:
                self.captured |= {each.session} if done.turns else set()
            self._waiting.popleft()

    def _with_keys(self, each: _Exchange) -> tuple[SaidTurn, ...]:
        session = each.session
        place = self._places[session] if session in self._places else self._next_place(session)
        self._places[session] = place + len(each.sides)
        words = _hash("\n".join(text for _, text in each.sides), 16)
        return tuple(
            SaidTurn(author=author, text=text, key=f"{session}:{place}:{words}:{side}")
            for side, (author, text) in enumerate(each.sides)
        )

    def _next_place(self, session: str) -> int:
        rows = self._call("memories", kinds=("turn",), session=session, states=_ANY_STATE, limit=_LAST_ROWS)
        return max((row.position for row in rows), default=-1) + 1
