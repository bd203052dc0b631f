"""Traces of erased texts in others: found by ids, by words in a row and by names, and not by chance."""

import json

from hydramem.erase.traces import Traces

ID = "c_" + "0" * 32
OTHER = "c_" + "1" * 32
TEXT = "Ada Quillfeather keeps the vermilion ledger of Zorblax in cabinet nineteen."


def test_what_is_a_trace_of_a_text() -> None:
    traces = Traces((ID,), (TEXT, "Bob likes tea.", "Yes."), ("Kestrel Nine",))
    for text in (
        TEXT,
        TEXT.upper(),
        f"> {TEXT[:50]}",
        "keeps the\nvermilion ledger",
        "It says: the vermilion ledger of Zorblax in cabinet twelve",
        "I know that bob likes TEA, as we all do",
        "yes",
        f"see {ID}",
        "where is kestrel nine now?",
    ):
        assert traces.in_text(text), text
    for text in (
        "",
        "the ledger",
        "Yes, it is so.",
        f"see {OTHER}",
        "Bob likes coffee.",
        "a kestrel",
        "ada keeps it",
    ):
        assert not traces.in_text(text), text


def test_scripts_without_spaces() -> None:
    traces = Traces((), ("艾达把朱红色的账本放在第十九号柜子里。",))
    assert traces.in_text("她说朱红色的账本在") and not traces.in_text("账本在桌子上")


def test_a_row_that_stays_keeps_its_own_words() -> None:
    traces = Traces((ID,), (TEXT,))
    row = {"id": OTHER, "kind": "note", "text": TEXT, "metadata": {"quote": TEXT, "of": [ID, OTHER]}}
    left = json.loads(traces.scrubbed(json.dumps(row)) or "")
    assert left == {"id": OTHER, "kind": "note", "text": TEXT, "metadata": {"of": [OTHER]}}
    assert traces.scrubbed(json.dumps({"id": ID, "kind": "note", "text": TEXT})) is None
    untouched = json.dumps({"id": OTHER, "name": "Bob"}, sort_keys=False)
    assert traces.scrubbed(untouched) is untouched


def test_an_image_loses_the_rows_with_traces() -> None:
    traces = Traces((ID,), (TEXT,))
    image = {
        "made": {"Chunk": [[ID, "d"], [OTHER, "d"]], "MENTIONS": [[ID, "e_1", "d"]]},
        "set": {
            "Chunk": [[OTHER, "d", {"text": ["a", TEXT]}]],
            "RELATES": [["e_1", "e_2", "r", "d", {"quote": ["", TEXT]}]],
        },
        "removed": {"Chunk": [{"id": ID, "kind": "note", "text": TEXT}]},
    }
    left = json.loads(traces.scrubbed_image(json.dumps(image)) or "")
    assert left == {
        "made": {"Chunk": [[OTHER, "d"]]},
        "set": {"Chunk": [[OTHER, "d", {"text": ["a", TEXT]}]]},
    }
    assert traces.scrubbed_image(json.dumps({"made": {"Chunk": [[ID, "d"]]}})) is None
