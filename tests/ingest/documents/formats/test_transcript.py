"""Chat transcripts: shapes, sessions, what is appended and what is cut off."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hydramem.ingest.documents.formats.transcript import parse_transcript
from hydramem.text.dates.transcript_times import parse_loose
from tests.ingest.conftest import Kit


def lines(*turns: "tuple[str, str, str]") -> str:
    return "".join(json.dumps({"session": s, "author": a, "text": t}) + "\n" for s, a, t in turns)


def ai(text: str) -> dict[str, object]:
    return {"author": {"role": "ai"}, "content": {"parts": [text]}}


SHAPES = {
    "lines of roles": '{"role": "me", "content": "Hi"}\n{"role": "ai", "content": "Yo"}\n',
    "list": '[{"speaker": "me", "text": "Hi"}, {"author": "ai", "message": "Yo"}]',
    "parts": '[{"role": "me", "content": [{"type": "text", "text": "Hi"}]}, {"role": "ai", "content": "Yo"}]',
    "nested": '{"id": "x", "messages": [{"role": "me", "content": "Hi"}, {"role": "ai", "content": "Yo"}]}',
    "export": '[{"uuid": "x", "chat_messages": '
    '[{"sender": "me", "text": "Hi"}, {"sender": "ai", "text": "Yo"}]}]',
    "tree": json.dumps(
        {
            "title": "t",
            "current_node": "c",
            "mapping": {
                "a": {"message": None, "parent": None},
                "b": {"message": {"author": {"role": "me"}, "content": {"parts": ["Hi"]}}, "parent": "a"},
                "draft": {"message": ai("No"), "parent": "b"},
                "c": {"message": ai("Yo"), "parent": "b"},
            },
        }
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_common_shapes_are_read_alike(shape: str) -> None:
    (conversation,) = parse_transcript(SHAPES[shape], lines="\n{" in SHAPES[shape], name="file")
    assert [(turn.author, turn.text) for turn in conversation.turns] == [("me", "Hi"), ("ai", "Yo")]


@pytest.mark.parametrize(
    "text",
    ['{"a": 1}', "[1, 2]", "", "{", "[" * 10_000 + "]" * 10_000, '[{"role": "me", "content": ""}]'],
)
def test_json_that_is_no_transcript_is_none(text: str) -> None:
    assert parse_transcript(text, lines=False, name="file") == ()
    assert parse_transcript(text, lines=True, name="file") == ()


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("1:56 pm on 8 May, 2023", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        ("March-15-2024", datetime(2024, 3, 15, tzinfo=UTC)),
        ("2024-05-01T10:00:00+02:00", datetime(2024, 5, 1, 8, tzinfo=UTC)),
        (1_700_000_000_000, datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
        (True, None),
        (float("nan"), None),
        ("9" * 60, None),
    ],
)
def test_written_times(written: object, meant: datetime | None) -> None:
    assert parse_loose(written) == meant


def test_turns_keep_author_time_session_order_and_the_rest(kit: Kit, tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    turns = [
        {"session": "S1", "author": "Mel", "text": "Hi", "time": "1:56 pm on 8 May, 2023", "id": "D1:1"},
        {"session": "S1", "author": "Cara", "text": "Hi", "time": "soon"},
        {"session": "S2", "author": "Mel", "text": "Hi"},
    ]
    path.write_text("".join(json.dumps(turn) + "\n" for turn in turns))
    kit.ingest(path)
    rows = kit.chunks()
    assert len({row.id for row in rows}) == 3, "the same words said twice are two turns"
    assert sorted((row.author, row.position) for row in rows) == [("Cara", 1), ("Mel", 0), ("Mel", 0)]
    by_author = {row.author: row for row in rows if row.metadata}
    assert by_author["Mel"].happened_at == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert by_author["Mel"].metadata["id"] == "D1:1"
    assert by_author["Cara"].happened_at is None
    assert by_author["Cara"].metadata["time"] == "soon"
    sessions = kit.graph.sessions(sorted({row.session for row in rows if row.session}))
    assert sorted(session.name for session in sessions) == ["S1", "S2"]


def test_a_transcript_gains_only_its_new_turns_and_loses_what_was_cut(kit: Kit, tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    first = [("S", "Mel", "Ada Hale leads Kestrel."), ("S", "Cara", "Tom Berg leads Heron.")]
    path.write_text(lines(*first))
    kit.ingest(path)
    kit.embedded.clear()
    path.write_text(lines(*first, ("S", "Mel", "Tom left.")))
    done = kit.ingest(path)
    assert (done.chunks, done.retired_chunks) == (1, 0)
    assert [text for text in kit.embedded if ":" in text] == ["Mel: Tom left."]
    path.write_text(lines(*first[:1]))
    assert kit.ingest(path).retired_chunks == 2
    assert kit.triples() == {("Ada Hale", "leads", "Kestrel")}


def test_sessions_of_one_name_in_two_files_stay_two(kit: Kit, tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.jsonl").write_text(lines(("1", "Mel", f"This is {name}.")))
    kit.ingest(tmp_path)
    kit.ingest(tmp_path)
    assert sorted(kit.texts()) == ["This is a.", "This is b."]
    assert len({row.session for row in kit.chunks()}) == 2


def test_texts_that_no_store_can_hold_are_cleaned(kit: Kit, tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_text(
        r'{"author": "M\ud800el", "text": "a\u0000b \udfff", "x": {"y\ud800": ["\u0000\ud800"]}}' + "\n"
    )
    kit.ingest(path)
    (row,) = kit.chunks()
    assert (row.author, row.text, row.metadata) == ("M\ufffdel", "ab \ufffd", {"x": {"y\ufffd": ["\ufffd"]}})
