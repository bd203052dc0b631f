"""What is recalled before a turn, without being asked for: little, and only what bears on the message."""

import re
import threading
from typing import TYPE_CHECKING

from hydramem.core.results.hits import Prompt
from hydramem.hosts.hermes.host_connection import HostConnection

if TYPE_CHECKING:
    from hydramem import Memory

LAYERS = ("working", "shared", "verified")
"""The layers of each project; Hermes puts the curated files into its prompt itself."""

_LIMIT = 5
_CHARS = 2000
_TOKENS = 480
_OPEN_SECONDS = 1.0

# One word of letters that stands alone, such as an answer or an acknowledgement in any alphabet; a few
# letters where a script writes sentences without blanks.
_ONE_WORD = re.compile(r"\W*(?:[^\W\d_]{1,12}|)\W*")
_NO_BLANKS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_FEW_LETTERS = 3


def is_trivial(message: str) -> bool:
    """Say whether no memory could bear on a message: a command, or one word without a number.

    Where Hermes has a rule of its own, that counts too.
    """
    text = message.strip()
    if not text or text.startswith("/"):
        return True
    if _ONE_WORD.fullmatch(text):
        letters = sum(each.isalpha() for each in text)
        return letters <= _FEW_LETTERS or not _NO_BLANKS.search(text)
    try:
        from agent.memory_provider import is_trivial_prompt
    except ImportError:  # hermes-agent 0.19.0 has none
        return False
    return bool(is_trivial_prompt(text))


class PassiveRecall:
    """Recalls for messages; safe to use from many threads."""

    def __init__(self) -> None:
        self._floor: float | None = None
        self._last = threading.local()

    @property
    def count(self) -> int:
        """How many memories the last recall of this thread brought."""
        return getattr(self._last, "count", 0)

    @count.setter
    def count(self, count: int) -> None:
        self._last.count = count

    def floor(self, memory: "Memory") -> float:
        """Return the relevance from which a memory bears on a message, by the settings of the store."""
        if self._floor is None:
            self._floor = memory.config.search.min_relevance
        return self._floor

    def block(self, connection: HostConnection, query: str, session: str, project: str | None) -> Prompt:
        """Return what bears on a message.

        Args:
            query: The message, without markers.
            session: Name of the session in the memory.
            project: The project that the call names; None where it names none.

        Raises:
            HydraMemError: The memory cannot be read, or is not open in time.
        """
        floor = self.floor(connection.memory(_OPEN_SECONDS))
        found: Prompt = connection.call(
            "prime",
            actor="hook",
            seconds=_OPEN_SECONDS,
            recalls_for=session,
            query=query,
            limit=_LIMIT,
            max_tokens=_TOKENS,
            max_chars=_CHARS,
            layers=LAYERS,
            min_relevance=floor,
            session=session,
            project=project,
        )
        return found
