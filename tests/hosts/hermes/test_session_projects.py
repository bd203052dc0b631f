"""The project of a call: named by it alone, kept for its session, never taken from the settings."""

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
    for piece in ("<hydramem-context ", "<hydramem-context project=", " " * 9, '<hydramem-context project="'):
        read_message(piece * 20_000)  # a second time for each character would have no end


@pytest.mark.parametrize("key", KEYS)
def test_an_argument_names_a_project(key: str) -> None:
    assert named_project({key: "atlas", "model": "x"}) == "atlas"
    assert named_project({key: None}) == ""
    assert named_project({"model": "x"}) is None
    for wrong in ({}, [], 7, "", "   ", True, "../up"):
        with pytest.raises(InvalidInputError, match="project"):
            named_project({key: wrong})


def test_the_sessions_that_are_kept_are_bounded_and_the_last_used_stay() -> None:
    projects = SessionProjects()
    with pytest.raises(InvalidInputError):
        projects.project("first", "../up")
    projects.project("first", "atlas")
    projects.project("second", "atlas")
    for n in range(199):
        assert projects.project("first", None) == "atlas"
        projects.project(f"s{n}", "borealis")
    assert projects.project("first", None) == "atlas"
    assert projects.project("second", None) is None
    assert projects.project("s0", None) == "borealis"
