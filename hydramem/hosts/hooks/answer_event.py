"""The flow of a hook: read the event, inject or capture, and keep what the next event needs.

What connects to the memory is imported where it is used: turns that come once are kept before that.
"""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hydramem.core.settings.environment import PROJECT_VARIABLE, config_file
from hydramem.core.settings.hooks_config import HooksConfig, load_hooks
from hydramem.hosts.hooks.deadline import Deadline
from hydramem.hosts.hooks.host_events import WITH_TRANSCRIPT, HookEvent, read_event
from hydramem.hosts.hooks.project_name import DEFAULT, project_of
from hydramem.hosts.hooks.said_text import asks_something
from hydramem.hosts.hooks.session_states import SessionState, SessionStates
from hydramem.hosts.hooks.waiting_turns import keep
from hydramem.storage.files.read_only import is_read_only, read_only_error

if TYPE_CHECKING:
    from hydramem import Memory
    from hydramem.hosts.hooks.capture_turns import TurnCapture

MOST_CHARACTERS = 2_000
"""Of an answer, whatever the settings say: hosts cut or refuse longer ones."""

KEPT = '{"kept": true}'
"""The answer to the plugin of OpenCode once turns are safe; it tells the others again, as a hook that ran out
of time has the exit code 0 too."""

_KEEPS_CONTEXT = ("resume", "fork")
"""Why a session starts whose earlier context the model still has."""

_OTHER_SESSIONS = 6
"""Other sessions that are looked at, as one starts, for turns that no event came for."""

_SECONDS_UNTIL_LEFT = 1_800.0
"""A session whose transcript has not grown for so long counts as left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HookPlace:
    """Where a hook finds the memory.

    Attributes:
        store: The store's folder.
        config: A file of settings; None takes the one in the store.
        project: The project of all folders; None takes `$HYDRAMEM_PROJECT`, else that of each folder.
    """

    store: Path
    config: Path | None = None
    project: str | None = None


def answer_event(
    raw: bytes, host: str, place: HookPlace, deadline: Deadline, write: Callable[[str], None]
) -> None:
    """Do what an event asks for.

    Args:
        raw: What the host wrote to standard input.
        host: Its name.
        place: Where the memory is.
        deadline: When it must be done.
        write: Writes the answer, at most once; the flow may go on after it.

    Raises:
        HydraMemError: The event, the settings or the memory cannot be used.
        OSError: A file cannot be read or written.
    """
    event = read_event(host, raw)
    if event is None:
        return
    settings = load_hooks(config_file(place.store, place.config))
    is_on: bool = getattr(settings, event.kind)
    if not is_on:
        return
    if is_read_only(place.store):
        raise read_only_error(place.store)
    project = project_of(event.folder, place.project or os.environ.get(PROJECT_VARIABLE))
    run = _HookRun(event, settings, place, project, deadline)
    match event.kind:
        case "session_start":
            run.start_session(write)
        case "prompt":
            run.answer_prompt(write)
        case _:
            run.capture(write)


class _HookRun:
    """One event on its way."""

    def __init__(
        self, event: HookEvent, settings: HooksConfig, place: HookPlace, project: str, deadline: Deadline
    ) -> None:
        self._event = event
        self._settings = settings
        self._place = place
        self._deadline = deadline
        self._states = SessionStates(place.store)
        self._state = self._states.load(event.host, event.session_id, project=project)
        self._most = min(settings.max_chars, MOST_CHARACTERS)

    def start_session(self, write: Callable[[str], None]) -> None:
        """Show what the session's project has, and capture what other sessions have left."""
        from hydramem.hosts.hooks.recalled_blocks import answer_of, opening_block

        event = self._event
        if event.source not in _KEEPS_CONTEXT:
            self._states.forget_shown(event.host, event.session_id)
            self._state = replace(self._state, is_primed=False)
        self._note_transcript()
        self._states.save(self._state)
        with self._connected() as memory:
            if not self._state.is_primed:
                blocks = [opening_block(memory, event, project=self._state.project, most=self._most)]
                answer = answer_of(event, blocks, most=self._most)
                self._show(answer.shown, write, answer.text)
            self._capture_left(self._capture(memory))
        self._states.tidy()

    def answer_prompt(self, write: Callable[[str], None]) -> None:
        """Show the memories that bear on a prompt and that the session was not shown before."""
        event = self._event
        if not asks_something(event.prompt) or self._most <= 0:
            return
        from hydramem.hosts.hooks.recalled_blocks import answer_of, opening_block, prompt_block, without

        shown = self._states.shown(event.host, event.session_id)
        with self._connected() as memory:
            found = prompt_block(
                memory,
                event,
                project=self._state.project,
                shown=shown,
                min_relevance=self._settings.min_relevance,
                most=self._most,
            )
            blocks = [found]
            if not self._state.is_primed and self._settings.session_start:
                # The owner was not there yet as the session started.
                left = self._most - len(answer_of(event, [found], most=self._most).text)
                opening = opening_block(memory, event, project=self._state.project, most=left)
                blocks.append(without(opening, {*shown, *(one.id for one in found.snippets)}))
            answer = answer_of(event, blocks, most=self._most)
            self._show(answer.shown, write, answer.text)

    def capture(self, write: Callable[[str], None]) -> None:
        """Capture what was said since the last event."""
        event = self._event
        if event.turns:
            keep(self._place.store, project=self._state.project, session=event.session, turns=event.turns)
        if event.host == "opencode":
            write(KEPT)
        self._note_transcript()
        with self._connected() as memory:
            work = self._capture(memory)
            work.waiting_turns()
            if self._state.transcript:
                self._state = work.transcript(self._state)
                self._state = work.last_message(self._state, event.last_message)
            if event.kind != "stop" and work.has_time():
                work.end(self._state, distill=self._settings.distill)

    def _connected(self) -> "Memory":
        """Connect to the owner of the store; where there is none, one is started."""
        from hydramem.sharing.connect import connect

        return connect(self._place.store, project=DEFAULT, config=self._place.config, background=True)

    def _capture(self, memory: "Memory") -> "TurnCapture":
        from hydramem.hosts.hooks.capture_turns import TurnCapture

        return TurnCapture(memory, self._states, self._place.store, self._deadline)

    def _note_transcript(self) -> None:
        event = self._event
        if event.host in WITH_TRANSCRIPT and event.transcript is not None:
            self._state = replace(self._state, transcript=str(event.transcript))

    def _show(self, ids: tuple[str, ...], write: Callable[[str], None], text: str) -> None:
        """Note what is shown, then show it: a hook that ends in between shows nothing twice."""
        event = self._event
        if ids:
            self._states.add_shown(event.host, event.session_id, ids)
        if not self._state.is_primed:
            self._state = replace(self._state, is_primed=True)
            self._states.save(self._state)
        if text:
            write(text)

    def _capture_left(self, work: "TurnCapture") -> None:
        """Capture what waits, and turns of sessions that were ended without an event."""
        work.waiting_turns()
        for state in self._states.latest(_OTHER_SESSIONS + 1):
            if state.session_id != self._event.session_id and work.has_time():
                with suppress(OSError):  # its transcript was deleted
                    self._finish(work, state)

    def _finish(self, work: "TurnCapture", state: SessionState) -> None:
        changed = Path(state.transcript).stat() if state.transcript else None
        if changed is None or state.is_ended:
            return
        if changed.st_size > state.offset:
            state = work.transcript(state)
        if time.time() - changed.st_mtime > _SECONDS_UNTIL_LEFT:
            work.end(state, distill=self._settings.distill)
