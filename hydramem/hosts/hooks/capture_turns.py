"""Hand the turns of a session to the memory: what is new in its transcript, and what waits.

The id that a turn has at its host is its key, and the memory stores each key once. So an event can come
twice, two events can overlap, and a hook can be ended at any moment: what was not noted as captured is read
and handed on again.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydramem.core.errors import InvalidInputError
from hydramem.core.inputs import SaidTurn
from hydramem.hosts.hooks.deadline import Deadline
from hydramem.hosts.hooks.session_states import SessionState, SessionStates, text_hash
from hydramem.hosts.hooks.transcripts import read_stretch
from hydramem.hosts.hooks.trouble_log import note_trouble
from hydramem.hosts.hooks.turn_values import said_turn
from hydramem.hosts.hooks.waiting_turns import waiting
from hydramem.sharing.connect import call, end_session

if TYPE_CHECKING:
    from hydramem import Memory

ACTOR = "hook"
_LEAST_SECONDS = 0.2
"""Nothing new is begun when less is left."""

_LOOKS = 3
_SECONDS_BETWEEN_LOOKS = 0.05
"""A host may write the last message to its transcript a moment after it calls the hook."""


class TurnCapture:
    """Captures turns within a deadline.

    Args:
        memory: What `connect` returned.
        states: What is known of sessions.
        store: The store's folder.
        deadline: When it must be done; what is left then is for the next event.
    """

    def __init__(self, memory: "Memory", states: SessionStates, store: Path, deadline: Deadline) -> None:
        self._memory = memory
        self._states = states
        self._store = store
        self._deadline = deadline

    def has_time(self) -> bool:
        """Whether there is time to begin something."""
        return self._deadline.left() > _LEAST_SECONDS

    def waiting_turns(self) -> None:
        """Hand on the turns that wait, of any session.

        Raises:
            HydraMemError: The memory does not take them; they wait on.
        """
        for found in waiting(self._store):
            if not self.has_time():
                return
            self._store_turns(found.project, found.session, found.turns)
            found.remove()

    def transcript(self, state: SessionState) -> SessionState:
        """Capture what a transcript holds beyond what is captured; return the state after it.

        Raises:
            OSError: The transcript or the state cannot be read or written.
            HydraMemError: The memory does not take a turn.
        """
        path = Path(state.transcript)
        while self.has_time():
            stretch = read_stretch(path, state.host, state.session_id, start=state.offset)
            if stretch.end == state.offset:
                break
            state, turns = _known_by_their_keys(state, stretch.turns)
            self._store_turns(state.project, state.session, turns)
            state = replace(state, offset=stretch.end, is_ended=state.is_ended and not turns)
            self._states.save(state)
        return state

    def last_message(self, state: SessionState, text: str) -> SessionState:
        """Capture what the assistant said last, where its transcript does not hold that yet.

        When the transcript does, its turn gets the same key.

        Raises:
            OSError, HydraMemError: As `transcript`.
        """
        turn = said_turn("assistant", text, key="last", at="")
        if turn is None:
            return state
        hashed = text_hash(turn.text)
        for look in range(_LOOKS):
            if hashed in state.said or not self.has_time():
                return state
            if look:
                time.sleep(_SECONDS_BETWEEN_LOOKS)
            state = self.transcript(state)
        if hashed in state.said:
            return state
        key = f"last:{state.offset}:{hashed}"
        state = replace(state, early=hashed, early_key=key)
        self._states.save(state)
        self._store_turns(state.project, state.session, (replace(turn, key=key),))
        state = state.with_said(turn.text)
        self._states.save(state)
        return state

    def end(self, state: SessionState, *, distill: bool) -> None:
        """Note the end of a session, and have it distilled where a model is configured.

        Raises:
            OSError, HydraMemError: As `transcript`.
        """
        if distill:
            end_session(self._memory, state.session, project=state.project)
        self._states.save(replace(state, is_ended=True))

    def _store_turns(self, project: str, session: str, turns: Sequence[SaidTurn]) -> None:
        """Store turns; one that the memory refuses is left out and noted."""
        if not turns:
            return
        arguments = {"session": session, "turns": tuple(turns), "project": project}
        try:
            call(self._memory, "capture", arguments, actor=ACTOR, returns=Any)
        except InvalidInputError as error:
            if len(turns) == 1:
                note_trouble(self._store, session.partition(":")[0], error, during="capture")
                return
            for turn in turns:
                self._store_turns(project, session, (turn,))


def _known_by_their_keys(
    state: SessionState, turns: Sequence[SaidTurn]
) -> tuple[SessionState, tuple[SaidTurn, ...]]:
    """Give a turn that was captured before the transcript held it the key that it has."""
    found: list[SaidTurn] = []
    for turn in turns:
        if turn.author == "assistant":
            if state.early and text_hash(turn.text) == state.early:
                turn = replace(turn, key=state.early_key)
                state = replace(state, early="", early_key="")
            state = state.with_said(turn.text)
        found.append(turn)
    return state, tuple(found)
