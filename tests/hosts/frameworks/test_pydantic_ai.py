"""The tool set and the capability of Pydantic AI, with agents and a fake model."""

import asyncio
from dataclasses import dataclass

import pytest

pytest.importorskip("pydantic_ai", reason="tests of frameworks run in an environment of their own")
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from hydramem.hosts.frameworks.pydantic_ai import HydraMemCapability, memory_toolset


@dataclass
class User:
    name: str


def of_user(ctx):
    return f"user {ctx.deps.name}"


class Model:
    """Calls tools as it is told, one a request, then answers; keeps what it was sent."""

    def __init__(self, *calls, answer="done"):
        self.calls, self.answer, self.requests, self.instructions = list(calls), answer, [], []

    def __call__(self, messages, info: AgentInfo) -> ModelResponse:
        self.requests.append([part for message in messages for part in message.parts])
        self.instructions.append(info.instructions)
        if self.calls:
            name, arguments = self.calls.pop(0)
            return ModelResponse(parts=[ToolCallPart(name, arguments)])
        return ModelResponse(parts=[TextPart(self.answer)])

    def last(self, kind):
        return [part.content for part in self.requests[-1] if isinstance(part, kind)]


def blocks(request):
    return sum(str(getattr(part, "content", "")).count("<recalled-memory") for part in request)


async def asked(memory, model, prompt="hi", user="ada", **options):
    agent = Agent(FunctionModel(model), deps_type=User, capabilities=[HydraMemCapability(memory, **options)])
    return await agent.run(prompt, deps=User(user))


async def with_tools(memory, *calls, user="ada"):
    model = Model(*calls)
    tools = memory_toolset(memory, project=of_user)
    await Agent(FunctionModel(model), deps_type=User, toolsets=[tools]).run("hi", deps=User(user))
    return model


async def test_tools_remember_recall_revise_and_forget(memory):
    model = await with_tools(
        memory,
        ("remember", {"text": "Ada prefers green tea."}),
        ("recall", {"query": "which tea does Ada prefer?"}),
    )
    stored, recalled = model.last(ToolReturnPart)
    id = stored.split(": ")[1]
    assert recalled == [{"id": id, "text": "Ada prefers green tea.", "source": "agent"}]
    assert "never an instruction" in model.instructions[0]

    model = await with_tools(memory, ("revise", {"id": id, "text": "Ada prefers black tea."}))
    (revised,) = model.last(ToolReturnPart)
    assert [row.text for row in memory.memories(project="user ada")] == ["Ada prefers black tea."]
    await with_tools(memory, ("forget", {"id": revised.split(": ")[1]}))
    assert memory.memories(project="user ada") == ()


async def test_another_failure_is_told_and_the_run_goes_on(memory):
    tools = memory_toolset(memory)
    memory.close()
    model = Model(("remember", {"text": "Ada prefers tea."}))
    await Agent(FunctionModel(model), toolsets=[tools]).run("hi")
    assert "the memory failed" in str(model.last(ToolReturnPart))


async def test_tools_reach_no_other_users_memories(memory):
    done = memory.remember("Bob prefers cocoa.", project="user bob")
    model = await with_tools(
        memory,
        ("recall", {"query": "what does Bob prefer?"}),
        ("forget", {"id": done.id}),
        ("revise", {"id": done.id, "text": "Bob prefers tea."}),
        ("remember", {"text": "  "}),
    )
    nothing, *refused, blank = model.last(ToolReturnPart)
    assert "text: is blank" in blank, "the model is asked to mend what it can mend"
    assert nothing == []
    assert ["no chunk has this id" in text for text in refused] == [True, True]
    assert [row.text for row in memory.memories(project="user bob")] == ["Bob prefers cocoa."]


async def test_a_run_recalls_once_and_its_history_stays_clean(memory, monkeypatch):
    memory.remember("The billing service runs on MySQL.", project="user ada")
    memory.remember("The billing service of Bob runs on Oracle.", project="user bob")
    memory.remember("The billing service of all runs on Postgres.")
    primed = []
    real = memory.prime
    monkeypatch.setattr(memory, "prime", lambda *args, **more: primed.append(args) or real(*args, **more))

    model = Model(("remember", {"text": "Ada asks for the database."}), ("recall", {"query": "database"}))
    result = await asked(memory, model, "which database does billing run on?", project=of_user)
    assert len(primed) == 1
    assert [blocks(request) for request in model.requests] == [1, 1, 1]
    told = str(model.requests[0])
    assert "MySQL" in told
    assert "Oracle" not in told
    assert "Postgres" not in told
    assert blocks([part for message in result.all_messages() for part in message.parts]) == 0


@pytest.mark.smoke
async def test_a_run_is_captured_and_recalled_in_the_next_one(memory):
    await asked(memory, Model(answer="Noted."), "My dentist is Dr. Umbra.", project=of_user)
    rows = memory.memories(kinds=["turn"], project="user ada")
    assert sorted((row.author, row.text) for row in rows) == [
        ("assistant", "Noted."),
        ("user", "My dentist is Dr. Umbra."),
    ]
    model = Model(answer="Dr. Umbra.")
    await asked(memory, model, "who is my dentist?", project=of_user)
    assert blocks(model.requests[0]) == 1
    other = Model()
    await asked(memory, other, "who is my dentist?", user="bob", project=of_user)
    assert blocks(other.requests[0]) == 0
    texts = [row.text for row in memory.memories(kinds=["turn"], project="user ada")]
    assert not any("recalled-memory" in text for text in texts)


async def test_runs_at_the_same_time_keep_their_own_block(memory):
    memory.remember("The code word of Ada is heron.", project="user ada")
    memory.remember("The code word of Bob is otter.", project="user bob")
    capability = HydraMemCapability(memory, project=of_user, captures=False)
    model = Model()
    agent = Agent(FunctionModel(model), deps_type=User, capabilities=[capability])
    names = ["ada", "bob"] * 3
    await asyncio.gather(*(agent.run(f"what is the code word of {name}?", deps=User(name)) for name in names))
    for request in model.requests:
        text = str(request)
        assert ("heron" in text) != ("otter" in text)


async def test_parts_can_be_switched_off(memory):
    memory.remember("The billing service runs on MySQL.")
    model = Model()
    await asked(memory, model, "zebra migration in Botswana")
    assert blocks(model.requests[0]) == 0, "nothing bears on it"
    model = Model()
    await asked(memory, model, "billing service?", tools=False, recalls=False, captures=False)
    assert blocks(model.requests[0]) == 0
    assert model.instructions == [None]
    assert len(memory.memories(kinds=["turn"])) == 2, "those of the first run"
