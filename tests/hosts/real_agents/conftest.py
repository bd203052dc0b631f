"""One desk for each of the four agents, and a model that says what a test wants."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.hosts.real_agents.agents import AGENTS, CodingAgent
from tests.hosts.real_agents.desk import Desk, wait_for
from tests.hosts.real_agents.fake_model import FakeModel, fake_model
from tests.hosts.real_agents.install_agents import installed_program, node_programs


@pytest.fixture
def model() -> Iterator[FakeModel]:
    with fake_model() as model:
        yield model


@pytest.fixture(params=AGENTS, ids=lambda agent: agent.host)
def agent(request: pytest.FixtureRequest) -> CodingAgent:
    """Run the test with each agent."""
    agent: CodingAgent = request.param
    return agent


@pytest.fixture
def desk(agent: CodingAgent, model: FakeModel, tmp_path: Path) -> Iterator[Desk]:
    """A desk at which HydraMem is installed for the agent; nothing of it runs on after the test."""
    program, programs = installed_program(agent), node_programs()
    if program is None or programs is None:
        pytest.skip(f"{agent.package} is not installed: python -m tests.hosts.real_agents.install_agents")
    desk = Desk(agent=agent, program=program, node=programs.node, model=model, folder=tmp_path)
    desk.lay_out()
    desk.hydramem("install", agent.host)
    try:
        yield desk
        desk.hydramem("stop")
        wait_for(lambda: not desk.processes(), "nothing is left behind")
    finally:
        for pid in desk.processes():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
