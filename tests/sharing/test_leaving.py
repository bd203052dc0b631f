"""An owner that leaves answers each call, or says that it has not begun it."""

import threading
from pathlib import Path

import pytest

from hydramem.sharing.wire.messages import Call
from hydramem.sharing.wire.owner_link import OwnerGoneError
from tests.engines import ENGINE
from tests.sharing.served import Served, served


def hammer(owner: Served, started: threading.Barrier, ends: list[OwnerGoneError]) -> None:
    """Call until the owner has left; note how that was learnt."""
    link = owner.link()
    started.wait(60)
    try:
        while True:
            link.call(Call(operation="projects", project="default"))
    except OwnerGoneError as error:
        ends.append(error)
    finally:
        link.close()


@pytest.mark.parametrize("round", range(3))
@pytest.mark.slow
def test_a_call_that_an_owner_did_not_begin_is_not_taken_for_its_death(tmp_path: Path, round: int) -> None:
    started, ends = threading.Barrier(13), list[OwnerGoneError]()
    with served(tmp_path / "store", engine=ENGINE) as owner:
        threads = [threading.Thread(target=hammer, args=(owner, started, ends)) for _ in range(12)]
        for thread in threads:
            thread.start()
        started.wait(60)
        owner.server.stop()
        for thread in threads:
            thread.join(60)
        assert not any(thread.is_alive() for thread in threads)
    assert len(ends) == 12
    assert [str(error) for error in ends if error.begun] == []
