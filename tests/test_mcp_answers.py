"""Answers of the MCP server: what hits cost beside their texts, short ids, `search` and `fetch`."""

import asyncio
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from fastmcp import Client
from jsonschema import validate

import hydramem
from hydramem.core.config import Config, EmbeddingConfig, ServerConfig, StorageConfig
from hydramem.core.errors import InvalidInputError, NotFoundError
from hydramem.core.ids import short_id
from hydramem.core.results.hits import Hit, OtherVersion, Recall
from hydramem.server import http_server
from hydramem.server.answer_text import answer_text
from hydramem.text.tokens import count_tokens
from tests.own_user import OwnRunner

MEMORY_ONLY = Config(storage=StorageConfig(graph="memory"), embedding=EmbeddingConfig(model="hash"))
NOTES = (
    "Ada Lovelace leads the billing team.",
    "Billing invoices go out on Mondays.",
    "Billing runs on MySQL since May.",
    "The billing cache lives downstairs.",
    "Ada approves billing refunds herself.",
    "Grace reviews billing code weekly.",
)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[hydramem.Memory]:
    with hydramem.connect(tmp_path / "store", config=MEMORY_ONLY) as memory:
        yield memory


@pytest.fixture
def runner() -> OwnRunner:
    return OwnRunner(ServerConfig())


def a_hit(number: int = 1, **fields: object) -> Hit:
    made = Hit(
        id=f"c_{number:08x}{'0' * 24}",
        text=f"Fact {number}.",
        score=1.0,
        source="chat",
        kind="note",
        project="default",
        layer="working",
        relevance=0.87,
        scores={"text": 1.0},
    )
    return replace(made, **fields)


def shown(*hits: Hit, **fields: object) -> str:
    return answer_text(Recall(query="x", hits=hits, **fields))


def test_what_hits_have_in_common_stands_once():
    day = datetime(2026, 5, 31, 14, 20, tzinfo=UTC)
    text = shown(*(a_hit(number, author="Ada", happened_at=day) for number in (1, 2)))
    assert text.splitlines() == [
        "From chat, Ada, 2026-05-31, by words:",
        "87% c_00000001 Fact 1.",
        "87% c_00000002 Fact 2.",
    ]


def test_what_differs_stands_with_each_hit():
    first = a_hit(1, happened_at=datetime(2026, 5, 31, tzinfo=UTC), scores={"text": 1.0, "vector": 0.5})
    second = a_hit(2, source="notes/a.md", happened_at=datetime(2026, 6, 1, tzinfo=UTC))
    assert shown(first, second, a_hit(3, source="notes/a.md")).splitlines() == [
        "From 2026:",
        "87% c_00000001 chat, 05-31 meaning+words: Fact 1.",
        "87% c_00000002 notes/a.md, 06-01 words: Fact 2.",
        "87% c_00000003 a.md words: Fact 3.",
    ]


def test_passages_stand_below_their_line_with_an_empty_line_around():
    long = "Many words. " * 40
    text = shown(a_hit(1), a_hit(2, text="One\ntwo"), a_hit(3, text=long), a_hit(4), answered=False)
    assert text.splitlines() == [
        "Nothing here seems to bear on this; the nearest:", "",
        "From chat, by words:",
        "87% c_00000001 Fact 1.", "",
        "87% c_00000002", "One", "two", "",
        "87% c_00000003", long, "",
        "87% c_00000004 Fact 4.",
    ]  # fmt: skip


def test_ids_that_begin_alike_are_whole_and_later_versions_are_named():
    newer = OtherVersion(id="c_" + "9" * 32, text="Fact 2.", probability=0.9)
    twins = [a_hit(id="c_" + "7" * 31 + end) for end in "ab"]
    text = shown(*twins, a_hit(3, newer=newer))
    assert all(twin.id in text for twin in twins)
    assert "Perhaps superseded by c_99999999 (90%): Fact 2." in text
    entry = a_hit(id="default/MEMORY.md#1")
    assert "default/MEMORY.md#1" in shown(entry)


def test_five_short_notes_cost_what_the_manual_says(memory, runner):
    """Each has its id, its relevance and its date: that cannot cost a third of six words."""
    for day, note in enumerate(NOTES, start=1):
        memory.remember(note, source="chat", happened_at=f"2026-05-0{day}")
    found = memory.recall("who leads billing?", limit=5).hits
    texts = sum(count_tokens(hit.text) for hit in found)
    said = count_tokens(runner.run(memory, "recall", {"query": "who leads billing?", "limit": 5}).text)
    sys.stdout.write(f"{texts} tokens of text, {said} in the answer\n")
    assert len(found) == 5 and said <= 3.3 * texts


def test_the_beginning_of_an_id_stands_for_it(memory, runner):
    def done(name: str, **arguments: object) -> dict:
        options = {"structured": True, **arguments.pop("options", {})}
        return runner.run(memory, name, {**arguments, "options": options}).structured

    kept = memory.remember("Ada leads billing.").id
    said = runner.run(memory, "recall", {"query": "billing"}).text
    short = short_id(kept)
    assert short in said and kept not in said
    assert memory.get(short).id == kept == memory.get(kept[:20]).id
    assert kept in runner.run(memory, "history", {"id": short}).text
    newer = done("revise", id=short, text="Ada leads invoicing.")["id"]
    third = done("remember", text="Grace leads invoicing.", replaces=[short_id(newer)])["id"]
    many = [{"text": "Alan leads invoicing.", "replaces": [short_id(third)]}]
    (last,) = done("remember_many", memories=many)["result"]
    assert memory.get(newer).state == memory.get(third).state == "superseded"
    evidence = {"evidence": [short_id(last["id"])]}
    done("relate", subject="Alan", type="leads", object="invoicing", options=evidence)
    assert last["id"] in memory.relations("Alan")[0].evidence
    done("forget", ids=[short_id(last["id"])])
    assert memory.get(last["id"]).state == "archived"
    memory.relate("c_deadbeef", "runs", "on hall 3")
    assert "on hall 3" in runner.run(memory, "expand", {"starts": ["c_deadbeef"]}).text, "it is a name, too"


def test_a_beginning_of_no_id_or_of_several_is_refused(memory, runner, monkeypatch):
    memory.remember("Ada leads billing.")
    for wrong in ("c_00000000", "c_0000000", "c_", "c_%", "c_0000000*"):
        with pytest.raises(NotFoundError):
            memory.get(wrong)
        with pytest.raises(NotFoundError):
            runner.run(memory, "get", {"id": wrong})
    monkeypatch.setattr(
        "hydramem.core.ids._address", lambda kind, *parts: f"{kind}_{'5' * 24}{hash(parts) % 10**8:08d}"
    )
    for text in ("Grace leads search.", "Alan leads research."):
        memory.remember(text)
    with pytest.raises(InvalidInputError, match="several"):
        runner.run(memory, "forget", {"ids": ["c_55555555"]})


def research(memory: hydramem.Memory, *calls: tuple[str, dict[str, object]], tools: str = "chatgpt") -> list:
    """Call tools with the real client; return the answers, and the tools that it is shown by name."""

    async def ask():
        async with Client(http_server.build(memory, settings=ServerConfig(tools=tools))) as client:
            listed = {tool.name: tool for tool in await client.list_tools()}
            answers = [await client.call_tool(*call, raise_on_error=False) for call in calls]
            return [listed, *answers]

    return asyncio.run(ask())


def test_what_search_finds_fetch_returns_in_both_places(memory, tmp_path):
    (tmp_path / "page.md").write_text("# Halls\n\n## Cooling\n\nHall 3 is cold in winter.\n")
    memory.ingest([str(tmp_path / "page.md")])
    memory.remember("Ada leads billing.", source="https://example.org/ada")
    for query, url in (
        ("who leads billing?", "https://example.org/ada"),
        ("Hall 3 winter", "hydramem://memory/c_"),
    ):
        listed, found = research(memory, ("search", {"query": query}))
        first = found.structured_content["results"][0]
        assert set(first) == {"id", "title", "url"} and first["url"].startswith(url) and first["title"]
        _, fetched = research(memory, ("fetch", {"id": first["id"]}))
        assert fetched.structured_content["text"] == memory.get(first["id"]).text
        assert {key: fetched.structured_content[key] for key in first} == first
        for tool, answer in (("search", found), ("fetch", fetched)):
            (content,) = answer.content
            assert json.loads(content.text) == answer.structured_content
            validate(answer.structured_content, listed[tool].output_schema)
            assert listed[tool].annotations.read_only_hint
    assert set(listed) == {"search", "fetch"}


def test_a_document_is_fetched_whole(memory, tmp_path):
    (tmp_path / "page.md").write_text("# Halls\n\nHall 3 is cold.\n\n## More\n\nHall 4 is warm.\n")
    memory.ingest([str(tmp_path / "page.md")])
    (page,) = memory.documents()
    _, fetched = research(memory, ("fetch", {"id": page.id}))
    assert "Hall 3 is cold." in fetched.structured_content["text"]
    assert "Hall 4 is warm." in fetched.structured_content["text"]
    assert fetched.structured_content["url"] == f"hydramem://document/{page.id}"


def test_wrong_research_is_refused_by_name(memory):
    cases = (
        ("search", {}, "query: is missing"),
        ("search", {"query": 5}, "query: "),
        ("search", {"query": "x", "limit": 3}, "limit: no such argument"),
        ("fetch", {"id": "c_nothing"}, "c_nothing"),
        ("fetch", {"id": "d_nothing"}, "d_nothing"),
        ("fetch", {"id": ["a"]}, "id: "),
        ("recall", {"query": "x"}, "Unknown tool"),
    )
    _, nothing, *answers = research(memory, ("search", {"query": "who?"}), *(case[:2] for case in cases))
    assert nothing.structured_content == {"results": []} and not nothing.is_error
    for (tool, arguments, said), answer in zip(cases, answers, strict=True):
        assert answer.is_error and said in answer.content[0].text, (tool, arguments)
