"""The engine and the store in memory do the same, whatever is asked of them in whatever order."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from hydramem.core.config import StorageConfig
from hydramem.core.errors import InvalidInputError
from hydramem.core.row_types import Recalled, Times
from hydramem.storage.changes import record
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.in_memory.graph import InMemoryGraph
from hydramem.storage.schema import (
    CHANGE,
    EDGE_TABLES,
    LINKS,
    MENTIONS,
    NODE_TABLES,
    OUTBOX,
    RECALLED,
    RELATES,
    EdgeTable,
)
from hydramem.storage.store import GraphStore, Listing
from hydramem.storage.write import Removal, Write
from tests.engines import DISK_ENGINE
from tests.examples import FEW
from tests.faults.results import rounds
from tests.storage.engine_stores import drop_engine, emptied, open_engine
from tests.storage.rows import at, chunk, document, entity, item, job, link, mention, relation, session

LONG = pytest.mark.timeout(900)
EXAMPLES = [
    pytest.param(settings(FEW, stateful_step_count=8), id="few", marks=pytest.mark.costly),
    pytest.param(
        settings(max_examples=rounds(40, full=200), stateful_step_count=12),
        id="many",
        marks=[pytest.mark.slow, LONG],
    ),
]
# Rows that are there from the start, so that edges find their ends, and rows that may come.
DOCUMENTS = ("d0", "d1")
SESSIONS = ("s0", "s1")
CHUNKS = ("c0", "c1", "c2", "c3")
ENTITIES = ("e0", "e1", "e2")
NEW_CHUNKS = ("c4", "c5", "c6")
NEW_ENTITIES = ("e3", "e4")
STATES = ("active", "superseded", "archived", "quarantined")
LAYERS = ("working", "shared", "verified")
KINDS = ("passage", "note", "fact", "event", "turn")
SCOPES = ("/", "", "/project/alpha", "/project/alphabet", "/project/alpha/x", "/project/", "//", "/'")

texts = st.sampled_from(("x", "'); MATCH (n) DETACH DELETE n //", '"`$p\\', "東京 É", "", "C++")) | st.text(
    alphabet=st.characters(codec="utf-8", exclude_characters="\0"), max_size=12
)
# Some text that no store can hold: asked for, it is found nowhere.
any_texts = texts | st.sampled_from(("\0", "a\ud800b", "\udfff"))
projects = st.sampled_from(("p", "q", "O'Hara"))
# Few, so that bounds are met exactly.
moments = st.sampled_from(
    (*(at(day) for day in range(4)), datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC))
)
maybe_moments = st.none() | moments
numbers = st.sampled_from((0.0, 0.5, 1.0)) | st.floats(allow_nan=False, allow_infinity=False)
times = st.builds(
    Times, recorded_at=moments, retired_at=maybe_moments, valid_from=maybe_moments, valid_to=maybe_moments
)
metadata = st.dictionaries(texts, st.none() | st.booleans() | st.integers() | texts, max_size=2)


def some(ids: tuple[str, ...]) -> st.SearchStrategy[str]:
    return st.sampled_from(ids)


documents = st.builds(
    document,
    some(DOCUMENTS),
    project=projects,
    title=texts,
    state=st.sampled_from(STATES),
    times=times,
    metadata=metadata,
)
chunks = st.builds(
    chunk,
    some(CHUNKS + NEW_CHUNKS),
    text=texts,
    project=projects,
    kind=st.sampled_from(KINDS),
    document=st.none() | some(DOCUMENTS),
    session=st.none() | some(SESSIONS),
    position=st.integers(-1, 3),
    heading_path=st.lists(texts, max_size=2).map(tuple),
    author=st.none() | texts,
    private=st.booleans(),
    scope=st.sampled_from(SCOPES),
    categories=st.lists(texts, max_size=2).map(tuple),
    importance=numbers,
    confidence=numbers,
    layer=st.sampled_from(LAYERS),
    state=st.sampled_from(STATES),
    happened_at=maybe_moments,
    expires_at=maybe_moments,
    times=times,
    metadata=metadata,
)
entities = st.builds(
    entity,
    some(ENTITIES + NEW_ENTITIES),
    name=texts,
    project=projects,
    type=texts,
    aliases=st.lists(texts, max_size=2).map(tuple),
    mention_count=st.integers(0, 3),
)
relations = st.builds(
    relation,
    some(ENTITIES),
    st.sampled_from(("leads", "a'b")),
    some(ENTITIES),
    project=projects,
    confidence=numbers,
    evidence=st.lists(some(CHUNKS), max_size=2).map(tuple),
    quote=st.none() | texts,
    verdict=st.sampled_from((None, "accepted", "deferred")),
    scores=st.dictionaries(st.sampled_from(("jaccard", "x")), numbers, max_size=2),
    bidirectional=st.booleans(),
    state=st.sampled_from(STATES),
    layer=st.sampled_from(LAYERS),
    times=times,
)
links = st.builds(
    link,
    some(CHUNKS),
    some(CHUNKS),
    weight=numbers,
    reason=texts,
    state=st.sampled_from(STATES),
    times=times,
)
mentions = st.builds(mention, some(CHUNKS), some(ENTITIES), st.integers(1, 5))
sessions = st.builds(session, some(SESSIONS), project=projects, last_at=moments, metadata=metadata)
jobs = st.builds(job, payload=texts, attempts=st.integers(0, 3), error=st.none() | texts)
items = st.builds(
    item,
    some(("i1", "i2")),
    project=projects,
    namespace=st.lists(texts, max_size=2).map(tuple),
    key=texts,
    session=st.none() | texts,
    position=st.integers(0, 3),
    value=texts,
    chunks=st.lists(some(CHUNKS), max_size=2).map(tuple),
    ttl=st.none() | numbers,
    updated_at=moments,
    expires_at=maybe_moments,
)
recalled = st.builds(Recalled, session=some(SESSIONS), chunk=some(CHUNKS), rank=st.integers(0, 9), at=moments)
conditions = {
    "projects": st.lists(projects | any_texts, max_size=2).map(tuple),
    "kinds": st.lists(st.sampled_from(KINDS), max_size=3).map(tuple),
    "layers": st.lists(st.sampled_from(LAYERS), max_size=2).map(tuple),
    "states": st.lists(st.sampled_from(STATES), max_size=3).map(tuple),
    "scope": st.sampled_from(SCOPES) | any_texts,
    "categories": st.lists(any_texts, max_size=2).map(tuple),
    "sessions": st.lists(some(SESSIONS) | any_texts, max_size=2).map(tuple),
    "documents": st.lists(some(DOCUMENTS) | any_texts, max_size=2).map(tuple),
    "include_private": st.booleans(),
    "min_confidence": numbers | st.just(float("nan")),
    "happened_from": moments,
    "happened_to": moments,
    "at": moments,
    "known_at": moments,
}
# One or two conditions at a time: more of them admit nothing.
filters = (
    st.lists(st.sampled_from(sorted(conditions)), max_size=2, unique=True)
    .flatmap(lambda names: st.fixed_dictionaries({name: conditions[name] for name in names}))
    .map(lambda given: ChunkFilter(**{"states": (), **given}))
)
pages = st.builds(
    Listing, limit=st.integers(0, 6) | st.just(10**30), offset=st.integers(0, 3) | st.just(10**30)
)


class Machine(RuleBasedStateMachine):
    """Does everything twice and compares; what an example leaves is deleted before the next one."""

    settings = StorageConfig(graph=DISK_ENGINE, buffer_pool_mb=256, max_db_gb=4)  # type: ignore[arg-type]

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.memory = InMemoryGraph()
        self.engine = emptied(open_engine(folder, self.settings))
        self.memory.set_meta(self.engine.meta())

    def teardown(self) -> None:
        try:
            self.check_everything()
        finally:
            self.engine.close()

    def both(self, read: Any) -> None:
        assert read(self.engine) == read(self.memory)

    def write(self, write: Write) -> None:
        outcomes = []
        for store in (self.memory, self.engine):
            try:
                outcomes.append(store.write(write) is not None)
            except InvalidInputError as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1]

    @initialize()
    def begin(self) -> None:
        self.write(
            Write(
                changes=(record("begin", project="p", target="all"),),
                documents=tuple(document(id) for id in DOCUMENTS),
                sessions=tuple(session(id) for id in SESSIONS),
                chunks=tuple(chunk(id) for id in CHUNKS),
                entities=tuple(entity(id) for id in ENTITIES),
            )
        )

    @rule(
        documents=st.lists(documents, max_size=2),
        chunks=st.lists(chunks, min_size=1, max_size=5),
        entities=st.lists(entities, max_size=2),
        sessions=st.lists(sessions, max_size=1),
        jobs=st.lists(jobs, max_size=1),
        items=st.lists(items, max_size=2),
        audited=st.sampled_from((True, True, True, False)),
    )
    def write_nodes(self, audited: bool, **rows: list[Any]) -> None:
        changes = (record("write", project="p", target="c0", run="r"),) if audited else ()
        self.write(Write(changes=changes, **{name: tuple(given) for name, given in rows.items()}))

    @rule(
        chunks=st.lists(chunks, max_size=1),
        entities=st.lists(entities, max_size=1),
        relations=st.lists(relations, max_size=3),
        mentions=st.lists(mentions, max_size=3),
        links=st.lists(links, max_size=2),
    )
    def write_edges(self, **rows: list[Any]) -> None:
        changes = (record("relate", project="q", target="e0"),)
        self.write(Write(changes=changes, **{name: tuple(items) for name, items in rows.items()}))

    @rule(
        chunks=st.lists(some(NEW_CHUNKS), max_size=2),
        entities=st.lists(some(NEW_ENTITIES), max_size=2),
        gone=st.sampled_from(("relations", "links", "mentions")),
        number=st.integers(0, 3),
        back=st.lists(chunks, max_size=1),
        verbatim=st.booleans(),
    )
    def remove(
        self,
        chunks: list[str],
        entities: list[str],
        gone: str,
        number: int,
        back: list[Any],
        verbatim: bool,
    ) -> None:
        table = {"relations": RELATES, "links": LINKS, "mentions": MENTIONS}[gone]
        held = [_key(table, row) for rows in self.memory.scan(table) for row in rows]
        removed = Removal(chunks=tuple(chunks), entities=tuple(entities), **{gone: tuple(held[number:][:1])})
        changes = (record("undo", project="p", target="c4"),)
        self.write(Write(changes=changes, chunks=tuple(back), removed=removed, verbatim=verbatim))

    @rule(number=st.integers(0, 8))
    def forget_changes(self, number: int) -> None:
        held = [row.id for rows in self.memory.scan(CHANGE) for row in rows]
        changes = (record("garden", project="p", target="changes"),)
        self.write(Write(changes=changes, removed=Removal(changes=tuple(held[number:][:2]))))

    @rule(
        id=some(CHUNKS),
        bad=st.sampled_from(
            (
                {"text": "\0"},
                {"keywords": ("a\ud800",)},
                {"position": 2**63},
                {"confidence": float("nan")},
                {"document": "nope"},
            )
        ),
    )
    def refuse_rows(self, id: str, bad: dict[str, Any]) -> None:
        change = record("remember", project="p", target=id)
        self.write(Write(changes=(change,), entities=(entity("e9"),), chunks=(chunk(id, **bad),)))

    @rule(rows=st.lists(recalled, min_size=1, max_size=3))
    def recall(self, rows: list[Recalled]) -> None:
        self.write(Write(changes=(), recalled=tuple(rows)))

    @rule(id=some(CHUNKS), state=st.sampled_from(STATES), moment=moments)
    def change_state(self, id: str, state: Any, moment: datetime) -> None:
        for row in self.memory.chunks([id]):
            after = replace(row, state=state, times=replace(row.times, retired_at=moment))
            change = record("forget", project=row.project, target=id, before=row, after=after)
            self.write(Write(changes=(change,), chunks=(after,)))

    @rule(wheres=st.lists(filters, min_size=4, max_size=8), page=pages)
    def list_chunks(self, wheres: list[ChunkFilter], page: Listing) -> None:
        for where in wheres:
            self.both(lambda store, where=where: store.list_chunks(where, Listing()))
        self.both(lambda store: store.list_chunks(wheres[0], page))

    @rule(
        project=projects,
        page=pages,
        text=st.none() | any_texts,
        states=st.lists(st.sampled_from(STATES), max_size=2),
    )
    def list_the_rest(self, project: str, page: Listing, text: str | None, states: list[Any]) -> None:
        self.both(lambda store: store.list_documents(project, page, states=states))
        self.both(lambda store: store.list_entities(project, page, containing=text))
        self.both(lambda store: store.list_entities(project, page, type=text))
        self.both(lambda store: store.list_relations(project, page, type=text, states=states))
        self.both(lambda store: store.list_relations(project, page, verdicts=("deferred",)))
        self.both(lambda store: store.list_sessions(project, page))

    @rule(ids=st.lists(some((*CHUNKS, *ENTITIES, *SESSIONS, *DOCUMENTS)) | any_texts, max_size=4))
    def look_up(self, ids: list[str]) -> None:
        for read in ("documents", "chunks", "entities", "sessions"):
            self.both(lambda store, read=read: getattr(store, read)(ids))
        for read in ("relations", "mentions", "mentioned", "links"):
            self.both(lambda store, read=read: getattr(store, read)(ids))
        self.both(lambda store: store.changes(target=ids[0] if ids else None, run="r"))

    @rule(count=st.integers(0, 2))
    def deliver(self, count: int) -> None:
        for store in (self.memory, self.engine):
            store.clear_outbox([row.id for row in store.outbox()[:count]])

    @rule(name=texts, value=texts)
    def note_fact(self, name: str, value: str) -> None:
        for store in (self.memory, self.engine):
            store.set_meta({f"x{name}": value})

    @rule(ids=st.lists(some(("i1", "i2", "i3")), max_size=2))
    def remove_items(self, ids: list[str]) -> None:
        changes = (record("remove", project="p", target="i1"),)
        self.write(Write(changes=changes, removed=Removal(items=tuple(ids))))

    @rule(checkpoint=st.sampled_from((True, False, False, False)))
    def reopen(self, checkpoint: bool) -> None:
        if checkpoint:
            self.engine.checkpoint()
        self.engine.close()
        self.engine = open_engine(self.folder, self.settings)

    @invariant()
    def counts_agree(self) -> None:
        self.both(lambda store: store.counts())

    @rule()
    def check_everything(self) -> None:
        for read in ("projects", "meta", "last_change_at", "changes"):
            self.both(lambda store, read=read: getattr(store, read)())
        self.both(lambda store: tuple((row.chunks, row.entities) for row in store.outbox()))
        for table in (*NODE_TABLES, *EDGE_TABLES):
            if table not in (OUTBOX, RECALLED):
                self.both(lambda store, table=table: [row for rows in store.scan(table, 2) for row in rows])
        self.both(lambda store: sorted((row for rows in store.scan(RECALLED) for row in rows), key=repr))
        self.both(lambda store: sorted(store.item_places(), key=lambda place: place.id))
        for project in ("p", "q", "O'Hara"):
            self.both(lambda store, project=project: store.counts(project))
            self.both(lambda store, project=project: _tables(store, project))
            self.both(lambda store, project=project: store.ended_runs(project, at(20_000), most=9))
        self.both(lambda store: store.changed_before(at(20_000)))


filtered_chunks = st.lists(chunks, min_size=10, max_size=10).map(
    lambda rows: tuple(replace(row, id=f"c{n}") for n, row in enumerate(rows))
)


@pytest.mark.parametrize("examples", EXAMPLES)
def test_every_filter_admits_the_same(shared_graph: GraphStore, examples: settings) -> None:
    memory, engine = InMemoryGraph(), emptied(shared_graph)

    @settings(examples, suppress_health_check=list(HealthCheck))
    @given(rows=filtered_chunks, data=st.data())
    def check(rows: tuple[Any, ...], data: st.DataObject) -> None:
        put = Write(
            changes=(record("test", project="p", target="all"),),
            documents=tuple(document(id) for id in DOCUMENTS),
            sessions=tuple(session(id) for id in SESSIONS),
            chunks=rows,
        )
        memory.write(put)
        engine.write(put)
        for name, values in conditions.items():
            where = ChunkFilter(**{"states": (), name: data.draw(values)})
            assert engine.list_chunks(where, Listing()) == memory.list_chunks(where, Listing())

    check()


def _key(table: EdgeTable, row: Any) -> tuple[str, ...]:
    ends = tuple(getattr(row, end) for end in table.ends)
    return (*ends, row.id) if hasattr(row, "id") else ends


def _tables(store: GraphStore, project: str) -> Any:
    return tuple(sorted(map(repr, table.to_pylist())) for table in store.graph_tables(project))


@pytest.mark.parametrize("examples", EXAMPLES)
def test_the_engine_does_as_the_store_in_memory(tmp_path: Path, examples: settings) -> None:
    run_state_machine_as_test(
        lambda: Machine(tmp_path / "graph"),
        settings=settings(examples, suppress_health_check=list(HealthCheck)),
    )
    drop_engine(tmp_path / "graph", Machine.settings)
