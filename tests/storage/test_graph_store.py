"""What every graph store promises, in memory and on the engine of this run."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone

import pytest

from hydramem.core.errors import InvalidInputError, StorageError
from hydramem.core.results.upkeep_results import Counts, ProjectView
from hydramem.core.row_types import DOUBTED, Chunk, Decision, Recalled, Times
from hydramem.graph.snapshot.snapshot_writer import load
from hydramem.storage.changes import record
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.row_codec import normalise
from hydramem.storage.schema import (
    CHANGE,
    CHUNK,
    EDGE_TABLES,
    ENTITY,
    ITEM,
    MENTIONS,
    NODE_TABLES,
    RECALLED,
    RELATES,
    SCHEMA_VERSION,
    EdgeTable,
    edge_columns,
    node_columns,
)
from hydramem.storage.store import GraphStore, ItemPlace, Listing, Stretch
from hydramem.storage.write import Removal, RequestRow, Write
from tests.storage.rows import (
    T0,
    at,
    chunk,
    document,
    entity,
    item,
    job,
    link,
    mention,
    relation,
    session,
    write,
)

HOSTILE = (
    "'); MATCH (n) DETACH DELETE n; //",
    '" OR "1"="1',
    "`x` $p {id: 1}",
    "C++ \\ C# \n\t\r \x01",
    "Москва 東京 🦜 e\u0301",
    "\u202eright to left",
    "",
    " ",
    "[a, b]",
    "NULL",
)


def ids(rows: tuple) -> list[str]:
    return [row.id for row in rows]


def everything(graph: GraphStore) -> dict[str, list[object]]:
    tables = [table for table in (*NODE_TABLES, *EDGE_TABLES) if table.name not in ("Change", "Outbox")]
    return {table.name: [row for rows in graph.scan(table) for row in rows] for table in tables}


# Rows ---------------------------------------------------------------------------------------------


def test_the_schema_holds_exactly_the_fields_of_the_rows() -> None:
    for table in (*NODE_TABLES, *EDGE_TABLES):
        fields = {field.name for field in dataclasses.fields(table.row)}
        if "times" in fields:
            fields = fields - {"times"} | {field.name for field in dataclasses.fields(Times)}
        ends = table.ends if isinstance(table, EdgeTable) else ()
        assert fields == {column.name for column in table.columns} | set(ends), table.name
        assert len(table.columns) + len(ends) == len(fields), table.name


def test_every_field_reads_back_as_written(graph: GraphStore) -> None:
    times = Times(recorded_at=at(0), retired_at=at(9), valid_from=at(-5), valid_to=at(5))
    full = chunk(
        document="d1",
        session="s1",
        position=3,
        heading_path=("One", "Two, three"),
        tokens=7,
        source="chat",
        source_type="markdown",
        author="Ada",
        private=True,
        scope="/infra/database",
        categories=("a", "b c"),
        keywords=("k",),
        summary="short",
        importance=0.25,
        confidence=0.1,
        layer="verified",
        state="superseded",
        event_type="deploy",
        happened_at=at(1.25),
        expires_at=at(30),
        times=times,
        recall_count=4,
        last_recalled_at=at(2),
        vector_state="ready",
        metadata={"a": [1, None, {"b": "é"}], "n": 1.5, "t": True},
    )
    given = relation(
        bidirectional=True,
        confidence=0.4,
        evidence=("c1", "c9"),
        quote="it's so",
        verdict="deferred",
        scores={"jaccard": 0.2},
        layer="shared",
        state="archived",
        times=times,
        metadata={"k": 1},
    )
    rows = {
        "documents": (document(metadata={"x": 1}, times=times, state="archived"),),
        "chunks": (full, chunk("c2")),
        "entities": (entity(aliases=("A.", "Ada L."), description="d", mention_count=3), entity("e2", "B")),
        "sessions": (session(metadata={"y": []}),),
        "items": (
            item(
                namespace=("a", "b/c", " "),
                key="k'",
                value='{"a":  "\\u0000é"}',
                chunks=("c1", "c2"),
                ttl=1.5,
                updated_at=at(1),
                expires_at=at(2),
            ),
            item("i2", namespace=(), key="", session="talk", position=2**53, value="null"),
        ),
    }
    edges = {
        "relations": (given,),
        "mentions": (mention(count=3),),
        "links": (link(reason="both", times=times),),
    }
    graph.write(write(**rows, **edges, jobs=(job(attempts=2, error="no"),)))
    assert graph.documents(["d1"]) == rows["documents"]
    assert graph.chunks(["c1", "c2"]) == rows["chunks"]
    assert graph.entities(["e1", "e2"]) == rows["entities"]
    assert graph.sessions(["s1"]) == rows["sessions"]
    assert graph.nodes(ITEM, ["i1", "i2"]) == rows["items"]
    assert graph.relations(["e1"]) == graph.relations(["e2"]) == edges["relations"]
    assert graph.mentions(["c1"]) == graph.mentioned(["e1"]) == edges["mentions"]
    assert graph.links(["c1"]) == graph.links(["c2"]) == edges["links"]


def test_removed_rows_go_with_the_edges_that_end_in_them(graph: GraphStore) -> None:
    first = {
        "documents": (document(), document("d2")),
        "chunks": (chunk(document="d1"), chunk("c2", session="s1"), chunk("c3")),
        "entities": (entity(), entity("e2", "Bob"), entity("e3", "Eve")),
        "sessions": (session(), session("s2")),
        "relations": (relation(), relation("e2", "knows", "e3"), relation("e3", "leads", "e1")),
        "mentions": (mention(), mention("c2"), mention("c3", "e2")),
        "links": (link(), link("c2", "c3"), link("c3", "c1")),
    }
    graph.write(write(**first, jobs=(job(), job("j2"))))
    graph.write(Write(changes=(), recalled=(Recalled(session="s1", chunk="c1", rank=0, at=at(1)),)))
    graph.clear_outbox([row.id for row in graph.outbox()])
    gone = Removal(
        documents=("d2", "nope"),
        chunks=("c1", "nope"),
        entities=("e1",),
        sessions=("s2",),
        jobs=("j1",),
        relations=(("e2", "e3", "r_e2_knows_e3"), ("e2", "e3", "nope")),
        links=(("c2", "c3", "l_c2_c3"),),
        mentions=(("c3", "e2"), ("c3", "e3")),
    )
    graph.write(write(removed=gone))
    left = everything(graph)
    assert {name: [getattr(row, "id", row) for row in rows] for name, rows in left.items() if rows} == {
        "Document": ["d1"],
        "Chunk": ["c2", "c3"],
        "Entity": ["e2", "e3"],
        "Session": ["s1"],
        "Job": ["j2"],
    }
    (told,) = graph.outbox()
    assert (told.chunks, told.entities) == (("c1", "nope"), ("e1",))
    assert graph.list_chunks(ChunkFilter(documents=("d1",)), Listing()) == ()


def test_a_row_can_be_removed_and_put_anew_in_one_write(graph: GraphStore) -> None:
    graph.write(
        write(chunks=(chunk(), chunk("c2")), entities=(entity(),), mentions=(mention(),), links=(link(),))
    )
    anew = chunk(text="Other.")
    graph.write(write(chunks=(anew,), mentions=(mention(count=3),), removed=Removal(chunks=("c1",))))
    assert graph.chunks(["c1"]) == (anew,)
    assert graph.mentions(["c1"]) == (mention(count=3),)
    assert graph.links(["c1", "c2"]) == ()


def test_nothing_refers_to_what_the_same_write_removes(graph: GraphStore) -> None:
    graph.write(write(chunks=(chunk(),), entities=(entity(),)))
    with pytest.raises(InvalidInputError, match="no chunk 'c1'"):
        graph.write(write(mentions=(mention(),), removed=Removal(chunks=("c1",))))
    assert ids(graph.chunks(["c1"])) == ["c1"]
    with pytest.raises(InvalidInputError, match="without a Change"):
        graph.write(Write(changes=(), removed=Removal(chunks=("c1",))))


def test_verbatim_rows_bring_their_own_audit(graph: GraphStore) -> None:
    told = record("test", project="p", target="c1")
    said = Recalled(session="s1", chunk="c1", rank=0, at=at(1))
    copied = Write(
        changes=(told,),
        chunks=(chunk(recall_count=1),),
        sessions=(session(),),
        recalled=(said,),
        verbatim=True,
    )
    graph.write(copied)
    once = everything(graph)
    graph.write(copied)
    assert everything(graph) == once
    assert once["RECALLED"] == [said]
    assert graph.chunks(["c1"])[0].recall_count == 1
    assert graph.changes() == (told,)
    graph.write(Write(changes=(), chunks=(chunk("c2"),), verbatim=True))
    assert ids(graph.chunks(["c2"])) == ["c2"]


def test_every_table_can_be_scanned_in_order_each_row_once(graph: GraphStore) -> None:
    rows = {
        "chunks": (chunk("c2"), chunk("c1", state="archived"), chunk("c3"), chunk("c4"), chunk("c5")),
        "entities": (entity("e2", "B"), entity("e1")),
        "relations": (relation(), relation("e2", "leads", "e1")),
        "mentions": (mention("c2"), mention("c1"), mention("c1", "e2")),
    }
    graph.write(write(sessions=(session(),), **rows))
    said = [Recalled(session="s1", chunk="c1", rank=rank, at=at(rank)) for rank in (1, 0)]
    graph.write(Write(changes=(), recalled=tuple(said)))
    assert [ids(batch) for batch in graph.scan(CHUNK, 2)] == [["c1", "c2"], ["c3", "c4"], ["c5"]]
    assert [ids(batch) for batch in graph.scan(ENTITY, 1)] == [["e1"], ["e2"]]
    assert [row.subject for batch in graph.scan(RELATES, 1) for row in batch] == ["e1", "e2"]
    found = [(row.chunk, row.entity) for batch in graph.scan(MENTIONS) for row in batch]
    assert found == [("c1", "e1"), ("c1", "e2"), ("c2", "e1")]
    assert [row for batch in graph.scan(RECALLED) for row in batch] == said[::-1]
    assert graph.recalled(chunks=["c1"]) == graph.recalled(sessions=["s1"]) == tuple(said[::-1])
    assert graph.recalled(chunks=["c2"]) == ()


def test_a_row_that_is_removed_twice_over_is_noted_once(graph: GraphStore) -> None:
    graph.write(write(entities=(entity(), entity("e2", "B")), relations=(relation(),)))
    key = ("e1", "e2", relation().id)
    gone = Removal(entities=("e2", "e2"), relations=(key, key))
    graph.write(Write(changes=(record("undo", project="p", target="e2"),), removed=gone))
    image = str(graph.changes()[-1].image)
    assert image.count('"id":"e2"') == image.count(relation().id) == 1


def test_relations_between_two_things_are_those_alone(graph: GraphStore) -> None:
    there, back = relation(), relation("e2", "leads", "e1")
    again = relation(type="knows", state="archived")
    others = (relation("e1", "leads", "e3"), relation("e3", "leads", "e2"))
    ends = (entity(), entity("e2", "B"), entity("e3", "C"))
    graph.write(write(entities=ends, relations=(there, back, again, *others)))
    assert set(ids(graph.relations_between([("e1", "e2")]))) == {there.id, again.id}
    found = graph.relations_between([("e1", "e2"), ("e2", "e1"), ("e1", "e2")])
    assert sorted(ids(found)) == sorted([there.id, again.id, back.id])
    assert graph.relations_between([("e2", "e3"), ("e9", "e1")]) == graph.relations_between([]) == ()


def test_jobs_wait_in_order_and_need_no_change(graph: GraphStore) -> None:
    later, first = job("j2", created_at=at(1)), job("j1", created_at=at(0), project="q")
    graph.write(Write(changes=(), jobs=(later, first)))
    assert graph.jobs(Listing()) == (first, later)
    assert graph.jobs(Listing(limit=1, offset=1)) == (later,)
    done = dataclasses.replace(first, state="done")
    graph.write(Write(changes=(), jobs=(done,)))
    assert graph.jobs(Listing(), states=("waiting", "running")) == (later,)
    assert graph.jobs(Listing(), project="q") == (done,)


def test_text_is_never_syntax(graph: GraphStore) -> None:
    for text in HOSTILE:
        project = text or "p"
        words = {"scope": "/" + text, "categories": (text,), "keywords": (text, text)}
        row = chunk(f"c{text}", text, project=project, metadata={text: text}, **words)
        person = entity(f"e{text}", text, project=project, type=text)
        said = relation(person.id, text, person.id, quote=text)
        graph.write(write(chunks=(row,), entities=(person,), relations=(said,)))
        assert graph.chunks([row.id]) == (row,)
        where = ChunkFilter(projects=(project,), scope="/" + text, categories=(text,))
        assert graph.list_chunks(where, Listing()) == (row,)
        assert graph.list_entities(project, Listing(), containing=text, type=text) == (person,)
        assert graph.relations([person.id])[0].quote == text
        assert graph.counts(project).chunks == 1
    assert [view.name for view in graph.projects() if view.chunks] == sorted(text or "p" for text in HOSTILE)


UNSTORABLE = (
    {"text": "a\0b"},
    {"text": "\ud800"},
    {"categories": ("ok", "\udfff")},
    {"position": 2**63},
    {"confidence": float("nan")},
    {"importance": float("inf")},
    {"happened_at": datetime(2024, 1, 1)},
    {"happened_at": datetime.min.replace(tzinfo=timezone(timedelta(hours=9)))},
    {"metadata": {"x": float("nan")}},
    {"metadata": {"x": object()}},
)


def test_what_no_store_can_hold_is_refused_by_name(graph: GraphStore) -> None:
    bad = [{"chunks": (chunk(**fields),)} for fields in UNSTORABLE]
    bad += [{"entities": (entity(name="\ud83d"),)}, {"entities": (entity(id="\ud83d"),)}]
    for rows in bad:
        with pytest.raises(InvalidInputError, match=r"^(Chunk|Entity) .*: \w+: "):
            graph.write(write(documents=(document(),), **rows))
    assert graph.counts() == Counts()


def test_times_come_back_in_utc(graph: GraphStore) -> None:
    tokyo = datetime(2024, 5, 1, 8, tzinfo=timezone(timedelta(hours=9)))
    edges = (
        datetime.min.replace(tzinfo=UTC),
        datetime.max.replace(tzinfo=UTC),
        datetime(1969, 7, 20, tzinfo=UTC),
    )
    rows = [chunk(f"c{n}", happened_at=moment) for n, moment in enumerate((tokyo, *edges))]
    graph.write(write(chunks=tuple(rows)))
    found = graph.chunks(ids(tuple(rows)))
    assert [row.happened_at for row in found] == [tokyo, *edges]
    assert {row.happened_at.utcoffset() for row in found} == {timedelta(0)}


def test_rows_come_in_the_order_of_the_ids_each_once(graph: GraphStore) -> None:
    graph.write(write(chunks=tuple(chunk(f"c{n}") for n in range(5))))
    assert ids(graph.chunks(["c3", "nope", "c1", "c3"])) == ["c3", "c1"]
    assert graph.chunks([]) == graph.documents([]) == graph.entities(["x"]) == ()
    assert graph.relations([]) == graph.mentions([]) == graph.links([]) == ()


def test_many_ids_read_as_few_do(graph: GraphStore) -> None:
    chunks = tuple(chunk(f"c{n:04}") for n in range(600))
    mentions = tuple(mention(row.id, f"e{n % 30}") for n, row in enumerate(chunks))
    graph.write(write(chunks=chunks, entities=tuple(entity(f"e{n}") for n in range(30)), mentions=mentions))
    assert graph.chunks(ids(chunks)) == chunks
    assert graph.mentions(ids(chunks)) == mentions
    assert len(graph.mentioned([f"e{n}" for n in range(30)])) == 600


# Writing ------------------------------------------------------------------------------------------


def test_a_row_takes_the_place_of_the_row_of_its_id(graph: GraphStore) -> None:
    graph.write(
        write(
            chunks=(chunk(), chunk("c2")),
            entities=(entity(), entity("e2")),
            relations=(relation(quote="old"), relation(type="likes")),
            mentions=(mention(),),
            links=(link(weight=0.1),),
        )
    )
    after = {
        "chunks": (chunk(text="new", summary=None, categories=("x",)),),
        "entities": (entity(name="Ada Lovelace"),),
        "relations": (relation(quote=None, confidence=0.2), relation("e2", "helps", "e1")),
        "mentions": (mention(count=9), mention("c2", "e2")),
        "links": (link(weight=0.9),),
    }
    graph.write(write(**after))
    assert graph.chunks(["c1"]) == after["chunks"]
    assert graph.entities(["e1"]) == after["entities"]
    assert set(ids(graph.relations(["e1"]))) == {"r_e1_leads_e2", "r_e1_likes_e2", "r_e2_helps_e1"}
    assert relation(quote=None, confidence=0.2) in graph.relations(["e2"])
    assert graph.mentions(["c1", "c2"]) == after["mentions"]
    assert graph.links(["c1"]) == after["links"]
    assert graph.counts().relations == 3


def test_rows_of_one_key_fold_into_the_last(graph: GraphStore) -> None:
    assert graph.write(Write(changes=())) is None
    assert graph.counts() == Counts()
    chunks = (chunk(text="first"), chunk(text="last"))
    mentions = (mention(count=1), mention(count=2))
    graph.write(write(chunks=chunks, entities=(entity(),), mentions=mentions))
    assert graph.chunks(["c1"]) == chunks[1:]
    assert graph.mentions(["c1"]) == mentions[1:]
    for confidence in (1.0, 0.3):
        graph.write(write(relations=(relation("e1", "knows", "e1", confidence=confidence),)))
    assert graph.relations(["e1"]) == (relation("e1", "knows", "e1", confidence=0.3),), "to itself"


def test_a_reference_to_nothing_writes_nothing(graph: GraphStore) -> None:
    graph.write(write(chunks=(chunk(),), entities=(entity(),), sessions=(session(),)))
    before = graph.counts(), graph.outbox()
    for rows in (
        {"chunks": (chunk("c9", document="nope"),)},
        {"chunks": (chunk("c9", session="nope"),)},
        {"mentions": (mention("nope", "e1"),)},
        {"mentions": (mention("c1", "nope"),)},
        {"relations": (relation("e1", "x", "nope"),)},
        {"relations": (relation("nope", "x", "e1"),)},
        {"links": (link("c1", "nope"),)},
        {"recalled": (Recalled(session="nope", chunk="c1", rank=0, at=T0),)},
        {"recalled": (Recalled(session="s1", chunk="nope", rank=0, at=T0),)},
    ):
        with pytest.raises(InvalidInputError, match="'nope'"):
            graph.write(write(documents=(document("d9"),), **rows))
        assert (graph.counts(), graph.outbox()) == before
        assert graph.documents(["d9"]) == graph.chunks(["c9"]) == ()


def test_every_write_is_audited(graph: GraphStore) -> None:
    for rows in ({"chunks": (chunk(),)}, {"sessions": (session(),)}):
        with pytest.raises(InvalidInputError, match="audited"):
            graph.write(Write(changes=(), **rows))
    change = record("remember", project="p", target="c1")
    graph.write(Write(changes=(change,)))
    with pytest.raises(InvalidInputError, match="recorded already"):
        graph.write(Write(changes=(change,), chunks=(chunk(),)))
    with pytest.raises(InvalidInputError, match="one id"):
        graph.write(Write(changes=(change, change)))
    assert graph.changes() == (change,)
    assert graph.chunks(["c1"]) == ()


def test_changes_are_found_by_what_they_say(graph: GraphStore) -> None:
    rows = [
        dataclasses.replace(record("x", project="p", target=target, run=run), request=request)
        for target, run, request in (("a", "r1", None), ("a", None, "q"), ("b", "r1", "q"))
    ]
    for row in reversed(rows):
        graph.write(Write(changes=(row,)))
    first, second, third = rows
    assert graph.changes() == (first, second, third)
    assert graph.changes(target="a") == (first, second)
    assert graph.changes(run="r1") == (first, third)
    assert graph.changes(target="b", run="r1", request="q") == (third,)
    assert graph.changes(target="b", run="nope") == ()
    assert graph.last_change_at() == third.at
    verified, other = (record("verify", project=project, target="r_1") for project in ("p", "q"))
    graph.write(Write(changes=(verified, other, record("remember", project="p", target="c_1"))))
    assert graph.changes(project="p", kind="r") == (verified,)
    assert graph.changes(kind="r") == (verified, other)
    assert graph.changes(operation="verify", project="p") == (verified,)
    assert graph.changes(operation="undo") == graph.changes(project="nobody") == ()


def test_a_chunk_stays_in_step_with_its_document_and_session(graph: GraphStore) -> None:
    graph.write(
        write(documents=(document(), document("d2")), sessions=(session(),), chunks=(chunk(document="d1"),))
    )
    of_first, of_second = ChunkFilter(documents=("d1",)), ChunkFilter(documents=("d2",))
    assert ids(graph.list_chunks(of_first, Listing())) == ["c1"]
    graph.write(write(chunks=(chunk(document="d2", session="s1"),)))
    assert graph.list_chunks(of_first, Listing()) == ()
    assert ids(graph.list_chunks(of_second, Listing())) == ["c1"]
    assert ids(graph.list_chunks(ChunkFilter(sessions=("s1",)), Listing())) == ["c1"]
    graph.write(write(chunks=(chunk(document="d2"),)))
    assert graph.list_chunks(ChunkFilter(sessions=("s1",)), Listing()) == ()
    assert ids(graph.list_chunks(of_second, Listing())) == ["c1"]


def test_stretches_are_read_together(graph: GraphStore) -> None:
    passages = [chunk(f"p{n}", document="d1", position=n) for n in range(9)]
    turns = [chunk(f"t{n}", document="d1", session="s1", kind="turn", position=n) for n in range(3)]
    gone = chunk("p9", document="d1", position=9, state="archived")
    graph.write(write(documents=(document(),), sessions=(session(),), chunks=(*passages, *turns, gone)))
    found = graph.between(
        [
            Stretch(session="s1", first=1, last=9),
            Stretch(document="d1", first=7, last=9),
            Stretch(document="d1", first=-3, last=0),
            Stretch(document="d1", first=8, last=8),
            Stretch(document="nowhere", first=0, last=99),
        ]
    )
    assert ids(found) == ["t1", "t2", "p7", "p8", "p9", "p0", "t0"]
    assert graph.between([]) == ()


def test_recalled_counts_on_the_chunk_without_audit_or_outbox(graph: GraphStore) -> None:
    outbox = graph.write(write(chunks=(chunk(),), sessions=(session(),)))
    seen = [Recalled(session="s1", chunk="c1", rank=n, at=at(day)) for n, day in enumerate((2, 1))]
    assert graph.write(Write(changes=(), recalled=tuple(seen))) is None
    (row,) = graph.chunks(["c1"])
    assert (row.recall_count, row.last_recalled_at) == (2, at(2))
    assert [row.id for row in graph.outbox()] == [outbox]
    assert graph.counts().changes == 1


# The outbox ---------------------------------------------------------------------------------------


def test_the_outbox_names_what_was_touched_until_cleared(graph: GraphStore) -> None:
    first = graph.write(write(chunks=(chunk(), chunk("c2")), entities=(entity(),)))
    second = graph.write(write(chunks=(chunk(text="other"),)))
    assert graph.write(write(mentions=(mention(),), jobs=(job(),), sessions=(session(),))) is None
    one, two = graph.outbox()
    assert (one.id, one.chunks, one.entities) == (first, ("c1", "c2"), ("e1",))
    assert (two.id, two.chunks, two.entities) == (second, ("c1",), ())
    assert one.at < two.at
    graph.clear_outbox([first, "nope", first])
    assert ids(graph.outbox()) == [second]
    graph.clear_outbox([])
    graph.clear_outbox([second])
    assert graph.outbox() == ()


# Lists --------------------------------------------------------------------------------------------


def filtered() -> tuple[Chunk, ...]:
    def when(n: int, **times: datetime) -> Times:
        return Times(recorded_at=at(n), **times)

    return (
        chunk("c0", times=when(0), kind="passage", document="d1", position=1),
        chunk("c1", times=when(1), kind="fact", layer="verified", scope="/project/alpha"),
        chunk("c2", times=when(2), scope="/project/alphabet", categories=("a", "b")),
        chunk("c3", times=when(3), scope="/project/alpha/x", private=True, categories=("b",)),
        chunk("c4", times=when(4), state="archived", confidence=0.2),
        chunk("c5", times=when(5), kind="event", happened_at=at(10), session="s1", position=2),
        chunk("c6", times=when(6), kind="event", happened_at=at(20), session="s1", position=1),
        chunk("c7", times=when(7, valid_from=at(3), valid_to=at(8)), expires_at=at(6)),
        chunk("c8", times=when(8, retired_at=at(9)), state="superseded"),
        chunk("c9", times=when(9), project="q", document="d1", position=0),
    )


FILTERS = {
    "everything": (ChunkFilter(states=()), "9876543210"),
    "live": (ChunkFilter(), "97653210"),
    "project": (ChunkFilter(projects=("q", "nope")), "9"),
    "kinds": (ChunkFilter(kinds=("fact", "event")), "651"),
    "layer": (ChunkFilter(layers=("verified",)), "1"),
    "states": (ChunkFilter(states=("archived", "superseded")), "84"),
    "scope": (ChunkFilter(scope="/project/alpha"), "31"),
    "scope of nothing": (ChunkFilter(scope="/project/al"), ""),
    "category": (ChunkFilter(categories=("a", "zzz")), "2"),
    "categories": (ChunkFilter(categories=("a", "b")), "32"),
    "not private": (ChunkFilter(include_private=False), "9765210"),
    "confidence": (ChunkFilter(states=(), min_confidence=0.5), "987653210"),
    "happened": (ChunkFilter(happened_from=at(10), happened_to=at(19)), "5"),
    "valid": (ChunkFilter(at=at(5), kinds=("note",), projects=("p",)), "732"),
    "expired": (ChunkFilter(at=at(6), kinds=("note",), projects=("p",)), "32"),
    "known": (ChunkFilter(states=(), known_at=at(8.5)), "876543210"),
    "retired": (ChunkFilter(states=(), known_at=at(9)), "976543210"),
    "document": (ChunkFilter(documents=("d1",)), "90"),
    "session": (ChunkFilter(sessions=("s1",)), "65"),
}


def test_a_filter_admits_in_the_store_what_it_admits(graph: GraphStore) -> None:
    graph.write(write(documents=(document(),), sessions=(session(),), chunks=filtered()))
    for name, (where, expected) in FILTERS.items():
        found = ids(graph.list_chunks(where, Listing()))
        assert "".join(id[1] for id in found) == expected, name
        assert {row.id for row in filtered() if where.admits(row)} == set(found), name


def test_chunks_by_time_by_type_and_by_what_they_mention(graph: GraphStore) -> None:
    rows = (
        chunk("c1", kind="event", event_type="release", happened_at=at(3), session="s1", position=1),
        chunk("c2", kind="event", event_type="release", happened_at=at(1), session="s1", position=2),
        chunk("c3", kind="event", event_type="O'Neil `x`", happened_at=at(2), expires_at=at(5)),
        chunk("c4", times=Times(recorded_at=at(1))),
    )
    named = (mention("c1", "e1"), mention("c3", "e1", count=3), mention("c4", "e1"))
    graph.write(write(sessions=(session(),), chunks=rows, entities=(entity(),), mentions=named))
    found = graph.list_chunks
    everywhere, said = ChunkFilter(), ChunkFilter(sessions=("s1",))
    assert ids(found(everywhere, Listing(), by_time=True)) == ["c2", "c3", "c1"]
    assert ids(found(everywhere, Listing(limit=1, offset=1), by_time=True)) == ["c3"]
    assert ids(found(said, Listing(), by_time=True, mentioning="e1")) == ["c1"]
    assert ids(found(everywhere, Listing(), event_type="O'Neil `x`")) == ["c3"]
    assert ids(found(everywhere, Listing(), mentioning="e1")) == ["c4", "c3", "c1"]
    assert ids(found(everywhere, Listing(), mentioning="e9", by_time=True)) == []
    assert ids(found(everywhere, Listing(), expired_by=at(5))) == ["c3"]
    assert ids(found(everywhere, Listing(), expired_by=at(4))) == []


def test_chunks_of_one_document_or_session_come_by_position(graph: GraphStore) -> None:
    rows = tuple(
        chunk(f"c{n}", document="d1", position=9 - n, times=Times(recorded_at=at(n))) for n in range(4)
    )
    graph.write(write(documents=(document(),), chunks=rows))
    assert ids(graph.list_chunks(ChunkFilter(documents=("d1",)), Listing())) == ["c3", "c2", "c1", "c0"]
    same = tuple(chunk(f"k{n}", position=9 - n, times=Times(recorded_at=at(50))) for n in range(3))
    graph.write(write(chunks=same))
    assert ids(graph.list_chunks(ChunkFilter(), Listing(limit=4))) == ["k2", "k1", "k0", "c3"]


def test_pages_cover_a_list_without_overlap(graph: GraphStore) -> None:
    graph.write(
        write(
            chunks=tuple(chunk(f"c{n}", times=Times(recorded_at=at(n))) for n in range(7)),
            documents=tuple(document(f"d{n}", times=Times(recorded_at=at(-n))) for n in range(7)),
            entities=tuple(entity(f"e{n}", mention_count=n % 3) for n in range(7)),
            sessions=tuple(session(f"s{n}", last_at=at(n)) for n in range(7)),
            relations=tuple(relation("e0", f"t{n}", "e1", times=Times(recorded_at=at(n))) for n in range(7)),
        )
    )
    lists = {
        "chunks": lambda page: graph.list_chunks(ChunkFilter(projects=("p",)), page),
        "documents": lambda page: graph.list_documents("p", page),
        "entities": lambda page: graph.list_entities("p", page),
        "sessions": lambda page: graph.list_sessions("p", page),
        "relations": lambda page: graph.list_relations("p", page),
    }
    expected = {
        "chunks": "6543210",
        "documents": "0123456",
        "entities": "2514036",
        "sessions": "6543210",
    }
    for name, rows in lists.items():
        whole = rows(Listing(limit=10**9))
        assert len(whole) == 7
        if name in expected:
            assert "".join(id[1] for id in ids(whole)) == expected[name]
        pages = [rows(Listing(limit=3, offset=offset)) for offset in (0, 3, 6, 9, 10**9)]
        assert tuple(row for page in pages for row in page) == whole
        assert rows(Listing(limit=0)) == ()
        for bad in (Listing(limit=-1), Listing(offset=-1)):
            with pytest.raises(InvalidInputError, match="negative"):
                rows(bad)
    assert [row.type for row in lists["relations"](Listing(limit=2))] == ["t6", "t5"]


def test_lists_look_at_type_state_and_project(graph: GraphStore) -> None:
    graph.write(
        write(
            documents=(document(), document("d2", state="archived"), document("d3", project="q")),
            entities=(
                entity("e1", "C++", type="language"),
                entity("e2", "C#", aliases=("C Sharp", "Großes C")),
                entity("e3", "MOSKVA Straße"),
                entity("e4", "C++", project="q"),
            ),
            relations=(
                relation("e1", "a", "e2"),
                relation("e1", "b", "e2", state="superseded"),
                relation("e4", "a", "e4", project="q"),
            ),
        )
    )
    assert ids(graph.list_documents("p", Listing())) == ["d1"]
    assert ids(graph.list_documents("p", Listing(), states=("archived",))) == ["d2"]
    assert ids(graph.list_documents("p", Listing(), states=())) == ["d1", "d2"]
    assert ids(graph.list_entities("p", Listing(), containing=" c+ ".strip())) == ["e1"]
    assert ids(graph.list_entities("p", Listing(), containing="STRASSE")) == ["e3"]
    assert ids(graph.list_entities("p", Listing(), containing="")) == ["e1", "e2", "e3"]
    assert ids(graph.list_entities("p", Listing(), containing="ｓHARP")) == ["e2"], "an alias, normalised"
    assert ids(graph.list_entities("p", Listing(), containing="sse")) == ["e2", "e3"]
    assert ids(graph.list_entities("p", Listing(limit=1, offset=1), containing="sse")) == ["e3"]
    assert ids(graph.list_entities("p", Listing(), containing="e2")) == ["e2"], "its id"
    assert ids(graph.list_entities("q", Listing(), containing="e2")) == []
    assert ids(graph.list_entities("p", Listing(), containing="sharp", type="language")) == []
    assert ids(graph.list_entities("q", Listing(), containing="sharp")) == []
    assert ids(graph.list_entities("p", Listing(), type="language")) == ["e1"]
    assert ids(graph.list_relations("p", Listing(), type="a")) == ["r_e1_a_e2"]
    assert ids(graph.list_relations("p", Listing(), states=("superseded",))) == ["r_e1_b_e2"]
    assert len(graph.list_relations("p", Listing(), states=())) == 2


FIRST = Listing()


def test_relations_with_a_verdict_come_longest_verified_first(graph: GraphStore) -> None:
    deferred = {"verdict": "deferred", "probability": 0.5, "verifier": "srmkg:1"}
    graph.write(
        write(
            entities=(entity("e1"), entity("e2")),
            relations=(
                relation("e1", "a", "e2", **deferred, verified_at=at(5)),
                relation("e1", "b", "e2", **deferred, verified_at=at(2)),
                relation("e1", "c", "e2", **deferred, times=Times(recorded_at=at(3))),
                relation("e1", "d", "e2", **deferred, verified_at=at(1), state="archived"),
                relation("e1", "e", "e2", verdict="accepted", verified_at=at(4)),
                relation("e1", "f", "e2"),
            ),
        )
    )

    def types(*verdicts: Decision, page: Listing = FIRST) -> str:
        return "".join(row.type for row in graph.list_relations("p", page, verdicts=verdicts))

    assert types("deferred") == "bca"
    assert types("deferred", page=Listing(limit=1, offset=1)) == "c"
    assert types("deferred", "accepted") == "bcea"
    assert types("rejected") == ""
    assert len(types()) == 5


# Counts, scans, the snapshot's tables, facts ------------------------------------------------------


def test_counts_are_of_active_rows_by_project(graph: GraphStore) -> None:
    assert graph.projects() == ()
    assert graph.last_change_at() is None
    graph.write(
        write(
            documents=(document(), document("d2", state="archived")),
            chunks=(
                chunk(kind="passage"),
                chunk("c2"),
                chunk("c3", state="superseded"),
                chunk("c4", project="old", state="archived"),
            ),
            entities=(entity(), entity("e2"), entity("e3", project="q")),
            relations=(relation(), relation(type="x", state="archived")),
            mentions=(mention(), mention("c4", "e3")),
            links=(link(state="archived"),),
            sessions=(session(project="z"),),
        )
    )
    assert graph.counts("p") == Counts(
        documents=1, chunks=2, memories=1, entities=2, relations=1, mentions=1, links=1, changes=1
    )
    everything = graph.counts()
    assert (everything.entities, everything.mentions, everything.sessions) == (3, 2, 1)
    assert graph.counts("nowhere") == Counts()
    none = {"documents": 0, "chunks": 0, "memories": 0, "entities": 0, "relations": 0}
    assert graph.projects() == (
        ProjectView(**{**none, "name": "old"}),
        ProjectView(name="p", documents=1, chunks=2, memories=1, entities=2, relations=1),
        ProjectView(**{**none, "name": "q", "entities": 1}),
        ProjectView(**{**none, "name": "z"}),
    )


def test_a_write_goes_through_between_two_batches_of_a_scan(graph: GraphStore) -> None:
    graph.write(write(chunks=tuple(chunk(f"c{n}") for n in range(4))))
    scan = graph.scan(CHUNK, 2)
    next(scan)
    graph.write(write(chunks=(chunk("c3", "changed"),)))
    graph.checkpoint()
    assert next(scan)[1].text == "changed"


def test_the_snapshots_tables_hold_one_project_of_every_state(graph: GraphStore) -> None:
    times = Times(recorded_at=at(0), retired_at=at(1), valid_from=at(-1), valid_to=at(2))
    graph.write(
        write(
            documents=(document(),),
            chunks=(
                chunk(state="archived", document="d1", position=4),
                chunk("c2", kind="fact"),
                chunk("q1", project="q"),
            ),
            entities=(entity(aliases=("A",)), entity("e2"), entity("q2", project="q")),
            relations=(relation(times=times, confidence=0.25, layer="shared", bidirectional=True),),
            mentions=(mention(count=3), mention("q1", "e1"), mention("c1", "q2")),
            links=(link(state="superseded"), link("c1", "q1")),
        )
    )
    for project in ("nowhere", "p"):
        nodes, edges = graph.graph_tables(project)
        assert nodes.schema.equals(node_columns())
        assert edges.schema.equals(edge_columns())
        assert (nodes.num_rows, edges.num_rows) == ((0, 0) if project == "nowhere" else (4, 3))
    assert {row["id"] for row in nodes.to_pylist()} == {"c1", "c2", "e1", "e2"}
    by_id = {row["id"]: row for row in nodes.to_pylist()}
    assert by_id["e1"] == {
        **dict.fromkeys(node_columns().names),
        "id": "e1",
        "is_chunk": False,
        "type": "thing",
        "name": "Ada",
        "key": "ada",
        "aliases": ["A"],
    }
    assert by_id["e2"]["aliases"] == []
    assert (by_id["c1"]["state"], by_id["c1"]["document"], by_id["c1"]["position"]) == ("archived", "d1", 4)
    assert by_id["c1"]["is_chunk"] and by_id["c2"]["type"] == "fact" and by_id["c2"]["aliases"] is None
    by_kind = {row["kind"]: row for row in edges.to_pylist()}
    assert edges.num_rows == len(by_kind) == 3
    assert by_kind["mention"] == {
        **dict.fromkeys(edge_columns().names),
        "source": "c1",
        "target": "e1",
        "kind": "mention",
        "weight": 3.0,
    }
    assert by_kind["relation"]["weight"] == 0.25
    assert by_kind["relation"]["bidirectional"] is True
    assert by_kind["relation"]["valid_from"] == at(-1)
    assert by_kind["relation"]["retired_at"] == at(1)
    assert (by_kind["link"]["type"], by_kind["link"]["state"]) == ("supports", "superseded")


def test_the_snapshots_tables_say_what_nothing_states(graph: GraphStore) -> None:
    guess = relation("e1", "knows", "e2", origin="inferred")
    said = relation("e1", "meets", "e2", origin="inferred", quote="Ada met Bob.")
    confirmed = relation("e1", "pays", "e2", origin="inferred", layer="verified")
    graph.write(write(entities=(entity(), entity("e2")), relations=(guess, said, confirmed, relation())))
    rows = graph.graph_tables("p")[1].to_pylist()
    told = {row["id"]: row["supposed"] for row in rows}
    assert told == {row.id: row.supposed for row in (guess, said, confirmed, relation())}
    assert [id for id, supposed in told.items() if supposed] == [guess.id]


def test_names_lead_to_the_entities_that_a_snapshot_finds(graph: GraphStore) -> None:
    graph.write(
        write(
            entities=(
                entity("e1", "Ada Lovelace", aliases=("Ada", "Bob")),
                entity("e2", "Bob"),
                entity("e3", "Eve", aliases=("ADA", "É  V")),
                entity("q1", "Zoe", project="q", aliases=("Ada",)),
            )
        )
    )
    keys = ["ada lovelace", "ada", "bob", "eve", "é v", "zoe", "nobody", ""]
    found = graph.entities_called("p", keys)
    assert found == {"ada lovelace": "e1", "ada": "e1", "bob": "e2", "eve": "e3", "é v": "e3"}
    assert found == load("p", *graph.graph_tables("p")).names.lookup(keys)
    assert graph.entities_called("p", []) == graph.entities_called("nowhere", keys) == {}


def test_the_stores_own_facts(new_graph: GraphStore) -> None:
    assert new_graph.meta() == {"schema_version": str(SCHEMA_VERSION)}
    new_graph.set_meta({"embedder": "a'b", "dimension": "384"})
    new_graph.set_meta({"embedder": "東京"})
    assert (new_graph.meta()["embedder"], new_graph.meta()["dimension"]) == ("東京", "384")


def test_the_answer_of_a_request_is_kept_with_its_write(graph: GraphStore) -> None:
    row = RequestRow(id="東京 '1'", operation="remember", answer='{"id": "c1"}', at=at(0))
    with pytest.raises(InvalidInputError):
        graph.write(write(chunks=(chunk(document="nowhere"),), requests=(row,)))
    assert graph.request(row.id) is None
    graph.write(write(chunks=(chunk(),), requests=(row,)))
    assert graph.request(row.id) == row
    assert graph.chunks(["c1"]) == (chunk(),)
    later = dataclasses.replace(row, answer='{"id": "c2"}')
    other = dataclasses.replace(row, id="2", at=at(1))
    assert graph.write(Write(changes=(), requests=(later, other))) is None
    assert (graph.request(row.id), graph.request("2")) == (later, other)


def test_old_answers_are_dropped(graph: GraphStore) -> None:
    rows = [RequestRow(id=str(n), operation="forget", answer="{}", at=at(n)) for n in range(3)]
    graph.write(Write(changes=(), requests=tuple(rows)))
    graph.drop_requests(at(1))
    assert [row for n in range(3) if (row := graph.request(str(n)))] == rows[1:]
    graph.drop_requests(at(1))
    graph.write(Write(changes=(), requests=(rows[0],)))
    assert graph.request("0") == rows[0]


# Threads and the end ------------------------------------------------------------------------------


def test_threads_write_and_read_together_and_lose_nothing(graph: GraphStore) -> None:
    def work(name: int) -> None:
        for n in range(5):
            row = chunk(f"c{name}_{n}")
            graph.write(write(chunks=(row,), entities=(entity("shared", mention_count=n),)))
            assert graph.chunks([row.id]) == (row,)
            assert graph.list_entities("p", Listing())

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(work, range(6)))
    assert graph.counts().chunks == len(graph.outbox()) == 30


def test_a_closed_store_says_so(new_graph: GraphStore) -> None:
    new_graph.close()
    new_graph.close()
    uses = (new_graph.counts, new_graph.outbox, new_graph.checkpoint)
    for use in (*uses, lambda: new_graph.write(write(chunks=(chunk(),)))):
        with pytest.raises(StorageError, match="closed"):
            use()


def test_a_large_text_is_stored_whole(graph: GraphStore) -> None:
    text = "слово and word " * 100_000
    graph.write(write(chunks=(chunk(text=text),)))
    assert graph.chunks(["c1"])[0].text == text


def test_normalising_a_row_twice_changes_nothing() -> None:
    row = chunk(
        metadata={"a": (1, 2)}, categories=["x"], happened_at=T0.astimezone(timezone(timedelta(hours=1)))
    )
    once = normalise(CHUNK, row)
    assert normalise(CHUNK, once) == once
    assert once.metadata == {"a": [1, 2]}
    change = record("x", project="p", target="t", after={"a": 1})
    assert normalise(CHANGE, change) == change


def test_chunks_become_ready_without_a_change(graph: GraphStore) -> None:
    graph.write(write(chunks=(chunk("c1", vector_state="pending"), chunk("c2", vector_state="pending"))))
    graph.clear_outbox([row.id for row in graph.outbox()])
    assert graph.write(Write(changes=(), embedded=("c1", "gone"))) is not None
    assert [row.vector_state for row in graph.chunks(["c1", "c2"])] == ["ready", "pending"]
    assert [row.chunks for row in graph.outbox()] == [("c1", "gone")]


# Items --------------------------------------------------------------------------------------------


def test_the_places_of_items_are_those_of_their_rows(graph: GraphStore) -> None:
    rows = (item(expires_at=at(3)), item("i2", namespace=(), session="talk", position=7, updated_at=at(1)))
    graph.write(write(items=rows))
    fields = [field.name for field in dataclasses.fields(ItemPlace)]
    found = {place.id: [getattr(place, name) for name in fields] for place in graph.item_places()}
    assert found == {row.id: [getattr(row, name) for name in fields] for row in rows}
    graph.write(Write(changes=write().changes, removed=Removal(items=("i1", "i9"))))
    assert [place.id for place in graph.item_places()] == ["i2"]


def test_a_refreshed_item_needs_no_change_and_another_row_does(graph: GraphStore) -> None:
    graph.write(write(items=(item(),), chunks=(chunk(),)))
    before = len(graph.changes())
    later = item(expires_at=at(9))
    graph.write(Write(changes=(), items=(later,), chunks=(chunk(expires_at=at(9)),), refreshed=True))
    assert graph.nodes(ITEM, ["i1"]) == (later,) and len(graph.changes()) == before
    assert graph.chunks(["c1"])[0].expires_at == at(9)
    with pytest.raises(InvalidInputError, match="without a Change"):
        graph.write(Write(changes=(), items=(item(),)))
    with pytest.raises(InvalidInputError, match="without a Change"):
        graph.write(Write(changes=(), documents=(document(),), items=(item(),), refreshed=True))


def test_the_snapshots_tables_hold_the_weight_of_a_relation_in_walks(graph: GraphStore) -> None:
    judged = (
        {},
        {"verdict": "deferred", "probability": 0.5},
        {"verdict": "accepted", "probability": 0.8, "verifier": "srmkg:1"},
        {"verdict": "accepted", "probability": 0.1, "verifier": "srmkg:1"},
        {"verdict": "accepted", "probability": 0.1},
        {"verdict": "accepted", "probability": 0.1, "verifier": "person:ada"},
        {"verdict": "accepted", "probability": 0.1, "verifier": "vog:model"},
        {"verdict": "deferred", "probability": 0.4, "verifier": "vog:model"},
        {"verdict": "accepted", "probability": DOUBTED, "verifier": "srmkg:1"},
        {"verdict": "deferred", "probability": 0.1, "origin": "asserted"},
        {"verdict": "accepted", "probability": 0.6, "origin": "inferred"},
    )
    rows = [relation(type=f"t{n}", confidence=0.9, **fields) for n, fields in enumerate(judged)]
    graph.write(write(entities=(entity(), entity("e2")), relations=tuple(rows)))
    found = {row["id"]: row["weight"] for row in graph.graph_tables("p")[1].to_pylist()}
    assert found == pytest.approx({row.id: row.weight for row in rows}, rel=1e-6)
