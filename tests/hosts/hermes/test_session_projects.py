"""The project of a call: named by it alone, kept for its session, never taken from the settings."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramem.core.errors import InvalidInputError
from hydramem.hosts.hermes.session_projects import KEYS, SessionProjects, named_project, read_message


@pytest.mark.parametrize(
    ("message", "text", "project"),
    [
        ("Hello", "Hello", None),
        ('Hello\n\n<hydramem-context project="atlas" />', "Hello", "atlas"),
        ("<HydraMem-Context project='atlas'>Hello", "Hello", "atlas"),
        (
            'Hi <dkg-node-ui-context context_graph_id="a &amp; b" source="dkg-node-ui" /> there',
            "Hi\nthere",
            "a & b",
        ),
        ('<dkg-node-ui-context source="x" targetContextGraph="atlas"/>', "", "atlas"),
        ('Hello <hydramem-context project="" />', "Hello", ""),
        ("Hello <hydramem-context />", "Hello", None),
        ('Hello <hydramem-context my-project="atlas" />', "Hello", None),
        ("What is a <hydramem-contexts project='x'>?", "What is a <hydramem-contexts project='x'>?", None),
    ],
)
def test_a_marker_names_a_project_and_is_taken_out(message: str, text: str, project: str | None) -> None:
    read = read_message(message)
    assert (read.text, read.project) == (text, project)


@given(st.text(max_size=300))
def test_a_message_without_a_marker_is_as_it_was(message: str) -> None:
    if "-context" not in message.casefold():
        assert read_message(message).text == message.strip()


def test_hostile_markers_are_read_in_linear_time() -> None:
    started = time.process_time()
    for piece in ("<hydramem-context ", "<hydramem-context project=", " " * 9, '<hydramem-context project="'):
        read_message(piece * 20_000)
    assert time.process_time() - started < 5


@pytest.mark.parametrize("key", KEYS)
def test_an_argument_names_a_project(key: str) -> None:
    assert named_project({key: "atlas", "model": "x"}) == "atlas"
    assert named_project({key: None}) == ""
    assert named_project({"model": "x"}) is None
    for wrong in ({}, [], 7, "", "   ", True, "../up"):
        with pytest.raises(InvalidInputError, match="project"):
            named_project({key: wrong})


def test_a_session_gets_its_project_back_and_shares_it_with_no_other() -> None:
    projects = SessionProjects()
    assert projects.project("s1", "atlas") == "atlas"
    assert projects.project("s1", None) == "atlas"
    assert projects.project("s2", None) is None
    projects.continue_as("s3", "s1")
    assert projects.project("s3", None) == "atlas"
    assert projects.project("s1", "") is None
    assert projects.project("s1", None) is None
    assert projects.project("s3", None) == "atlas"
    assert projects.project("", "borealis") == "borealis"
    assert projects.project("", None) is None
    with pytest.raises(InvalidInputError):
        projects.project("s3", "../up")
    assert projects.project("s3", None) == "atlas"


def test_the_sessions_that_are_kept_are_bounded_and_the_last_used_stay() -> None:
    projects = SessionProjects()
    projects.project("first", "atlas")
    projects.project("second", "atlas")
    for n in range(199):
        assert projects.project("first", None) == "atlas"
        projects.project(f"s{n}", "borealis")
    assert projects.project("first", None) == "atlas"
    assert projects.project("second", None) is None
    assert projects.project("s0", None) == "borealis"
