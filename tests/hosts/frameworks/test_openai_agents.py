"""The session and tools for the OpenAI Agents SDK, by runs of its own runner with a scripted model."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

pytest.importorskip("agents", reason="tests of frameworks run in an environment of their own")

from agents import (
    Agent,
    Model,
    ModelResponse,
    Runner,
    SessionSettings,
    Usage,
    set_tracing_disabled,
)
from agents.memory import Session
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

import hydramem
from hydramem.hosts.frameworks.openai_agents import HydraMemSession, memory_tools

set_tracing_disabled(True)


class ScriptedModel(Model):
    """Answers from a list; an exception in it is raised. Notes what it was given."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.inputs: list[Any] = []
        self.tools: list[Any] = []

    async def get_response(self, *args: Any, **given: Any) -> Any:
        self.inputs.append(json.loads(json.dumps(given["input"])))
        self.tools = given["tools"]
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return ModelResponse(output=[answer], usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **more: Any) -> AsyncIterator[Any]:
        raise NotImplementedError


def said(text: str) -> ResponseOutputMessage:
    content = ResponseOutputText(type="output_text", text=text, annotations=[])
    return ResponseOutputMessage(
        id="m1", type="message", role="assistant", status="completed", content=[content]
    )


def calls(name: str, **arguments: Any) -> ResponseFunctionToolCall:
    return ResponseFunctionToolCall(
        type="function_call", call_id=f"call_{name}", name=name, arguments=json.dumps(arguments)
    )


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


@pytest.fixture
def session(memory: hydramem.Memory) -> HydraMemSession:
    return HydraMemSession("talk", memory)


async def test_items_come_back_as_they_were_and_in_order(session: HydraMemSession) -> None:
    items: list[Any] = [
        user("Hi é \ud83d \u0000"),
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"b": 1,  "a": [1.0, null]}'},
        {"type": "function_call_output", "call_id": "c", "output": "done"},
        {"type": "reasoning", "id": "r", "summary": [], "z": 1, "a": 2},
    ]
    assert isinstance(session, Session) and await session.get_items() == []
    await session.add_items(items[:1])
    await session.add_items(items[1:])
    await session.add_items([])
    found = await session.get_items()
    assert json.dumps(found) == json.dumps(items)  # the order of names in them too
    found[0]["content"] = "changed"  # type: ignore[typeddict-unknown-key]
    assert (await session.get_items())[0] == items[0]


@pytest.mark.parametrize(("limit", "found"), [(None, 5), (2, 2), (99, 5), (0, 0), (-1, 0)])
async def test_a_limit_takes_the_last_items(session: HydraMemSession, limit: int | None, found: int) -> None:
    items: list[Any] = [user(str(number)) for number in range(5)]
    await session.add_items(items)
    assert await session.get_items(limit) == items[5 - found :]


async def test_the_limit_of_the_settings_holds_where_none_is_given(memory: hydramem.Memory) -> None:
    session = HydraMemSession("talk", memory, session_settings=SessionSettings(limit=2))
    await session.add_items([user(str(number)) for number in range(5)])  # type: ignore[arg-type]
    assert await session.get_items() == [user("3"), user("4")]
    assert len(await session.get_items(4)) == 4


async def test_pop_and_clear(session: HydraMemSession, memory: hydramem.Memory) -> None:
    await session.add_items([user("1"), user("2")])
    other = HydraMemSession("other", memory)
    await other.add_items([user("9")])
    assert await session.pop_item() == user("2") and await session.get_items() == [user("1")]
    await session.clear_session()
    assert await session.pop_item() is None and await session.get_items() == []
    assert await other.get_items() == [user("9")]
    with pytest.raises(TypeError):
        await session.add_items([user("1"), {"role": "user", "content": object()}])  # type: ignore[typeddict-item]
    assert await session.get_items() == [], "what JSON cannot hold adds nothing"


async def test_a_failed_turn_can_be_popped_and_said_again(session: HydraMemSession) -> None:
    model = ScriptedModel(said("One."), RuntimeError("no connection"), said("Two."))
    agent = Agent(name="a", model=model)
    await Runner.run(agent, "First.", session=session)
    with pytest.raises(RuntimeError):
        await Runner.run(agent, "Second.", session=session)
    while len(await session.get_items()) > 2:
        await session.pop_item()
    await Runner.run(agent, "Second.", session=session)
    contents = [item.get("content") for item in await session.get_items()]
    assert contents[0] == "First." and contents.count("Second.") == 1 and len(contents) == 4


async def test_many_tasks_append_without_a_loss(memory: hydramem.Memory) -> None:
    sessions = [HydraMemSession(f"talk {number % 2}", memory) for number in range(8)]
    await asyncio.gather(*(each.add_items([user("a"), user("b")]) for each in sessions))  # type: ignore[list-item]
    found = await sessions[0].get_items()
    assert [item["content"] for item in found] == ["a", "b"] * 4


async def test_tools_change_no_other_project_and_say_what_to_do_about_an_error(
    memory: hydramem.Memory,
) -> None:
    mine = memory.remember("Ada drinks green tea.", project="mine")
    model = ScriptedModel(
        calls("revise", id=mine.id, text="Ada drinks coffee."),
        calls("recall", query="what does Ada drink?"),
        calls("remember", text=" "),
        said("."),
    )
    agent = Agent(name="a", model=model, tools=list(memory_tools(memory, project="other")))
    result = await Runner.run(agent, "Change it.")
    outputs = [item.output for item in result.new_items if item.type == "tool_call_output_item"]
    assert "no chunk has this id" in outputs[0] and outputs[1] == "Nothing is known about that."
    assert "text: is blank" in outputs[2]
    assert memory.get(mine.id).state == "active"


@pytest.mark.smoke
async def test_a_model_uses_the_tools(session: HydraMemSession, memory: hydramem.Memory) -> None:
    model = ScriptedModel(
        calls("remember", text="Ada drinks green tea."),
        calls("recall", query="what does Ada drink?"),
        said("Tea."),
    )
    agent = Agent(name="a", model=model, tools=list(memory_tools(memory)))
    await Runner.run(agent, "Remember my tea.", session=session)
    outputs = [
        item["output"] for item in await session.get_items() if item.get("type") == "function_call_output"
    ]
    assert outputs[0].startswith("stored: c_") and "Ada drinks green tea." in outputs[1]
    assert [tool.name for tool in model.tools] == ["recall", "remember", "revise", "forget"]
    schema = model.tools[1].params_json_schema
    assert schema["additionalProperties"] is False and "names instead of pronouns" in str(schema)
