"""Operations on sessions and on time: a live session, captured turns, and the timeline."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, get_args

from hydramem.core.argument_checks import check_choices, check_name
from hydramem.core.inputs import SaidTurn
from hydramem.core.results.hits import Prompt, Recall
from hydramem.core.results.write_results import Captured, Distilled, Remembered
from hydramem.core.row_types import Chunk, ChunkKind
from hydramem.core.time import When, check_interval, clock
from hydramem.ingest.pending_jobs import DISTILL
from hydramem.memory_api import arguments
from hydramem.memory_api.methods.read_methods import ReadMethods
from hydramem.memory_api.methods.write_methods import WriteMethods
from hydramem.memory_api.write_operation import write_operation
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.jobs import job
from hydramem.storage.write import Write
from hydramem.storage.writing.answers import answered
from hydramem.text.dates.caller_dates import moment, moment_or_none, stretch


class LiveSession:
    """One conversation, as `Memory.session` opens it.

    Its recalls are recorded as useful to it. In a private session no query is kept, and turns and memories
    are private.

    Attributes:
        name: Its name.
        captured: Whether turns were stored.
    """

    def __init__(self, memory: "SessionMethods", name: str, *, private: bool, project: str) -> None:
        self.name = name
        self._memory = memory
        self._private = private
        self._project = project
        self.captured = False

    def say(self, text: str, *, author: str = "user", happened_at: When | None = None) -> Captured:
        """Store what one side said; an empty text stores nothing.

        Args:
            text: The words.
            author: Who said them; the reasoning blocks of an assistant are left out.
            happened_at: When they were said; now by default.

        Raises:
            InvalidInputError: A field is wrong; nothing is written.
        """
        return self._capture(SaidTurn(author=author, text=text, happened_at=happened_at))

    def turn(self, user: str, assistant: str, *, author: str = "user") -> Captured:
        """Store a question and its answer; if one is empty, the exchange was interrupted and none is stored.

        Args:
            user: What the user said.
            assistant: What the assistant answered.
            author: The user's name.

        Raises:
            InvalidInputError: A field is wrong; nothing is written.
        """
        from hydramem.ingest.memories.sessions import kept_text

        turns = (
            SaidTurn(author=check_name(author, name="author"), text=user),
            SaidTurn(author="assistant", text=assistant),
        )
        settings = self._memory.config.memory
        kept = [kept_text(turn, name=turn.author, settings=settings) for turn in turns]
        return self._capture(*turns) if all(kept) else Captured(session=self.name, left_out=len(turns))

    def recall(self, query: str, **options: Any) -> Recall:
        """Recall as `Memory.recall`, and record the hits as useful to this session."""
        options.setdefault("project", self._project)
        with self._memory.during(self.name, private=self._private):
            return self._memory.recall(query, **options)

    def prime(self, query: str | None = None, **options: Any) -> Prompt:
        """Return a prompt block, as `Memory.prime`; without a question, the start of a session."""
        with self._memory.during(self.name, private=self._private):
            return self._memory.prime(query, **options)

    def remember(self, text: str, **options: Any) -> Remembered:
        """Remember, as `Memory.remember`, with this session as its source."""
        own = {"project": self._project, "session": self.name, "private": self._private}
        return self._memory.remember(text, **{**own, **options})

    def _capture(self, *turns: SaidTurn) -> Captured:
        done = self._memory.capture(self.name, turns, private=self._private, project=self._project)
        self.captured |= bool(done.turns)
        return done


class SessionMethods(WriteMethods, ReadMethods):
    """Follows conversations and lists what happened."""

    @contextmanager
    def session(
        self, name: str, *, private: bool = False, project: str | None = None
    ) -> Iterator[LiveSession]:
        """Open a session: recalls in this context are recorded as useful to it.

        Nothing is written before a turn, a recall or a memory. A session of this name continues. At its end a
        pending job distills its turns where a model is configured, as `distill` does.

        Args:
            name: Name of the session.
            private: Keep its turns out of reads that exclude private memories, and keep no query.
            project: Project to write to; this handle's own by default.

        Raises:
            InvalidInputError: The name is blank, too long or not text.
        """

        live = LiveSession(
            self, check_name(name, name="session"), private=private, project=self._name(project)
        )
        with self.during(live.name, private=private):
            yield live
        end_session(self, live.name, captured=live.captured, project=project)

    def during(self, session: str | None, *, private: bool = False) -> AbstractContextManager[None]:
        """Record the recalls in this context for a session, by name; None records nothing."""
        return self._use().recalls.during(session, private=private)

    @write_operation
    def capture(
        self, session: str, turns: Sequence[SaidTurn], *, private: bool = False, project: str | None = None
    ) -> Captured:
        """Store the turns of a conversation in order: both sides' words, never private reasoning.

        The session is a log; `distill` and the gardener make memories of it with a model, and an agent can
        without one. Blocks of recalled memory, an assistant's blocks such as `<think>`, and turns with
        nothing else are left out. The same words said twice are two turns, and a turn with a `key` is stored
        once. The model of `llm.roles.extract`, where there is one, adds to the names and relations that rules
        find.

        Args:
            session: Name of the conversation; its turns continue after the last one.
            turns: What was said, each with its author: user, assistant, or a name.
            private: Keep the turns out of reads that exclude private memories.
            project: Project to write to; this handle's own by default.

        Raises:
            InvalidInputError: A field is wrong; nothing is written.
        """
        from hydramem.ingest.memories.sessions import capture
        from hydramem.verification.verify_stored import WriteVerifier

        store = self._use()
        verifier = WriteVerifier(self._judge(project))
        done = capture(
            turns,
            session,
            target=self._target(project, verifier),
            settings=store.config.memory,
            turn_tokens=store.config.ingest.chunk_tokens,
            private=private,
            models=self._models(),
        )
        if done.turns and (note := self._log_note()) is not None:
            done = replace(done, notes=(*done.notes, note))
        answered(done)
        decisions = verifier.read_open("capture", graph=store.graph, mirror=store.mirror)
        return replace(done, usage=done.usage + decisions.usage)

    @write_operation
    def distill(self, session: str, *, project: str | None = None) -> Distilled:
        """Make memories of what was said in a session: a model finds facts, each with turns that state it.

        Each fact is remembered as `remember` does, so it can repeat, end or extend older memories. It names
        its turns and a quote from them; a fact whose quote they lack is dropped. Turns are read once: a
        second call reads new turns only. Without a model nothing is done, and `notes` says so. The gardener
        does the same at night for every session.

        Args:
            session: Name of the conversation.
            project: Project of the session; this handle's own by default.

        Raises:
            NotFoundError: No session has this name.
            ModelError: The model failed before it had read any turn.
        """
        from hydramem.ingest.memories.distill.distill import NO_MODEL, distill
        from hydramem.verification.verify_stored import WriteVerifier

        name, store = check_name(session, name="session"), self._use()
        verifier = WriteVerifier(self._judge(project))
        work = self._distillation(self._target(project, verifier))
        if work is None:
            return Distilled(session=name, notes=(self._log_note() or NO_MODEL,))
        done = distill(name, work)
        decisions = verifier.read_open("distill", graph=store.graph, mirror=store.mirror)
        return replace(done, usage=done.usage + decisions.usage)

    def timeline(
        self,
        start: When | None = None,
        end: When | None = None,
        *,
        type: str | None = None,
        entity: str | None = None,
        kinds: Sequence[ChunkKind] = ("event", "fact", "note"),
        relative_to: When | None = None,
        as_of: When | None = None,
        known_at: When | None = None,
        include_private: bool = True,
        limit: int = 50,
        offset: int = 0,
        project: str | None = None,
    ) -> tuple[Chunk, ...]:
        """List what happened, earliest first: events, and other memories that have a time.

        Args:
            start: From when, such as 2024, 2024-05 or 2024-05-31, or in words: March 2024, last week.
            end: Until when; a year, month, week or day counts to its end.
            type: Only events of this type, such as release.
            entity: Only memories that mention this name or alias.
            kinds: Only memories of these kinds.
            relative_to: The time from which words such as `last week` count; now by default.
            as_of: Only what was true in the world at this time; at any by default.
            known_at: List what the store believed at this time; now by default.
            include_private: Whether to list private memories.
            limit: Most rows to return.
            offset: Rows to skip.
            project: Project to read; this handle's own by default.

        Raises:
            InvalidInputError: A time cannot be read, or it ends before it begins.
            NotFoundError: No entity has this name.
        """
        store, name = self._use(), self._name(project)
        first, last = _interval(start, end, relative_to)
        where = ChunkFilter(
            projects=(name,),
            kinds=check_choices(kinds, get_args(ChunkKind), name="kinds"),
            include_private=include_private,
            states=arguments.states(as_of, known_at),
            happened_from=first,
            happened_to=last,
            at=moment_or_none(as_of, "as_of"),
            known_at=moment_or_none(known_at, "known_at"),
        )
        mentioned = None
        if entity is not None:
            snapshot = store.snapshots.of(name)
            mentioned = snapshot.nodes.ids[snapshot.entity_named(entity)]
        page = arguments.page(limit, offset)
        return store.graph.list_chunks(where, page, event_type=type, mentioning=mentioned, by_time=True)


def _interval(
    start: When | None, end: When | None, relative_to: When | None
) -> tuple[datetime | None, datetime | None]:
    """Return the first and the last moment of a stretch of time, which both belong to it."""
    at = clock() if relative_to is None else moment(relative_to, name="relative_to")
    first = None if start is None else stretch(start, name="start", at=at)[0]
    last = None
    if end is not None:
        begins, last = stretch(end, name="end", at=at)
        if last > begins:
            last -= timedelta(microseconds=1)  # the last moment of a day, not the first of the next one
    check_interval(first, last, name="start, end")
    return first, last


def end_session(memory: SessionMethods, session: str, *, captured: bool, project: str | None = None) -> None:
    """Record what a session recalled, and have a job distill its turns where a model is configured."""
    store = memory._use()
    store.recalls.flush()
    if captured and memory._log_note() is None:
        ended = job(DISTILL, project=memory._name(project), session=session)
        store.mirror.commit(Write(changes=(), jobs=(ended,)))
