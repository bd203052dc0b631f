"""The fake model answers in each format, keeps what it was asked, and lets nothing leave the machine."""

import json

import httpx
import pytest

from tests.hosts.real_agents.fake_model import FakeModel
from tests.hosts.real_agents.wire_formats import answer, tool_names

PATHS = {
    "/v1/messages?beta=true": ("content_block_delta", "delta"),
    "/v1/responses": ("response.output_item.done", "item"),
    "/v1/chat/completions": ("chat.completion.chunk", "choices"),
    "/v1beta1/publishers/google/models/m:streamGenerateContent?alt=sse": ("candidates", "candidates"),
}


@pytest.mark.parametrize("path", PATHS)
def test_a_stream_says_the_text_in_the_format_of_its_path(model: FakeModel, path: str) -> None:
    model.reply = "Grüße"
    stream = httpx.post(model.address + path, json={"stream": True, "messages": []}).text
    values = [json.loads(line[6:]) for line in stream.splitlines() if line.startswith("data: {")]
    mark, key = PATHS[path]
    saying = [value for value in values if mark in json.dumps(value) and "Grüße" in str(value)]
    assert saying and all(key in value for value in saying)
    assert [request.path for request in model.take_requests()] == [path]
    assert not model.take_requests()


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/v1/messages", lambda value: value["content"][0]["text"]),
        ("/v1/chat/completions", lambda value: value["choices"][0]["message"]["content"]),
        ("/models/m:generateContent", lambda value: value["candidates"][0]["content"]["parts"][0]["text"]),
    ],
)
def test_an_answer_that_is_no_stream_is_one_object(path: str, found: object) -> None:
    said = answer(path, {}, "yes")
    assert said.media_type == "application/json"
    assert callable(found) and found(json.loads(said.body)) == "yes"


def test_a_request_to_another_host_is_refused_and_kept(model: FakeModel) -> None:
    with httpx.Client(proxy=model.address, trust_env=False) as client:
        assert client.get("http://example.com/news").status_code == 403
        with pytest.raises(httpx.ProxyError):
            client.get("https://example.com/")
    assert model.refused == ["http://example.com/news", "example.com:443"]
    assert not model.requests


@pytest.mark.parametrize(
    ("tools", "names"),
    [
        (None, ()),
        ([{"name": "mcp__hydramem__recall"}, {"type": "web_search"}], ("mcp__hydramem__recall",)),
        ([{"type": "function", "function": {"name": "hydramem_recall"}}], ("hydramem_recall",)),
        ([{"type": "namespace", "name": "mcp__m", "tools": [{"name": "recall"}]}], ("mcp__m__recall",)),
        ([{"functionDeclarations": [{"name": "a"}, {"name": "b"}]}], ("a", "b")),
    ],
)
def test_tools_are_named_alike_in_every_format(tools: object, names: tuple[str, ...]) -> None:
    assert tool_names({"tools": tools}) == names
