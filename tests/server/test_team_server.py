"""The HTTP server for a team, as a process: tokens with roles and projects, limits, health and the stop."""

import asyncio
import json
import signal
import socket
from collections.abc import Iterator

import httpx
import pytest
from fastmcp import Client
from mcp import MCPError

from hydramem.sharing.operation_specs import SPECS
from hydramem.storage.tokens.token_rows import make_token, revoke_token
from tests.server.team import HEADERS, HELLO, Team, serving


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    with serving(tmp_path_factory.mktemp("team"), HYDRAMEM_TOKEN="s3cret-for-tests") as served:
        yield served


def test_a_role_sees_its_own_tools(team):
    seen = {name: team.tools(name) for name in ("reader", "writer", "gardener", "owner", "chat")}
    reads = {name for name, spec in SPECS.items() if spec.effect == "read"}
    assert seen["owner"] >= set(SPECS)
    assert seen["reader"] - {"search", "fetch"} == reads - {"stats"}
    assert {"remember", "revise", "forget", "curate"} <= seen["writer"] - seen["reader"]
    assert {"garden", "review", "verify", "calibrate"} <= seen["gardener"] - seen["writer"]
    for name in ("reader", "writer", "gardener"):
        assert {"erase", "backup", "restore", "dump", "load", "reindex", "stats", "ingest"}.isdisjoint(
            seen[name]
        )
    assert seen["chat"] == {"search", "fetch"}


@pytest.mark.parametrize(
    ("name", "tool"), [("reader", "remember"), ("writer", "garden"), ("gardener", "erase")]
)
def test_a_tool_that_a_role_lacks_is_not_there(team, name, tool):
    async def said(tool: str) -> str:
        async with Client(team.url, auth=team.tokens[name]) as client:
            try:
                answer = await client.call_tool(tool, {"text": "x"}, raise_on_error=False)
            except MCPError as error:
                return str(error)
            assert answer.is_error
            return answer.content[0].text

    lacks, nothing = asyncio.run(said(tool)), asyncio.run(said("no_such_tool"))
    assert lacks.replace(tool, "TOOL") == nothing.replace("no_such_tool", "TOOL")


@pytest.mark.costly  # many clients over HTTP
def test_projects_are_walls(team):
    _, ours, _ = team.call("writer", "remember", text="The zanzibar cache lives in hall 3.")
    _, theirs, _ = team.call("other", "remember", text="The quokka vault has the code 4711.")
    for name in ("reader", "writer", "gardener"):
        _, found, text = team.call(name, "recall", query="quokka vault code")
        assert "4711" not in text and "4711" not in json.dumps(found)

    async def searched() -> str:
        async with Client(team.url, auth=team.tokens["chat"]) as client:
            answer = await client.call_tool("search", {"query": "quokka vault code"})
            return f"{answer.structured_content} {answer.content[0].text}"

    assert "4711" not in asyncio.run(searched())
    assert team.call("reader", "recall", query="zanzibar cache")[1]["hits"][0]["id"] == ours["id"]
    refused = {
        team.call("reader", "get", id=id)[2].replace(id, "ID")
        for id in (theirs["id"], theirs["id"][:12], "c_" + "0" * 32)
    }
    assert len(refused) == 1, "an error does not tell whether there is such a memory"
    refused = {
        team.call("reader", "recall", query="code", options={"project": name})[2].replace(name, "NAME")
        for name in ("theirs", "default", "nowhere")
    }
    assert len(refused) == 1
    assert [row["name"] for row in team.call("reader", "projects")[1]["result"]] == ["ours"]
    assert {row["name"] for row in team.call("owner", "projects")[1]["result"]} >= {"ours", "theirs"}
    assert "4711" in team.call("owner", "get", id=theirs["id"])[2]
    assert team.call("writer", "forget", ids=[theirs["id"]])[0]
    assert "4711" in team.call("other", "get", id=theirs["id"])[2]


@pytest.mark.costly  # many clients over HTTP
def test_resources_have_the_same_walls(team):
    _, theirs, _ = team.call("other", "remember", text="The wombat vault has the code 8812.")

    async def read(name: str, uri: str) -> str:
        async with Client(team.url, auth=team.tokens[name]) as client:
            try:
                (content,) = await client.read_resource(uri)
            except MCPError as error:
                return f"refused: {error}"
            return str(content.text)

    def said(name: str, uri: str) -> str:
        return asyncio.run(read(name, uri))

    memory = f"hydramem://memory/{theirs['id']}"
    assert "8812" in said("other", memory) and "8812" in said("owner", memory)
    assert said("reader", memory).startswith("refused")
    assert "8812" in said("other", "hydramem://project/theirs")
    assert said("reader", "hydramem://project/theirs").startswith("refused")
    assert "8812" not in said("reader", "hydramem://project/ours")
    unknown = f"hydramem://memory/c_{'0' * 32}"
    assert said("reader", memory).replace(memory, "") == said("reader", unknown).replace(unknown, "")

    async def listed(name: str) -> int:
        async with Client(team.url, auth=team.tokens[name]) as client:
            return len(await client.list_resources())

    assert asyncio.run(listed("reader")) == 0, "that of the server's own project is not theirs"
    assert asyncio.run(listed("owner")) == 1


def test_the_actor_of_a_change_is_the_tokens_name(team):
    _, done, _ = team.call("writer", "remember", text="Ada leads billing since May.")
    entries = team.call("owner", "history", id=done["id"], options={"project": "ours"})[1]["entries"]
    assert {entry["actor"] for entry in entries} == {"token:writer"}
    refused, _, text = team.call("owner", "review", options={"answers": [{"id": "x", "yes": True}]})
    assert refused and "person" in text, "a token is an agent's, whatever its role"


def test_a_session_has_the_rights_of_the_token_of_each_request(team):
    begun = team.post(HELLO, team.tokens["owner"])
    session = begun.headers.get("mcp-session-id")
    assert session
    ask = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    answer = team.post(ask, team.tokens["reader"], **{"Mcp-Session-Id": session})
    assert "remember" not in answer.text and '"restore"' not in answer.text
    call = {"name": "remember", "arguments": {"text": "stolen"}}
    answer = team.post({**ask, "method": "tools/call", "params": call}, team.tokens["reader"],
                       **{"Mcp-Session-Id": session})  # fmt: skip
    assert '"created"' not in answer.text and "stolen" not in answer.text
    assert team.post(ask, None, **{"Mcp-Session-Id": session}).status_code == 401


def test_host_and_origin_are_checked_beside_the_token(team):
    assert [team.status(token) for token in (None, "wrong", "s3cret-for-tests")] == [401, 401, 200]
    assert team.status(team.tokens["reader"]) == 200
    assert team.status(team.tokens["reader"], Host="evil.example") == 421
    assert team.status(team.tokens["reader"], Origin="https://evil.example") == 403
    assert (team.get("/healthz").text, team.get("/readyz").text) == ("ok", "ready"), "nothing of the store"


def test_a_revoked_token_is_refused_from_the_next_request_on(team):
    row, token = make_token(team.store, "leaver", role="reader", projects=["ours"])
    assert team.status(token) == 200
    revoke_token(team.store, "leaver")
    assert team.status(token) == 401
    assert row.hash not in team.post(HELLO, token).text


def raw(team: Team, head: bytes) -> bytes:
    """Return the first line of the answer to a request with these bytes as further headers."""
    body = json.dumps(HELLO).encode()
    url = httpx.URL(team.url)
    with socket.create_connection(("127.0.0.1", url.port), timeout=20) as link:
        link.sendall(
            b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
            b"Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
            + b"Content-Length: %d\r\n" % len(body)
            + head
            + b"\r\n"
            + body
        )
        said = b""
        while part := link.recv(4096):
            said += part
    return said.split(b"\r\n")[0]


@pytest.mark.costly  # the server's own time is that of the last test
def test_hostile_tokens_are_refused_and_harm_nothing(team):
    good = team.tokens["reader"].encode()
    for value in (
        b"", b"Bearer", b"Bearer ", b"Bearer \t", b"Basic " + good, good, b"Bearer " + good[:-1],
        b"Bearer " + good + b"x", b"Bearer " + good + b" " + good, b"Bearer " + good.swapcase(),
        b"Bearer \xff\xfe\xfd", b"Bearer " + b"x" * 30_000, b"Bearer ' OR 1=1 --", b"Bearer ../tokens.json",
        b"Bearer %00", b"Bearer {}", b"Bearer null", b"Bearer hm_",
    ):  # fmt: skip
        assert raw(team, b"Authorization: " + value + b"\r\n").split()[1] in (b"401", b"400", b"431"), value
    for head in (
        b"Authorization: Bearer \x00" + good + b"\r\n",
        b"Authorization: Bearer " + good + b"\x00\r\n",
        b"Authorization : Bearer " + good + b"\r\n",
        b"Authorization: Bearer wrong\r\nAuthorization: Bearer " + good + b"\r\n",
        b"Authorization: Bearer " + good + b"\r\nAuthorization: Bearer wrong\r\n",
        b"X-Authorization: Bearer " + good + b"\r\n",
        b"Cookie: token=" + good + b"\r\n",
    ):
        assert raw(team, head).split()[1] in (b"400", b"401"), head
    assert team.status(team.tokens["reader"]) == 200
    assert httpx.post(f"{team.url}?token={good.decode()}", json=HELLO, headers=HEADERS).status_code == 401


@pytest.mark.slow
def test_limits_are_those_of_the_settings(tmp_path):
    limits = {"HYDRAMEM_SERVER_REQUESTS_PER_MINUTE": "4", "HYDRAMEM_SERVER_BODY_MB": "0.01"}
    with serving(tmp_path, **limits) as team:
        token = team.tokens["writer"]
        assert team.post({"x": "y" * 20_000}, token).status_code == 413
        statuses = [team.status(token) for _ in range(5)]
        assert statuses[:3] == [200] * 3 and statuses[-1] == 429
        assert int(team.post(HELLO, token).headers["retry-after"]) >= 1
        assert team.status(team.tokens["reader"]) == 200


@pytest.mark.slow
def test_a_stop_lets_a_call_end_and_closes_the_store(tmp_path):
    (tmp_path / "pages").mkdir()
    for number in range(40):
        text = f"# Page {number}\n\nHall {number} is cold.\n" * 20
        (tmp_path / "pages" / f"{number}.md").write_text(text)

    async def work(team: Team) -> None:
        async with Client(team.url, auth=team.tokens["owner"]) as client:
            await client.list_tools()  # the client checks the answer by it, and would ask later
            begun = asyncio.Event()

            async def notice(*said: object) -> None:
                begun.set()

            given = {"sources": ["pages"], "options": {"structured": True}}
            call = asyncio.create_task(client.call_tool("ingest", given, progress_handler=notice))
            await begun.wait()
            team.process.send_signal(signal.SIGTERM)
            statuses = set()
            while not call.done():
                await asyncio.sleep(0.05)
                try:
                    statuses.add(await asyncio.to_thread(team.status, team.tokens["reader"]))
                except httpx.TransportError:
                    break  # the last call has ended and the server is gone: its answer is on the way
            assert (await call).structured_content["documents"] == 40
            assert statuses <= {503, 200}, "only one that came before the signal is answered"

    with serving(tmp_path) as team:
        asyncio.run(work(team))
        assert team.process.wait(timeout=60) == 0
        assert b"Traceback" not in team.process.stderr.read()


@pytest.mark.slow
def test_two_nodes_on_postgres_have_the_same_tokens_and_walls(tmp_path):
    pytest.importorskip("psycopg", reason="needs the extra `postgres`")
    from hydramem.storage.postgres.connection import Database
    from hydramem.storage.postgres.token_table import TokenTable
    from tests.storage.postgres_server import new_schema, server_address

    schema = new_schema()
    settings = {
        "HYDRAMEM_STORAGE_GRAPH": "postgres",
        "HYDRAMEM_STORAGE_URL": server_address(),
        "HYDRAMEM_STORAGE_DATABASE_SCHEMA": schema,
    }
    table = TokenTable(Database(server_address(), schema=schema, most_connections=2))
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    with serving(tmp_path / "one", tokens_in=table, **settings) as one:
        _, kept, _ = one.call("other", "remember", text="The quokka vault has the code 4711.")
        for row in table.rows():
            revoke_token(table, row.name)
        with serving(tmp_path / "two", tokens_in=table, **settings) as two:
            assert "4711" in two.call("other", "get", id=kept["id"])[2]
            assert two.call("reader", "get", id=kept["id"])[0]
            assert "4711" not in two.call("reader", "recall", query="quokka vault code")[2]
            assert one.status(two.tokens["reader"]) == 200, "made while it ran"
            assert one.status(one.tokens["reader"]) == 401, "revoked while it ran"
    with table._database.transaction() as connection:
        connection.execute(f'drop schema "{schema}" cascade')
    table.close()
