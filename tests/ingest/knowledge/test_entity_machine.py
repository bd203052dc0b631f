"""Any order of naming, stating, merging and splitting leaves a graph whose parts agree."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from hydramem.core.config import MemoryConfig
from hydramem.core.errors import InvalidInputError, NotFoundError
from hydramem.core.row_types import Chunk, Entity, Mention, Relation
from hydramem.ingest.knowledge.end_validity import is_version
from hydramem.ingest.knowledge.entities import Naming, set_entity
from hydramem.ingest.knowledge.merging.merge_entities import merge
from hydramem.ingest.knowledge.merging.reassign import reassign
from hydramem.ingest.knowledge.merging.split_entity import split
from hydramem.ingest.knowledge.relation_input import RelationInput
from hydramem.ingest.knowledge.relations import Functional, relate
from hydramem.ingest.memories.forget import forget, revive
from hydramem.ingest.memories.memory_input import MemoryInput
from hydramem.ingest.memories.remember import remember
from hydramem.storage.changes import in_one_run
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.outbox import worth_a_vector
from hydramem.storage.schema import ENTITY, MENTIONS, RELATES
from hydramem.storage.store import Listing
from hydramem.storage.undo.undo import undo
from hydramem.text.normalize import entity_key
from tests.examples import FEW
from tests.ingest.conftest import PROJECT, Kit
from tests.storage.rows import at

NAMES = st.sampled_from(["Ada", "Byron", "Charles", "Kestrel", "Falcon"])
TYPES = st.sampled_from(["likes", "lives_in"])
REFUSED = (InvalidInputError, NotFoundError)


class People(RuleBasedStateMachine):
    """What people and agents do with entities, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.kit = Kit()
        self.runs: list[str] = []

    def tried(self, write) -> None:  # type: ignore[no-untyped-def]
        """Do something that may be refused, as a run of its own."""
        with in_one_run() as run:
            try:
                write()
            except REFUSED:
                return
        self.runs.append(run)
        self.kit.snapshots.forget(PROJECT)

    def chunk(self, data: st.DataObject) -> Chunk | None:
        where = ChunkFilter(projects=(PROJECT,), states=())
        rows = self.kit.graph.list_chunks(where, Listing(limit=100))
        return data.draw(st.sampled_from(sorted(rows, key=lambda row: row.text))) if rows else None

    @rule(subject=NAMES, type=TYPES, object=NAMES, day=st.integers(0, 3), data=st.data())
    def state(self, subject: str, type: str, object: str, day: int, data: st.DataObject) -> None:
        chunk = self.chunk(data) if data.draw(st.booleans()) else None
        statement = RelationInput(
            subject=subject,
            type=type,
            object=object,
            valid_from=at(day) if day else None,
            evidence=() if chunk is None else (chunk.id,),
        )
        functional = Functional(types=("lives_in",))
        self.tried(lambda: relate(statement, target=self.kit.target(), functional=functional))

    @rule(subject=NAMES, object=NAMES)
    def say(self, subject: str, object: str) -> None:
        draft = MemoryInput(text=f"{subject} leads {object}.", kind="note")
        self.tried(lambda: remember(draft, target=self.kit.target(), settings=MemoryConfig(cognitive=False)))

    @rule(name=NAMES, alias=NAMES)
    def name(self, name: str, alias: str) -> None:
        self.tried(lambda: set_entity(Naming(name=name, aliases=(alias,)), target=self.kit.target()))

    @rule(kept=NAMES, others=st.lists(NAMES, min_size=1, max_size=2, unique=True))
    def unite(self, kept: str, others: list[str]) -> None:
        self.tried(lambda: merge(kept, others, reason=None, target=self.kit.target()))

    @rule(name=NAMES)
    def divide(self, name: str) -> None:
        self.tried(lambda: split(name, reason=None, target=self.kit.target()))

    @rule(name=NAMES, of=NAMES, data=st.data())
    def tell_apart(self, name: str, of: str, data: st.DataObject) -> None:
        if chunk := self.chunk(data):
            chunks = [chunk.id]
            self.tried(lambda: reassign(name, of=of, chunks=chunks, reason=None, target=self.kit.target()))

    @rule(data=st.data(), back=st.booleans())
    def withdraw(self, data: st.DataObject, back: bool) -> None:
        if chunk := self.chunk(data):
            move = revive if back else forget
            self.tried(lambda: move([chunk.id], graph=self.kit.graph, mirror=self.kit.mirror))

    @rule()
    def take_back(self) -> None:
        if self.runs:
            run = self.runs[-1]
            self.tried(lambda: undo(run, graph=self.kit.graph, mirror=self.kit.mirror))

    def rows(self, table) -> list:  # type: ignore[no-untyped-def,type-arg]
        return [row for batch in self.kit.graph.scan(table) for row in batch]

    @invariant()
    def the_parts_agree(self) -> None:
        entities: dict[str, Entity] = {row.id: row for row in self.rows(ENTITY)}
        mentions: list[Mention] = self.rows(MENTIONS)
        relations: list[Relation] = self.rows(RELATES)
        assert self.kit.counted_right()
        keys = [row.key for row in entities.values()]
        assert len(keys) == len(set(keys))
        for row in entities.values():
            assert row.key not in map(entity_key, row.aliases)
        for row in relations:
            assert {row.subject, row.object} <= entities.keys()
            assert row.subject != row.object
            assert is_version(row) == ("version_of" in row.metadata)
        said = {(row.chunk, row.entity) for row in mentions}
        for row in relations:
            if row.state == "active":
                for chunk in row.evidence:
                    assert {(chunk, row.subject), (chunk, row.object)} <= said
        worth = {row.id for row in entities.values() if worth_a_vector(row.mention_count)}
        assert set(self.kit.vectors.entity_hashes()) == worth
        current = {row.id for row in relations}
        for row in relations:
            assert row.metadata.get("version_of", row.id) in current


TestEntities = pytest.mark.slow(People.TestCase)
TestEntities.settings = settings(FEW, stateful_step_count=25)
