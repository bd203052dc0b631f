"""Layers: what several voices say, what a person or an agent vouches for, and who may say what."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramem.core.config import MemoryConfig
from hydramem.core.errors import InvalidInputError, NotFoundError
from hydramem.core.row_types import Chunk, Relation
from hydramem.ingest.knowledge.relation_input import RelationInput
from hydramem.ingest.knowledge.relations import Functional, relate
from hydramem.ingest.knowledge.trust_layers import MOST_VOICES, VOICES, promote, raised_by_voices
from hydramem.ingest.memories.forget import forget
from hydramem.search.visible.listings import relation_subject
from hydramem.storage.changes import acting_as
from tests.examples import FEW
from tests.ingest.conftest import PROJECT, Kit
from tests.storage.rows import chunk

TWO = MemoryConfig(shared_by=2)
SOURCES = st.sampled_from(["", "wiki", "chat", "mail"])
SESSIONS = st.sampled_from([None, "s_1", "s_2", "s_3"])


def raise_to(kit: Kit, layer: str, *ids: str, reason: str = "Ada said so") -> object:
    return promote(
        ids,
        layer,  # type: ignore[arg-type]
        reason=reason,
        target=kit.target(),
        subject_of=lambda id: relation_subject(id, kit.snapshots.of(PROJECT)),
    )


def stored(kit: Kit, id: str) -> Chunk:
    (row,) = kit.graph.chunks([id])
    return row


def a_relation(kit: Kit) -> Relation:
    statement = RelationInput(subject="Ada", type="leads", object="Kestrel")
    return relate(statement, target=kit.target(), functional=Functional()).relation


@pytest.mark.parametrize(
    ("first", "source", "session", "author", "shared_by", "layer"),
    [
        (chunk(source="wiki"), "mail", None, "Ada", 2, "shared"),
        (chunk(session="s_1"), "", "s_2", None, 2, "shared"),
        (chunk(source="wiki"), "mail", None, None, 3, "working"),
        (chunk(source="wiki"), "wiki", None, "Grace", 2, "working"),  # the same voice again
        (chunk(), "", None, "Ada", 2, "working"),  # nobody is no voice
        (chunk(source="a", layer="verified"), "b", None, None, 2, "verified"),
        (chunk(source="a", state="quarantined"), "b", None, None, 2, "working"),
    ],
)
def test_two_sources_or_two_sessions_make_a_memory_shared(
    first: Chunk, source: str, session: str | None, author: str | None, shared_by: int, layer: str
) -> None:
    once = raised_by_voices(first, source, session, author, MemoryConfig(shared_by=shared_by))
    assert once.layer == layer
    assert raised_by_voices(once, source, session, author, MemoryConfig(shared_by=shared_by)) is once


@FEW
@given(st.lists(st.tuples(SOURCES, SESSIONS), min_size=1, max_size=6))
def test_the_order_of_voices_does_not_matter(voices: list[tuple[str, str | None]]) -> None:
    def layer(order: list[tuple[str, str | None]]) -> str:
        (source, session), *others = order
        row = chunk(source=source, session=session)
        for source, session in others:
            row = raised_by_voices(row, source, session, None, TWO)
        return row.layer

    assert layer(voices) == layer(voices[::-1])


def test_voices_are_bounded_and_other_metadata_stays() -> None:
    row = chunk(source="0", metadata={"kept": 1})
    for number in range(1, 100):
        row = raised_by_voices(row, str(number), None, None, TWO)
    assert len(row.metadata[VOICES]) == MOST_VOICES  # type: ignore[arg-type]
    assert row.metadata["kept"] == 1


def test_promote_moves_chunks_and_relations_with_their_history(kit: Kit) -> None:
    id, relation = kit.remember("Grace likes tea.").id, a_relation(kit)
    done = raise_to(kit, "shared", id, relation.id)
    assert (done.chunks, done.relations, done.unchanged) == ((id,), (relation.id,), ())
    assert stored(kit, id).layer == "shared"
    assert {row.layer for row in kit.graph.relations([relation.subject])} == {"shared"}
    (_, change) = kit.graph.changes(target=id)
    assert (change.operation, change.reason) == ("promote", "Ada said so")
    assert raise_to(kit, "shared", id).unchanged == (id,)
    assert len(kit.graph.changes(target=id)) == 2
    assert raise_to(kit, "working", id).chunks == (id,)
    raise_to(kit, "verified", relation.id)
    (row,) = kit.graph.relations([relation.subject])
    assert (row.layer, row.verdict, row.verifier) == ("verified", "accepted", "person:python")


def test_an_agent_may_share_and_not_verify(kit: Kit) -> None:
    id = kit.remember("Ada leads Kestrel.").id
    with acting_as("mcp"):
        with pytest.raises(InvalidInputError, match="an agent may promote to shared"):
            raise_to(kit, "verified", id)
        raise_to(kit, "shared", id)
    assert stored(kit, id).layer == "shared"
    with acting_as("cli"):
        raise_to(kit, "verified", id)
    with acting_as("mcp"):
        assert raise_to(kit, "verified", id).unchanged == (id,)


def test_nothing_is_written_where_something_is_wrong(kit: Kit) -> None:
    id, gone = (kit.remember(text).id for text in ("Ada leads Kestrel.", "Grace likes tea."))
    forget([gone], graph=kit.graph, mirror=kit.mirror)
    with pytest.raises(InvalidInputError, match="is archived"):
        raise_to(kit, "shared", id, gone)
    with pytest.raises(NotFoundError, match="c_nowhere, r_nowhere"):
        raise_to(kit, "shared", id, "c_nowhere", "r_nowhere")
    with pytest.raises(InvalidInputError, match="layer"):
        raise_to(kit, "divine", id)
    with pytest.raises(InvalidInputError, match="reason"):
        raise_to(kit, "shared", id, reason=" ")
    with pytest.raises(InvalidInputError, match="ids"):
        raise_to(kit, "shared")
    assert stored(kit, id).layer == "working"
