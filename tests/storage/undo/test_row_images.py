"""What a write leaves to be undone by: rows made, columns set and rows removed, on its first Change."""

import json
from dataclasses import replace

from hydramem.core.row_types import Times
from hydramem.storage.changes import record
from hydramem.storage.row_codec import encode
from hydramem.storage.schema import CHUNK, ENTITY, MENTIONS, RELATES
from hydramem.storage.store import GraphStore
from hydramem.storage.undo.row_images import Trace, digest, joined
from hydramem.storage.write import Removal, Write
from tests.storage.rows import at, chunk, entity, job, link, mention, relation, write


def image(graph: GraphStore, written: Write) -> str:
    graph.write(written)
    first, *others = (graph.changes(target=change.target) for change in written.changes)
    assert all(change.image is None for rows in others for change in rows)
    return first[-1].image or ""


def traces(text: str) -> dict[tuple[str, ...], Trace]:
    return {trace.key: trace for trace in joined([text])}


def test_rows_made_are_named_with_a_digest(graph: GraphStore) -> None:
    rows = (entity(mention_count=1), entity("e2", "Bob"))
    told = traces(
        image(
            graph,
            write(
                chunks=(chunk(),),
                entities=rows,
                mentions=(mention(),),
                relations=(relation(),),
                jobs=(job(),),
            ),
        )
    )
    assert told.keys() == {("c1",), ("e1",), ("e2",), ("e1", "e2", "r_e1_leads_e2")}
    assert all(trace.before is None for trace in told.values())
    assert told["c1",].digest == digest(CHUNK, encode(CHUNK, graph.chunks(["c1"])[0]))


def test_rows_replaced_tell_the_columns_that_differ(graph: GraphStore) -> None:
    graph.write(write(chunks=(chunk(),), entities=(entity(), entity("e2", "Bob")), relations=(relation(),)))
    after = chunk(state="archived", times=Times(recorded_at=at(0), retired_at=at(1)))
    told = traces(
        image(
            graph,
            Write(
                changes=(record("test", project="p", target="a"), record("test", project="p", target="b")),
                chunks=(after,),
                entities=(entity(mention_count=2, last_seen=at(2)), entity("e2", "Bob", mention_count=1)),
                relations=(relation(evidence=("c1",)),),
                mentions=(mention(),),
            ),
        )
    )
    assert told.keys() == {("c1",), ("e1",), ("c1", "e1"), ("e1", "e2", "r_e1_leads_e2")}
    assert told["c1",].before == {"state": "active", "retired_at": None}
    assert told["c1",].after == {"state": "archived", "retired_at": encode(CHUNK, after)["retired_at"]}
    assert told["e1",].before == {"last_seen": encode(ENTITY, entity())["last_seen"]}
    assert told["e1",].digest is None  # what follows from mentions is no change of the row
    assert told["e1", "e2", "r_e1_leads_e2"].before == {"evidence": []}
    assert told["c1", "e1"].before is None


def test_rows_removed_are_whole_and_their_edges_with_them(graph: GraphStore) -> None:
    rows = (chunk(), chunk("c2"))
    edges = {"mentions": (mention(), mention("c2")), "links": (link(), link("c2", "c1"))}
    graph.write(write(chunks=rows, entities=(entity(),), **edges))
    told = traces(image(graph, write(removed=Removal(chunks=("c1", "nope"), mentions=(("c2", "e1"),)))))
    assert told["c1",].before == encode(CHUNK, chunk())
    assert told.keys() == {
        ("c1",),
        ("c1", "e1"),
        ("c2", "e1"),
        ("c1", "c2", "l_c1_c2"),
        ("c2", "c1", "l_c2_c1"),
    }
    assert all(trace.whole and trace.after is None for trace in told.values())


def test_a_row_removed_and_put_anew_is_one_trace(graph: GraphStore) -> None:
    graph.write(write(chunks=(chunk(),)))
    told = traces(image(graph, write(chunks=(chunk(text="New."),), removed=Removal(chunks=("c1",)))))
    assert told["c1",].before == encode(CHUNK, chunk())
    assert told["c1",].digest == digest(CHUNK, encode(CHUNK, chunk(text="New.")))


def test_nothing_done_leaves_no_image(graph: GraphStore) -> None:
    graph.write(write(chunks=(chunk(),)))
    assert image(graph, write(chunks=(chunk(recall_count=3),), jobs=(job(),))) == ""
    graph.write(Write(changes=(), jobs=(job("j2"),)))


def test_images_list_rows_by_key_whatever_the_order_of_the_write(graph: GraphStore) -> None:
    told = json.loads(image(graph, write(chunks=(chunk("c2"), chunk("c1")))))
    assert [row[0] for row in told["made"]["Chunk"]] == ["c1", "c2"]


def test_a_run_is_what_its_writes_did_in_the_end(graph: GraphStore) -> None:
    graph.write(write(chunks=(chunk(), chunk("c2"), chunk("c3")), entities=(entity(),)))
    steps = (
        write(chunks=(chunk("c4"), chunk("c5"), chunk(state="archived"))),
        write(
            chunks=(chunk("c4", state="archived"), chunk(state="archived", scope="/a")),
            mentions=(mention("c2"),),
        ),
        write(
            chunks=(chunk("c2", layer="shared"),), removed=Removal(chunks=("c5",), mentions=(("c2", "e1"),))
        ),
        write(removed=Removal(chunks=("c2", "c3"))),
        write(chunks=(chunk("c3", state="quarantined"),)),
    )
    steps = tuple(
        replace(each, changes=(record("x", project="p", target=f"t{n}"),)) for n, each in enumerate(steps)
    )
    told = {(trace.table, trace.key): trace for trace in joined(image(graph, each) for each in steps)}
    assert told.keys() == {(CHUNK, (f"c{n}",)) for n in (1, 2, 3, 4)}
    assert told[CHUNK, ("c4",)].before is None
    assert told[CHUNK, ("c4",)].digest == digest(CHUNK, encode(CHUNK, chunk("c4", state="archived")))
    assert told[CHUNK, ("c1",)].before == {"state": "active", "scope": "/"}
    assert told[CHUNK, ("c2",)].before == encode(CHUNK, chunk("c2"))
    assert told[CHUNK, ("c2",)].after is None
    assert told[CHUNK, ("c3",)].before == encode(CHUNK, chunk("c3"))
    assert told[CHUNK, ("c3",)].after is not None


def test_digests_leave_out_what_is_counted() -> None:
    counted = entity(mention_count=3, last_seen=at(4))
    assert digest(ENTITY, encode(ENTITY, entity())) == digest(ENTITY, encode(ENTITY, counted))
    assert digest(RELATES, encode(RELATES, relation())) != digest(
        RELATES, encode(RELATES, relation(quote="x"))
    )
    assert digest(MENTIONS, encode(MENTIONS, mention())) != digest(
        MENTIONS, encode(MENTIONS, mention(count=2))
    )
