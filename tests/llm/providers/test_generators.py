import json
from dataclasses import dataclass, replace
from typing import Literal

import pytest

from hydramem.core.config import LlmConfig, RoleConfig, RolesConfig
from hydramem.core.errors import ConfigError, ModelError, ModelReplyError, ModelUnavailableError
from hydramem.core.row_types import Usage
from hydramem.llm.choose import choose_generator
from tests.llm.conftest import Answer, FakeServer

KEY = "sk-secret-1234567890"
ENVIRONMENT = {"LLM_KEY": KEY}


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    verdict: Literal["GROUNDED", "REJECTED"]
    quotes: tuple[str, ...] = ()


GOOD = json.dumps({"verdict": "GROUNDED", "quotes": ["Ada leads billing"]})


def wire(provider: str, content: str) -> dict:
    if provider == "ollama":
        message = {"role": "assistant", "content": content}
        return {"model": "m", "message": message, "done": True, "prompt_eval_count": 11, "eval_count": 7}
    if provider == "anthropic":
        try:
            block = {"type": "tool_use", "id": "t1", "name": "answer", "input": json.loads(content)}
        except ValueError:
            block = {"type": "text", "text": content}
        return {
            "type": "message",
            "content": [block],
            "stop_reason": "tool_use",
            "usage": {"input_tokens": 11, "output_tokens": 7, "service_tier": "ignored"},
        }
    return {
        "choices": [{"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
        "system_fingerprint": "ignored",
    }


@pytest.fixture(params=["ollama", "openai", "anthropic"])
def provider(request: pytest.FixtureRequest) -> str:
    return request.param


def settings(provider: str, url: str, **changes: object) -> LlmConfig:
    given = {"model": "m", "base_url": url, "timeout_seconds": 1.0, "retries": 1, "api_key_env": "LLM_KEY"}
    return LlmConfig(provider=provider, **(given | changes))  # type: ignore[arg-type] - tests vary them freely


def generator(provider: str, server: FakeServer, **changes: object):
    return choose_generator(settings(provider, server.url, **changes), "verify", environment=ENVIRONMENT)


def test_a_reply_becomes_a_value_with_its_cost(provider: str, server: FakeServer):
    server.script = [Answer(wire(provider, GOOD))]
    reply = generator(provider, server).generate("Is it so? \ud800", Judgement, system="Judge.")
    assert reply.value == Judgement(verdict="GROUNDED", quotes=("Ada leads billing",))
    assert reply.usage == Usage(calls=1, prompt_tokens=11, reply_tokens=7)
    sent = server.asked[0].body
    roles = ["user"] if provider == "anthropic" else ["system", "user"]
    assert [message["role"] for message in sent["messages"]] == roles
    schema = {
        "ollama": lambda: sent["format"],
        "openai": lambda: sent["response_format"]["json_schema"]["schema"],
        "anthropic": lambda: sent["tools"][0]["input_schema"],
    }[provider]()
    assert schema["required"] == ["verdict", "quotes"]
    assert schema["additionalProperties"] is False
    if provider == "anthropic":
        assert (sent["system"], sent["tool_choice"]["name"]) == ("Judge.", sent["tools"][0]["name"])
        assert server.asked[0].headers["anthropic-version"] == "2023-06-01" and sent["max_tokens"] > 1000


@pytest.mark.parametrize(
    "content",
    [
        GOOD[:-5],
        f"{GOOD} I hope this helps.",
        "",
        '{"verdict": "MAYBE", "quotes": []}',
    ],
)
def test_a_reply_of_another_shape_is_an_error_that_quotes_it(provider: str, server: FakeServer, content: str):
    server.script = [Answer(wire(provider, content))]
    with pytest.raises(ModelReplyError) as caught:
        generator(provider, server).generate("Is it so?", Judgement)
    assert repr(content[:20])[1:-1] in str(caught.value)
    assert len(server.asked) == 1
    for stranger in (b"<html>gateway</html>", b"", b'{"choices": 3, "message": 4}'):
        server.script = [Answer(stranger)]
        with pytest.raises(ModelReplyError):
            generator(provider, server).generate("q", Judgement)


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_failure_that_passes_is_tried_again(provider: str, server: FakeServer, status: int):
    server.script = [Answer({"error": "busy"}, status=status), Answer(wire(provider, GOOD))]
    assert generator(provider, server).generate("q", Judgement).value.verdict == "GROUNDED"
    assert len(server.asked) == 2


def test_a_failure_that_stays_is_unavailable(provider: str, server: FakeServer):
    for status, error, asked in ((500, "broken", 2), (404, "model 'm' not found", 3)):
        server.script = [Answer({"error": error}, status=status)]
        with pytest.raises(ModelUnavailableError, match="500" if status == 500 else "not found"):
            generator(provider, server).generate("q", Judgement)
        assert len(server.asked) == asked
    nobody = settings(provider, "http://127.0.0.1:9", retries=0)
    with pytest.raises(ModelUnavailableError, match="not reachable"):
        choose_generator(nobody, "verify", environment=ENVIRONMENT).generate("q", Judgement)


def test_a_slow_server_is_given_up_once(provider: str, server: FakeServer):
    server.script = [Answer(wire(provider, GOOD), delay=60)]
    with pytest.raises(ModelUnavailableError, match="in time"):
        generator(provider, server, timeout_seconds=0.3).generate("q", Judgement)
    assert len(server.asked) == 1


def test_an_empty_model_name_takes_the_first_listed(provider: str, server: FakeServer):
    listed = {"models": [{"model": "first"}]} if provider == "ollama" else {"data": [{"id": "first"}]}
    server.script = [Answer(listed), Answer(wire(provider, GOOD))]
    chosen = generator(provider, server, model="")
    chosen.generate("q", Judgement)
    assert chosen.name == f"{provider}:first"
    assert server.asked[1].body["model"] == "first"


def test_a_server_without_structured_output_is_named_as_such(server: FakeServer):
    refusal = {"error": {"message": "response_format json_schema is not supported"}}
    server.script = [Answer(refusal, status=400)]
    with pytest.raises(ModelError, match="refuses structured output"):
        generator("openai", server).generate("q", Judgement)


def test_a_cut_or_refused_reply_is_a_reply_error(server: FakeServer):
    cut = wire("openai", GOOD)
    cut["choices"][0]["finish_reason"] = "length"
    refused = wire("openai", GOOD)
    refused["choices"][0]["message"] = {"content": None, "refusal": "I cannot"}
    for body, said in ((cut, "cut off"), (refused, "I cannot"), ({"choices": []}, "no choice")):
        server.script = [Answer(body)]
        with pytest.raises(ModelReplyError, match=said):
            generator("openai", server).generate("q", Judgement)


@pytest.mark.parametrize(("provider", "header"), [("openai", "Authorization"), ("anthropic", "x-api-key")])
def test_the_key_is_sent_and_never_said(
    provider: str, header: str, server: FakeServer, caplog: pytest.LogCaptureFixture
):
    caplog.set_level("DEBUG", logger="hydramem")
    for status in (400, 401, 429, 500):
        server.script = [Answer({"error": f"bad key {KEY}"}, status=status, headers={"retry-after": "0"})]
        with pytest.raises(ModelError) as caught:
            generator(provider, server).generate("q", Judgement)
        assert KEY not in str(caught.value)
    assert server.asked[0].headers[header].endswith(KEY)
    assert KEY not in caplog.text


def test_the_usual_endpoint_needs_a_key():
    with pytest.raises(ModelUnavailableError, match="LLM_KEY"):
        choose_generator(settings("openai", ""), "verify", environment={})


def test_none_is_none_and_roles_inherit(server: FakeServer):
    roles = RolesConfig(
        verify=RoleConfig(provider="none"),
        link=RoleConfig(model="small"),
        infer=RoleConfig(provider="openai", base_url=server.url, model="big"),
    )
    chosen = replace(settings("ollama", server.url), roles=roles)
    assert choose_generator(LlmConfig(), "extract") is None
    assert choose_generator(chosen, "verify") is None
    names = {role: choose_generator(chosen, role).name for role in ("extract", "link", "infer")}
    assert names == {"extract": "ollama:m", "link": "ollama:small", "infer": "openai:big"}
    with pytest.raises(ConfigError, match="dream"):
        choose_generator(chosen, "dream")


def test_auto_takes_an_ollama_that_answers_and_has_a_model(server: FakeServer):
    server.script = [Answer({"models": [{"model": "first"}]})]
    assert generator("auto", server, model="").name.startswith("ollama:")
    server.script = [Answer({"models": []})]
    assert generator("auto", server) is None
    server.script = [Answer({"models": [{"model": "first"}]}, delay=60)]
    assert generator("auto", server) is None


def test_anthropic_replies_that_are_cut_refused_or_no_answer_are_reply_errors(server: FakeServer):
    good = wire("anthropic", GOOD)
    twice = {**good, "content": good["content"] * 2}
    other = {**good, "content": [{**good["content"][0], "name": "delete_everything"}]}
    for body, said in (
        ({**good, "stop_reason": "max_tokens"}, "cut off"),
        ({**good, "stop_reason": "refusal"}, "refused"),
        ({**good, "content": []}, "not one answer"),
        (twice, "not one answer"),
        (other, "not one answer"),
    ):
        server.script = [Answer(body)]
        with pytest.raises(ModelReplyError, match=said):
            generator("anthropic", server).generate("q", Judgement)


def test_a_model_that_refuses_a_temperature_is_asked_without_and_stays_so(server: FakeServer):
    refusal = {"error": {"type": "invalid_request_error", "message": "temperature: not supported here"}}
    server.script = [Answer(refusal, status=400), Answer(wire("anthropic", GOOD))]
    chosen = generator("anthropic", server)
    assert chosen.generate("q", Judgement).value == chosen.generate("q", Judgement).value
    assert ["temperature" in asked.body for asked in server.asked] == [True, False, False]


def test_each_provider_has_its_own_key_and_none_sees_anothers(server: FakeServer):
    with pytest.raises(ModelUnavailableError, match="ANTHROPIC_API_KEY"):
        choose_generator(LlmConfig(provider="anthropic"), "verify", environment={"OPENAI_API_KEY": KEY})
    roles = RolesConfig(verify=RoleConfig(provider="anthropic", base_url=server.url, model="m"))
    mixed = LlmConfig(provider="openai", api_key_env="LLM_KEY", roles=roles)
    server.script = [Answer(wire("anthropic", GOOD))]
    choose_generator(mixed, "verify", environment=ENVIRONMENT).generate("q", Judgement)
    assert KEY not in str(server.asked[0].headers)
