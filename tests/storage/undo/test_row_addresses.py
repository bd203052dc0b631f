"""Rows by their names: whatever table they are of, and only those that were asked for."""

from hydramem.storage.schema import CHANGE, CHUNK, DOCUMENT, ENTITY, LINKS, MENTIONS, RELATES, SESSION
from hydramem.storage.store import GraphStore
from hydramem.storage.undo.row_images import address_of, as_text, from_text, rows_at
from tests.storage.rows import chunk, document, entity, link, mention, relation, session, write

LOVES = relation(type="loves")
KNOWS = relation(type="knows")
ROWS = {
    DOCUMENT: (document(),),
    SESSION: (session(),),
    ENTITY: (entity(), entity("e2", "B"), entity("e3", "C")),
    CHUNK: (chunk(), chunk("c2", "C leads B.")),
    MENTIONS: (mention(), mention("c1", "e2")),
    RELATES: (LOVES, KNOWS, relation("e1", "leads", "e3")),
    LINKS: (link("c1", "c2"),),
}


def filled(graph: GraphStore) -> dict:
    graph.write(
        write(
            documents=ROWS[DOCUMENT],
            sessions=ROWS[SESSION],
            entities=ROWS[ENTITY],
            chunks=ROWS[CHUNK],
            mentions=ROWS[MENTIONS],
            relations=ROWS[RELATES],
            links=ROWS[LINKS],
        )
    )
    change = graph.changes()[0]
    named = {address_of(table, row): row for table, rows in ROWS.items() for row in rows}
    return named | {address_of(CHANGE, change): change}


def test_rows_of_every_table_are_read_by_their_names(graph: GraphStore) -> None:
    named = filled(graph)
    assert rows_at(named, graph) == named


def test_only_what_was_asked_for_and_is_there_comes_back(graph: GraphStore) -> None:
    filled(graph)
    # Each stands beside others: under the same chunk, between the same two things, around the same name.
    asked = [address_of(MENTIONS, mention("c1", "e2")), address_of(RELATES, KNOWS)]
    gone = [
        ("Chunk", ("c9",)),
        ("Change", ("x_9",)),
        ("RELATES", ("e1", "e2", "r_9")),
        ("LINKS", ("c2", "c1", "l")),
    ]
    assert list(rows_at([*asked, *gone, *asked], graph)) == asked
    assert rows_at([], graph) == {}


def test_many_relations_are_read_as_a_few_are(graph: GraphStore) -> None:
    things = [entity(f"e{number}", f"N {number}") for number in range(501)]
    spokes = [relation("e0", "knows", f"e{number}") for number in range(1, 501)]
    back = [relation(f"e{number}", "knows", "e0") for number in range(1, 501)]
    graph.write(write(entities=tuple(things), relations=(*spokes, *back)))
    for wanted in (spokes[:2], spokes[:450]):
        names = {address_of(RELATES, row): row for row in wanted}
        assert rows_at(names, graph) == names


def test_a_name_in_one_line_reads_back() -> None:
    for table, rows in ROWS.items():
        for row in rows:
            assert from_text(as_text(address_of(table, row))) == address_of(table, row)
