"""Many events of all hosts, replayed beside one owner: none fails, no turn is lost or doubled."""

import json
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import hydramem
from hydramem.hosts.hooks.answer_event import HookPlace
from hydramem.hosts.hooks.deadline import Deadline
from hydramem.hosts.hooks.hook_program import HookWords, answer
from hydramem.hosts.hooks.waiting_turns import waiting
from tests.faults.results import rounds
from tests.hosts.hooks.conftest import troubles
from tests.hosts.hooks.events import BLOCK, add_lines, claude_answer, claude_line, codex_line, event
from tests.sharing.background_owners import no_owner_left, owner_processes

EVENTS = rounds(300, full=10_000)
HOSTS = ("claude-code", "codex", "gemini", "opencode")
TOPICS = ("crane", "ferry", "invoice", "parser", "harbour", "billing", "deploy", "index")


@dataclass
class Session:
    """A session of a host that is under way, and what was said in it."""

    host: str
    id: str
    path: Path
    draw: random.Random
    said: list[str] = field(default_factory=list)
    lately: list[dict[str, object]] = field(default_factory=list)

    def events(self) -> Iterator[tuple[str, bytes]]:
        """Yield events as the host sends them, some twice, some missing, some broken."""
        begin, ask, stop, compact, end = {
            "claude-code": ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"),
            "codex": ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"),
            "gemini": ("SessionStart", "BeforeAgent", "AfterAgent", "PreCompress", "SessionEnd"),
            "opencode": (
                "session.created",
                "chat.message",
                "session.idle",
                "session.compacting",
                "session.deleted",
            ),
        }[self.host]
        yield self.event(begin, source="startup")
        for turn in range(self.draw.randint(2, 9)):
            topic = self.draw.choice(TOPICS)
            asked, told = f"What of {topic} {self.id} {turn}?", f"The {topic} {self.id} has {turn} parts."
            yield self.event(ask, prompt=asked)
            self.write(asked, told)
            stopped = self.event(stop, **self.told(asked, told, turn))
            yield from [stopped] * self.draw.choice((1, 1, 2))
            if self.draw.random() < 0.1:
                yield self.event(compact, trigger="auto")
            if self.draw.random() < 0.1:
                yield self.host, stopped[1][: self.draw.randrange(len(stopped[1]))]
        if self.draw.random() < 0.7:
            yield self.event(end, reason="exit")

    def event(self, name: str, **fields: object) -> tuple[str, bytes]:
        own = {"session_id": self.id, "transcript_path": str(self.path)}
        return self.host, event(self.host, name, **{**own, **fields})

    def write(self, asked: str, told: str) -> None:
        self.said += [asked, told]
        if self.host == "claude-code":
            injected = f"UserPromptSubmit hook additional context: {BLOCK}\n{asked}"
            lines = [claude_line("user", injected, sessionId=self.id), claude_answer(told, sessionId=self.id)]
            add_lines(self.path, lines)
        if self.host == "codex":
            add_lines(self.path, [codex_line("developer", BLOCK), codex_line("user", asked)])
            add_lines(self.path, [codex_line("assistant", told)])

    def told(self, asked: str, told: str, turn: int) -> dict[str, object]:
        if self.host == "gemini":
            at = f"2026-11-22T08:26:{turn:02d}.000Z"
            wrapped = f"<hook_context>{BLOCK}</hook_context>\n\n{asked}"
            return {"prompt": wrapped, "prompt_response": told, "timestamp": at}
        if self.host == "opencode":
            self.lately += [
                {"id": f"{turn}-{role}", "role": role, "text": text, "at": "2026-11-22T08:26:33Z"}
                for role, text in (("user", asked), ("assistant", told))
            ]
            return {"messages": self.lately[-6:]}
        return {"last_assistant_message": told}


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_events_of_all_hosts_at_once_fail_nothing_and_leave_nothing(
    free_place: HookPlace, tmp_path: Path
) -> None:
    draw, sessions, failed = random.Random(5), list[Session](), list[str]()
    words = {"--store": str(free_place.store)}

    def replay(one: Session) -> int:
        events = list(one.events())
        for host, raw in events:
            written: list[str] = []
            answer(raw, HookWords(host=host, options=words), Deadline(30.0), written.append)
            if len(written) > 1 or any(len(text) > 2000 or not json.loads(text) for text in written):
                failed.extend(written)
        return len(events)

    with no_owner_left(free_place.store) as folder, hydramem.connect(folder, background=True) as memory:
        for topic in TOPICS:
            memory.remember(f"The {topic} is in the care of Ada.", project="shop")
        answered = 0
        with ThreadPoolExecutor(4) as pool:
            while answered < EVENTS:
                numbers = range(len(sessions), len(sessions) + 20)
                sessions += (pack := [a_session(draw, tmp_path, number) for number in numbers])
                answered += sum(pool.map(replay, pack))
        for one in sessions:
            rows = memory.memories(kinds=["turn"], session=f"{one.host}:{one.id}", project="shop", limit=100)
            assert [row.text for row in sorted(rows, key=lambda row: row.position)] == one.said, one
        assert failed == []
        assert len(owner_processes(folder)) == 1, "one owner served them all"
        lines = troubles(free_place).splitlines()
        assert [line for line in lines if "InvalidInputError: what came is no JSON" not in line] == []
        assert not any(waiting(folder))


def a_session(draw: random.Random, folder: Path, number: int) -> Session:
    host, path = HOSTS[number % len(HOSTS)], folder / f"s{number}.jsonl"
    return Session(host=host, id=f"s{number}", path=path, draw=random.Random(draw.random()))
