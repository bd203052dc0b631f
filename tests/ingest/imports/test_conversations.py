"""Conversations of ChatGPT and Claude come in: what was said, without drafts, reasoning and tools."""

import io
import json
import zipfile
from typing import Any

import hydramem
from hydramem import ImportCounts
from tests.ingest.imports.conftest import Put, content

AT = 1_700_000_000


def node(id: str, parent: str | None, role: str, text: object, **more: Any) -> dict[str, Any]:
    message = {
        "id": id,
        "author": {"role": role},
        "create_time": 1_700_000_000.5,
        "content": {"content_type": "text", "parts": text if isinstance(text, list) else [text]},
        "metadata": {},
    }
    return {"id": id, "parent": parent, "children": [], "message": {**message, **more}}


def chatgpt(
    id: str = "c1", *, current: str | None = "a2", extra: tuple[dict[str, Any], ...] = ()
) -> dict[str, Any]:
    nodes = [
        {"id": "root", "parent": None, "children": ["s"], "message": None},
        node("s", "root", "system", "You are helpful."),
        node("u1", "s", "user", "Which database does billing use?"),
        node("a1", "u1", "assistant", "A draft that was replaced."),
        node("a2", "u1", "assistant", ["Billing uses MySQL.", {"asset_pointer": "x"}], create_time=AT + 60),
        *extra,
    ]
    return {
        "conversation_id": id,
        "title": "Billing",
        "create_time": AT,
        "mapping": {each["id"]: each for each in nodes},
        **({"current_node": current} if current else {}),
    }


def claude() -> dict[str, Any]:
    thought = [
        {"type": "thinking", "thinking": "secret thought", "text": "secret thought"},
        {"type": "text", "text": "Ada leads it."},
        {"type": "tool_use", "name": "search"},
    ]
    return {
        "uuid": "k1",
        "name": "Who leads",
        "chat_messages": [
            {"sender": "human", "text": "Who leads billing?", "created_at": "2025-05-01T10:00:00Z"},
            {"sender": "assistant", "text": "secret thought Ada leads it.", "content": thought},
            {"sender": "human", "text": "", "attachments": [{"file_name": "a.txt"}]},
            "broken",
        ],
    }


def zipped(**files: object) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in files.items():
            archive.writestr(name, json.dumps(value))
    return held.getvalue()


def test_the_branch_that_was_kept_comes_in(memory: hydramem.Memory, put: Put) -> None:
    done = memory.import_memories(put("conversations.json", [chatgpt()]))
    assert done.format == "chatgpt"
    assert done.new == ImportCounts(sessions=1, turns=2)
    assert done.omitted == {
        "message of a branch that was replaced": 1,
        "message of the system or of a tool": 1,
    }
    turns = memory.memories(kinds=["turn"], session="chatgpt:c1")
    assert sorted((row.author, row.text) for row in turns) == [
        ("assistant", "Billing uses MySQL."),
        ("user", "Which database does billing use?"),
    ]
    assert {row.happened_at.year for row in turns if row.happened_at} == {2023}
    assert [(row.source, row.title) for row in memory.documents()] == [("import:chatgpt:c1", "Billing")]
    # Without a current node the newest leaf counts.
    again = memory.import_memories(put("conversations.json", [chatgpt(current=None)]))
    assert (again.new, again.unchanged) == (ImportCounts(), done.new)
    loop = (node("x", "y", "user", "round"), node("y", "x", "assistant", "and round"))
    circle = memory.import_memories(put("circle.json", [chatgpt("c2", current="x", extra=loop)]))
    assert circle.new.turns == 2, "a tree that turns in circles ends"


def test_a_conversation_that_went_on_gains_its_new_turns(memory: hydramem.Memory, put: Put) -> None:
    path = put("conversations.json", [chatgpt()])
    first = memory.import_memories(path)
    before = content(memory)
    again = memory.import_memories(path)
    assert (again.new, again.unchanged) == (ImportCounts(), first.new)
    assert content(memory) == before
    more = chatgpt(current="u2", extra=(node("u2", "a2", "user", "Since when?"),))
    done = memory.import_memories(put("conversations.json", [more]))
    assert (done.new.turns, done.unchanged.turns) == (1, 2)
    assert len(memory.memories(kinds=["turn"])) == 3
    memory.forget([memory.documents()[0].id])
    assert memory.import_memories(path).new == ImportCounts()
    assert memory.memories(kinds=["turn"]) == (), "what was forgotten stays so"


def test_thoughts_and_tools_of_claude_stay_out(memory: hydramem.Memory, put: Put) -> None:
    done = memory.import_memories(put("conversations.json", [claude()]))
    assert done.format == "claude"
    assert done.new == ImportCounts(sessions=1, turns=2)
    assert done.omitted == {"attachment": 1, "message without text": 1}
    assert [each.place for each in done.skipped] == ["conversations.json, record 1, message 4"]
    texts = sorted(row.text for row in memory.memories(kinds=["turn"]))
    assert texts == ["Ada leads it.", "Who leads billing?"]


def test_an_archive_is_read_where_it_is_and_its_paths_lead_nowhere(memory: hydramem.Memory, put: Put) -> None:
    files = {
        "../../conversations.json": [chatgpt("one")],
        "/etc/conversations-001.json": [chatgpt("two")],
        "user.json": {"name": "Ada"},
    }
    done = memory.import_memories(put("export.zip", zipped(**files)))
    assert (done.format, done.new.sessions, done.skipped) == ("chatgpt", 2, ())
    data = bytearray(zipped(**{"conversations.json": [chatgpt(str(n)) for n in range(50)]}))
    data[60:90] = b"x" * 30
    damaged = memory.import_memories(put("damaged.zip", bytes(data)), format="chatgpt")
    assert (damaged.new.sessions, len(damaged.skipped)) == (0, 1)
    empty = memory.import_memories(put("empty.zip", zipped(**{"user.json": {}})), format="claude")
    assert "holds no conversations" in empty.skipped[0].reason


def test_what_is_broken_is_named_and_the_rest_goes_in(memory: hydramem.Memory, put: Put) -> None:
    whole = json.dumps(chatgpt("whole"))
    records = [
        whole,
        "7",
        '"a, ] text"',
        '{"mapping": [}',
        '{"mapping": {"a": 7, "b": {"parent": ["a"], "message": {"author": 1, "create_time": "x"}}}}',
        '{"mapping": 3}',
        json.dumps(chatgpt("last")),
    ]
    path = put("conversations.json", "[" + ",\n".join(records) + "]")
    done = memory.import_memories(path, format="chatgpt")
    assert done.new.sessions == 2
    assert [each.place for each in done.skipped] == [f"conversations.json, record {n}" for n in (2, 3, 4, 6)]
    cut = memory.import_memories(put("cut.json", f"[{whole}, {whole[:200]}"), format="chatgpt")
    assert [each.place for each in cut.skipped] == ["cut.json, record 2"]
    open_end = memory.import_memories(put("open.json", f"[{whole}"), format="chatgpt")
    assert "ends after record 1" in open_end.skipped[0].reason


def test_words_that_claude_extracted_of_an_attachment_become_a_document(
    memory: hydramem.Memory, put: Put
) -> None:
    said = claude()
    said["chat_messages"][0]["attachments"] = [
        {"file_name": "../plan.txt", "extracted_content": "The ferry office moves to pier four in May."},
        {"file_name": "empty.pdf", "extracted_content": ""},
    ]
    done = memory.import_memories(put("conversations.json", [said]))
    assert done.omitted["attachment"] == 2
    document = next(each for each in memory.documents() if each.title == "../plan.txt")
    assert document.source == "import:claude:k1/../plan.txt"
    assert "pier four" in memory.document(document.id).chunks[0].text
    before = content(memory)
    memory.import_memories(put("conversations.json", [said]))
    assert content(memory) == before
