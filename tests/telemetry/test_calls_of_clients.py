"""Telemetry of a store that several processes use: its owner alone records, each call once."""

from pathlib import Path

import pytest

from hydramem.sharing.connect import call
from tests.sharing.served import served


@pytest.mark.costly  # only a store on disk has clients
def test_a_call_of_a_client_counts_once_at_the_owner_under_its_own_surface(tmp_path: Path) -> None:
    with served(tmp_path / "store") as owner, owner.client() as client:
        client.remember("Ada leads billing.")
        call(client, "recall", {"query": "who leads billing?"}, actor="hook")
        here, there = owner.memory.stats(days=1).telemetry, client.stats(days=1).telemetry
        assert here is not None
        assert there is not None
        assert {use.operation: use.calls for use in here.totals} == {"remember": 1, "recall": 1}
        assert {use.surface: use.calls for use in here.surfaces} == {"python": 1, "hook": 1}
        assert {use.operation: use.calls for use in there.totals} == {"remember": 1, "recall": 1, "stats": 1}
        assert client.wipe_telemetry().calls == 4
        assert not list((tmp_path / "store").glob("telemetry*"))
