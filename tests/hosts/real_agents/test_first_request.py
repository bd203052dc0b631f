"""The first request of a run holds our tools: a server that is late is not there in a run of one question."""

import pytest

from tests.hosts.real_agents.desk import Desk
from tests.hosts.real_agents.wire_formats import tool_names

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

RUNS = 2
EVERYDAY = {"recall", "prime", "remember", "get"}


def test_each_first_request_offers_the_tools_and_the_hosts_of_the_world_are_left_alone(desk: Desk) -> None:
    for _ in range(RUNS):
        asked = desk.ask("Which database does billing use?")
        offered = [names for request in asked if (names := tool_names(request.body))]  # titles have none
        ours = {name.rpartition("hydramem")[2].lstrip("_") for name in offered[0] if "hydramem" in name}
        assert ours >= EVERYDAY
        desk.hydramem("stop")
    assert set(desk.model.refused) <= set(desk.agent.asks_beyond)
