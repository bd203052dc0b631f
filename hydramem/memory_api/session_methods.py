"""A session as a program holds it: what is said, recalled and remembered in one conversation."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta
from typing import Any, get_args

from hydramem.core.argument_checks import check_choices, check_name
from hydramem.core.results.hits import Prompt, Recall
from hydramem.core.results.write_results import Captured, Remembered
from hydramem.core.row_types import Chunk, ChunkKind
from hydramem.core.time import When, check_interval, now
from hydramem.ingest.memories.sessions import SaidTurn, capture, kept_text
from hydramem.memory_api import handle
from hydramem.memory_api.read_methods import ReadMethods
from hydramem.memory_api.write_methods import WriteMethods
from hydramem.storage.changes import in_one_run
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.text.dates.caller_dates import moment, stretch
from hydramem.verification.verify_stored import WriteVerifier


class LiveSession:
    """One conversation, as `Memory.session` opens it.

    What is recalled in it is recorded as of use; of a private one, no query is kept, and what is said or
    remembered in it is private.
    """

    def __init__(self, memory: "SessionMethods", name: str, *, private: bool, project: str) -> None:
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


class SessionMethods(WriteMethods, ReadMethods):
    """What follows conversations and orders what happened."""

    @contextmanager
    def session(
        self, name: str, *, private: bool = False, project: str | None = None
    ) -> Iterator[LiveSession]:
        """Open a conversation: what this context recalls is recorded as of use to it.

        Nothing is written before something is said, recalled or remembered. A conversation of this name that
        is there already goes on.

        Args:
            name: What it is called.
            private: Keep its turns out of recall that leaves private memories out, and keep no query.
            project: Namespace to write to; the handle's own where not given.

        Raises:
            InvalidInputError: The name is blank, too long or no text.
        """
        live = LiveSession(
            self, check_name(name, name="session"), private=private, project=self._name(project)
        )
        with self.during(live.name, private=private):
            yield live
        self._use().recalls.flush()

    def during(self, session: str | None, *, private: bool = False) -> AbstractContextManager[None]:
        """Have what this context recalls recorded for a session, by name; None has nothing recorded."""
        return self._use().recalls.during(session, private=private)

    @in_one_run()
    def capture(
        self,
        session: str,
        turns: Sequence[SaidTurn],
        *,
        private: bool = False,
        project: str | None = None,
    ) -> Captured:
        """Keep what was said in a conversation, in order: both sides' words, never private reasoning.

        Left out are blocks of recalled memory, an assistant's blocks such as `<think>`, and turns that hold
        nothing else. The same words said twice are two turns.

        Args:
            session: Name of the conversation; its turns go on where they stopped.
            turns: What was said, each with its author: user, assistant, or a name.
            private: Keep the turns out of recall that leaves private memories out.
            project: Namespace to write to; the handle's own where not given.

        Raises:
            InvalidInputError: A field is wrong; nothing is written.
        """
        store = self._use()
        verifier = WriteVerifier(self._judge(project))
        done = capture(
            turns,
            session,
            target=self._target(project, verifier),
            settings=store.config.memory,
            turn_tokens=store.config.ingest.chunk_tokens,
            private=private,
        )
        verifier.read_open("capture", graph=store.graph, mirror=store.mirror)
        return done

    def timeline(
        self,
        start: When | None = None,
        end: When | None = None,
        *,
        type: str | None = None,
        entity: str | None = None,
        kinds: Sequence[ChunkKind] = ("event", "fact", "note"),
        relative_to: When | None = None,
        include_private: bool = True,
        limit: int = 50,
        offset: int = 0,
        project: str | None = None,
    ) -> tuple[Chunk, ...]:
        """List what happened, earliest first: events, and other memories that have a time.

        Args:
            start: From when, as 2024, 2024-05 or 2024-05-31, or in words: March 2024, last week.
            end: Until when; a year, month, week or day counts to its end.
            type: Only events of this type, such as release.
            entity: Only what mentions this name or alias.
            kinds: Kinds to list.
            relative_to: The moment that words such as `last week` are taken from; now where not given.
            include_private: Whether private memories are listed.
            limit: Most rows to return.
            offset: Rows to pass over.
            project: Namespace to read; the handle's own where not given.

        Raises:
            InvalidInputError: A time cannot be read, or it ends before it begins.
            NotFoundError: No entity has that name.
        """
        store, name = self._use(), self._name(project)
        at = now() if relative_to is None else moment(relative_to, name="relative_to")
        first = None if start is None else stretch(start, name="start", at=at)[0]
        last = None if end is None else stretch(end, name="end", at=at)
        # What a filter takes is closed: the last moment of a day, not the first of the next.
        until = last and (last[1] - timedelta(microseconds=1) if last[1] > last[0] else last[1])
        check_interval(first, until, name="start, end")
        where = ChunkFilter(
            projects=(name,),
            kinds=check_choices(kinds, get_args(ChunkKind), name="kinds"),
            include_private=include_private,
            happened_from=first,
            happened_to=until,
        )
        mentioned = None
        if entity is not None:
            snapshot = store.snapshots.of(name)
            mentioned = snapshot.nodes.ids[snapshot.entity_named(entity)]
        return store.graph.list_chunks(
            where,
            handle.page(limit, offset),
            event_type=type,
            mentioning=mentioned,
            by_time=True,
        )
