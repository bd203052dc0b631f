"""Resources of the MCP server: what the addresses answer, the same over FastMCP and over pipes."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from fastmcp import Client
from mcp import MCPError

import hydramem
from hydramem.core.config import Config, EmbeddingConfig, ServerConfig, StorageConfig
from hydramem.core.errors import NotFoundError
from hydramem.server import http_server
from hydramem.server.access import OWN_USER
from hydramem.server.read_resource import read_resource
from hydramem.server.resources import address, parsed_address
from tests.test_stdio_server import MODERN, Pipes

MEMORY_ONLY = Config(storage=StorageConfig(graph="memory"), embedding=EmbeddingConfig(model="hash"))
STATED = "Ada Lovelace leads the Billing Team."


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[hydramem.Memory]:
    (tmp_path / "page.md").write_text("# Halls\n\nHall 3 is cold.\n")
    with hydramem.connect(tmp_path / "store", config=MEMORY_ONLY) as memory:
        memory.remember(STATED, source="chat")
        memory.relate("Ada Lovelace", "leads", "Billing Team", quote=STATED)
        memory.ingest([str(tmp_path / "page.md")])
        yield memory


def read(memory: hydramem.Memory, uri: str) -> str:
    return read_resource(memory, uri, project="default", access=OWN_USER)


def test_a_memory_and_a_document_are_read_by_their_ids(memory):
    (kept,) = memory.memories()
    assert STATED in read(memory, address("memory", kept.id))
    (page,) = memory.documents()
    text = read(memory, address("document", page.id))
    assert "Hall 3 is cold." in text and page.source in text


def test_an_entity_is_read_by_its_name_and_by_its_id(memory):
    (ada,) = memory.entities(containing="ada")
    text = read(memory, address("entity", ada.id))
    assert text == read(memory, "hydramem://entity/ada%20lovelace")
    assert "- Ada Lovelace leads Billing Team" in text and STATED in text and ada.id in text
    strange = memory.entity("TCP/IP? #1 ünï", type="protocol").entity
    assert "TCP/IP? #1 ünï (protocol)" in read(memory, address("entity", strange.name))

    for number in range(3):
        memory.remember(f"Ada Lovelace College {number} teaches Ada Lovelace College {number}.")
    memory.entity("Ada Lovelace College", type="school")
    college = read(memory, "hydramem://entity/Ada%20Lovelace%20College")
    assert college.startswith("Ada Lovelace College (school)"), "of exactly that name"


def test_what_does_not_exist_says_so_whatever_it_is_called(memory):
    (kept,) = memory.memories()
    names = (
        "nothing",
        "../../etc/passwd",
        "\x00",
        " ",
        "a\nb",
        "x" * 900,
        "\ud800",
        "c_" + "0" * 8,
        "'; MATCH",
    )
    for kind in ("document", "entity", "memory", "project"):
        for name in names:
            with pytest.raises(NotFoundError):
                read(memory, f"hydramem://{kind}/{quote(name, safe='', errors='surrogatepass')}")
    with pytest.raises(NotFoundError):
        read(memory, address("entity", kept.id))


def test_a_project_is_read_as_an_overview(memory):
    text = read(memory, "hydramem://project/default")
    assert all(said in text for said in ("memories: 1", "documents: 1", "Ada Lovelace", STATED, "Halls"))
    memory.remember("Grace leads search.", project="other work")
    assert "Grace leads search." in read(memory, "hydramem://project/other%20work")
    empty = read_resource(memory, "hydramem://project/empty", project="empty", access=OWN_USER)
    assert empty == "Project empty: nothing is stored yet."


def test_what_is_no_address_is_refused():
    for uri in (
        "", "hydramem://", "hydramem://memory", "hydramem://memory/", "hydramem://nothing/a", "HYDRAMEM://memory/a",
        "hydramem://memory/a/b", "hydramem://memory/a?b=c", "hydramem://memory/a#b", "file:///etc/passwd",
        " hydramem://memory/a", "hydramem://project/" + "%41" * 5000,
    ):  # fmt: skip
        with pytest.raises(NotFoundError):
            parsed_address(uri)


def test_a_name_survives_its_address():
    for name in ("TCP/IP", "100 %", "a?b#c", "Zoë", "日本", "%2F"):
        assert parsed_address(address("entity", name)) == ("entity", name)


@pytest.mark.costly  # two servers
def test_resources_are_the_same_over_fastmcp_and_pipes(memory):
    (kept,) = memory.memories()
    asked = [
        address("memory", kept.id), "hydramem://project/default", "hydramem://entity/Ada%20Lovelace",
        "hydramem://memory/c_nothing", "hydramem://entity/..%2F..%2Fetc%2Fpasswd", "hydramem://project/nothing",
        "hydramem://entity/%00", "hydramem://nothing/x", "hydramem://memory/a/b",
    ]  # fmt: skip

    async def over_fastmcp():
        async with Client(http_server.build(memory, settings=ServerConfig())) as client:
            resources = [
                each.model_dump(by_alias=True, exclude_none=True) for each in await client.list_resources()
            ]
            templates = await client.list_resource_templates()
            answers = []
            for uri in asked:
                try:
                    (content,) = await client.read_resource(uri)
                    answers.append((content.mime_type, content.text))
                except MCPError as error:
                    answers.append((error.error.code, error.error.message, error.error.data))
            return (
                resources,
                [each.model_dump(by_alias=True, exclude_none=True) for each in templates],
                answers,
            )

    def over_pipes():
        pipes = Pipes(lambda: memory, ServerConfig(), "agent")
        answers = []
        for uri in asked:
            answer = pipes.ask("resources/read", uri=uri)
            if "error" in answer:
                answers.append(tuple(answer["error"].values()))
            else:
                (content,) = answer["result"]["contents"]
                assert content["uri"] == uri
                answers.append((content["mimeType"], content["text"]))
        resources = pipes.ask("resources/list")["result"]["resources"]
        templates = pipes.ask("resources/templates/list")["result"]["resourceTemplates"]
        pipes.close()
        return resources, templates, answers

    said = asyncio.run(over_fastmcp())
    resources, templates, answers = over_pipes()  # closes the memory at the end
    assert (resources, templates) == said[:2]
    for uri, answer, other in zip(asked, answers, said[2], strict=True):
        assert answer == other, uri
    assert [each["uri"] for each in resources] == ["hydramem://project/default"]
    assert {each["name"] for each in templates} == {"document", "entity", "memory", "project"}
    assert [answer[0] for answer in answers] == ["text/plain"] * 3 + [-32602] * 6


def test_a_wrong_read_is_answered_and_a_modern_one_says_how_long_it_holds(memory):
    pipes = Pipes(lambda: memory, ServerConfig())
    assert pipes.ask("resources/read")["error"]["code"] == -32602
    assert pipes.ask("resources/read", uri=["x"])["error"]["code"] == -32602
    done = pipes.ask("resources/read", uri="hydramem://project/default", **MODERN)["result"]
    assert (done["resultType"], done["ttlMs"], done["cacheScope"]) == ("complete", 0, "private")
    pipes.close()


def test_a_server_whose_tools_only_write_shows_no_resources(memory):
    writing = ServerConfig(tools="remember")

    async def over_fastmcp():
        async with Client(http_server.build(memory, settings=writing)) as client:
            return await client.list_resources(), await client.list_resource_templates()

    assert asyncio.run(over_fastmcp()) == ([], [])
    pipes = Pipes(lambda: memory, writing, "remember")
    started = pipes.ask("initialize", protocolVersion="2025-06-18")["result"]
    assert set(started["capabilities"]) == {"tools", "prompts"} and "`recall`" not in started["instructions"]
    assert pipes.ask("resources/list")["result"]["resources"] == []
    assert pipes.ask("resources/templates/list")["result"]["resourceTemplates"] == []
    assert pipes.ask("resources/read", uri="hydramem://project/default")["error"]["code"] == -32602
    pipes.close()
