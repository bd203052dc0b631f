"""A session as a program holds it: what is said, recalled and remembered in one conversation."""

from typing import TYPE_CHECKING, Any

from hydramem.core.argument_checks import check_name
from hydramem.core.results.hits import Prompt, Recall
from hydramem.core.results.write_results import Captured, Remembered
from hydramem.core.time import When
from hydramem.ingest.memories.sessions import SaidTurn, kept_text

if TYPE_CHECKING:
    from hydramem.memory.conversing import Conversing


class LiveSession:
    """One conversation, as `Memory.session` opens it.

    What is recalled in it is recorded as of use; of a private one, no query is kept, and what is said or
    remembered in it is private.
    """

    def __init__(self, memory: "Conversing", name: str, *, private: bool, project: str) -> None:
        self.name = name
        self._memory = memory
        self._private = private
        self._project = project

    def say(self, text: str, *, author: str = "user", happened_at: When | None = None) -> Captured:
        """Keep what one side said; nothing is stored where it is empty.

        Args:
            text: The words.
            author: Who said them; of an assistant, blocks of reasoning are left out.
            happened_at: When; now where not given.

        Raises:
            InvalidInputError: A field is wrong; nothing is written.
        """
        return self._captured(SaidTurn(author=author, text=text, happened_at=happened_at))

    def turn(self, user: str, assistant: str, *, author: str = "user") -> Captured:
        """Keep a question and its answer; where one is missing it was interrupted, and nothing is stored.

        Args:
            user: What the user said.
            assistant: What the assistant answered.
            author: The user's name.

        Raises:
            InvalidInputError: A field is wrong; nothing is written.
        """
        asked = SaidTurn(author=check_name(author, name="author"), text=user)
        both = asked, SaidTurn(author="assistant", text=assistant)
        settings = self._memory.config.memory
        kept = [kept_text(turn, name=turn.author, settings=settings) for turn in both]
        return self._captured(*both) if all(kept) else Captured(session=self.name, left_out=len(both))

    def recall(self, query: str, **options: Any) -> Recall:
        """Recall, as `Memory.recall`, and record what was found as of use to this session."""
        options.setdefault("project", self._project)
        with self._memory.during(self.name, private=self._private):
            return self._memory.recall(query, **options)

    def prime(self, query: str | None = None, **options: Any) -> Prompt:
        """Return a prompt block, as `Memory.prime`; without a question, what a session should start with."""
        with self._memory.during(self.name, private=self._private):
            return self._memory.prime(query, **options)

    def remember(self, text: str, **options: Any) -> Remembered:
        """Remember, as `Memory.remember`, what was learned in this session."""
        own = {"project": self._project, "session": self.name, "private": self._private}
        return self._memory.remember(text, **{**own, **options})

    def _captured(self, *turns: SaidTurn) -> Captured:
        return self._memory.capture(self.name, turns, private=self._private, project=self._project)
