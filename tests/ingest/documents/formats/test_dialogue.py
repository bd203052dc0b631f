"""Plain text in which people speak in turn."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from hydramem.core.ids import session_id
from hydramem.ingest.documents.formats.transcript import parse_dialogue
from tests.ingest.conftest import PROJECT, Kit

TALK = """[1:56 pm on 8 May, 2023]
Ada: Did you paint this?
Ben Okri: Yes, last year.
It took a week:
two days for the sky alone.
Note: the sky is cobalt.
Ada: I like it.
Ben Okri: Thank you!
"""


def turns(text: str) -> list[tuple[str, str]]:
    return [(turn.author, turn.text) for talk in parse_dialogue(text, name="talk") for turn in talk.turns]


def test_each_speaker_has_a_turn_and_the_date_above_is_theirs() -> None:
    (talk,) = parse_dialogue(TALK, name="talk")
    said = "Yes, last year.\nIt took a week:\ntwo days for the sky alone.\nNote: the sky is cobalt."
    assert turns(TALK) == [
        ("Ada", "Did you paint this?"),
        ("Ben Okri", said),
        ("Ada", "I like it."),
        ("Ben Okri", "Thank you!"),
    ]
    assert {turn.happened_at for turn in talk.turns} == {datetime(2023, 5, 8, 13, 56, tzinfo=UTC)}
    more = "[2023/05/20 (Sat) 02:21]\nAda: Still here.\n[aside] Ada: Bye.\n[21 May 2023] Ada: Not now."
    (talk,) = parse_dialogue(TALK + more, name="talk")
    assert [turn.happened_at.day for turn in talk.turns if turn.happened_at] == [8, 8, 8, 8, 20, 20, 21]
    assert talk.turns[-2].text == "[aside] Bye.", "what is no date stays text"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Title: One\nPages: 12\nTitle: Two\nPages: 30\nTitle: Three\nPages: 9\n",
        "A long report on a talk. " * 20 + "\n" + TALK,
        " " * 50_000 + ":" + "a " * 50_000,
    ],
)
def test_other_texts_are_no_dialogue(text: str) -> None:
    assert parse_dialogue(text, name="none") == ()


def test_a_text_file_with_a_dialogue_becomes_turns_of_one_session(kit: Kit, tmp_path: Path) -> None:
    source = tmp_path / "visit.txt"
    source.write_text(TALK, encoding="utf-8")
    assert kit.ingest(source).chunks == 4
    chunks = kit.chunks()
    assert [(chunk.kind, chunk.author) for chunk in chunks] == [("turn", "Ada"), ("turn", "Ben Okri")] * 2
    assert {chunk.source for chunk in chunks} == {str(source)}
    assert {chunk.session for chunk in chunks} == {session_id(PROJECT, "visit")}
