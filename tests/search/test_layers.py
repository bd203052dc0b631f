"""Passive recall: which layers are read, what is left out, and what the log says of it."""

import logging
import re

import pytest

from hydramem.core.errors import InvalidInputError
from hydramem.core.inputs import CuratedChange
from hydramem.memory_api.memory import Memory
from hydramem.storage.changes import acting_as

TOLD = "we saw how a turbine with three long white blades was slowly lifted from a ship by a crane"
STORED = ("working", "shared", "verified")


def layers(memory: Memory, query: str, **options: object) -> list[str]:
    return [one.layer for one in memory.prime(query, min_relevance=0.0, **options).snippets]


def remember(memory: Memory, text: str, layer: str = "working", project: str = "default") -> str:
    id = memory.remember(text, project=project).id
    if layer != "working":
        memory.promote([id], layer=layer, reason="a test", project=project)
    return id


def test_six_layers_are_read_and_the_more_trusted_come_first(memory: Memory) -> None:
    for project in ("default", "atlas"):
        for layer, place in zip(STORED, ("harbour", "meadow", "valley"), strict=True):
            remember(memory, f"{TOLD} near the {place} of {project}.", layer, project)
        remember(memory, f"Bread of {project} is baked for an hour.", project=project)  # what a far hit is
    alone = layers(memory, TOLD, limit=9)
    assert alone[:3] == ["agent-verified", "agent-shared", "agent-working"]
    both = layers(memory, TOLD, limit=9, project="atlas")
    assert set(both) == {f"{whose}-{layer}" for whose in ("agent", "project") for layer in STORED}
    assert [each for each in both if each.startswith("project")][:3] == [
        "project-verified",
        "project-shared",
        "project-working",
    ]


def test_a_restriction_to_layers_leaves_curated_entries_out(memory: Memory) -> None:
    memory.curate("memory", [CuratedChange(action="add", content="The turbine hums.")])
    remember(memory, "The turbine stands in the harbour.")
    assert set(layers(memory, "turbine")) == {"agent-curated", "agent-working"}
    assert layers(memory, "turbine", layers=STORED) == ["agent-working"]
    with pytest.raises(InvalidInputError, match="layers"):
        memory.prime("turbine", layers=["silver"])


def test_what_the_prompt_has_already_is_left_out_and_does_not_take_a_place(memory: Memory) -> None:
    first = remember(memory, "The turbine stands in the harbour.")
    second = remember(memory, "The turbine was painted in green.")
    found = memory.prime("turbine", min_relevance=0.0, exclude=[first], limit=1)
    assert [one.id for one in found.snippets] == [second]
    assert not memory.prime("turbine", min_relevance=0.0, exclude=[first, second]).text


def test_each_recall_is_one_line_of_the_log_without_the_query(
    memory: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    remember(memory, "The turbine stands in the harbour.")
    remember(memory, "The turbine of atlas is green.", "verified", "atlas")
    caplog.set_level(logging.INFO, logger="hydramem")
    with acting_as("hook"):
        memory.prime("secret turbine", layers=STORED, limit=5, project="atlas", min_relevance=0.0)
    with acting_as("tool"):
        memory.prime("secret turbine", layers=STORED, limit=20, min_relevance=1.0)
    memory.recall("secret turbine", limit=7, also=["atlas"])
    lines = [one.getMessage() for one in caplog.records if "search fired" in one.getMessage()]
    assert lines == [
        "search fired (caller=hook, limit=5): project=atlas, layers=6, "
        "raw_hits=2 (project-verified:1, agent-working:1), shown=2",
        "search fired (caller=tool, limit=20): project=none, layers=3, raw_hits=1 (agent-working:1), shown=0",
        "search fired (caller=python, limit=7): project=none, layers=8, "
        "raw_hits=2 (agent-verified:1, agent-working:1), shown=2",
    ]
    assert not re.search("secret", caplog.text)


def test_a_rare_identifier_beats_the_common_words_of_a_question(memory: Memory) -> None:
    for n in range(10):
        remember(
            memory, f"Project memory recall query {n}: what does the passive recall say about the project?"
        )
    wanted = remember(memory, "Ticket qa664-577728: the unique anchor is kept in the cellar.")
    short = remember(memory, "Case id42 is closed.")
    asked = "What does passive memory recall say about qa664-577728 project unique memory?"
    assert memory.prime(asked, min_relevance=0.0).snippets[0].id == wanted
    assert memory.prime("what about id42?", min_relevance=0.0).snippets[0].id == short
