"""Who, for whom and in which run: what every Change says beside what it changed."""

import pytest

from hydramem.storage.changes import acting_as, current_run, in_one_run, record


def change(target: str = "c1"):
    return record("test", project="p", target=target)


def test_changes_of_one_context_are_one_run_and_nested_ones_join_it() -> None:
    with in_one_run() as run:
        assert change().run == current_run() == run
        with in_one_run("w_other") as inner:
            assert inner == change().run == run
    assert current_run() is None
    with in_one_run("w_given"):
        assert change().run == "w_given"


def test_a_run_ends_with_an_error() -> None:
    with pytest.raises(KeyError), in_one_run():
        raise KeyError
    assert change().run is None


def test_every_call_of_a_decorated_function_is_a_run() -> None:
    @in_one_run()
    def twice() -> set[str | None]:
        return {change().run, change("c2").run}

    first, second = twice(), twice()
    assert len(first) == len(second) == 1
    assert first.isdisjoint(second)


def test_a_change_tells_who_made_it_and_for_which_request() -> None:
    with acting_as("cli", request="q1"):
        assert (change().actor, change().request) == ("cli", "q1")
    assert (change().actor, change().request) == ("python", None)
