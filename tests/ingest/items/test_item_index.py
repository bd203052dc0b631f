"""The index of items is what a scan of the store would say, after any writes."""

from dataclasses import replace
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from hydramem.core.row_types import Item
from hydramem.ingest.items.item_index import ItemIndex
from hydramem.storage.changes import record
from hydramem.storage.in_memory.graph import InMemoryGraph
from hydramem.storage.schema import ITEM
from hydramem.storage.write import Removal, Write
from tests.examples import FEW
from tests.storage.rows import T0

NAMESPACES = [("a",), ("a", "b"), ("a", "bc"), ("d",)]


def item(number: int, namespace: tuple[str, ...], step: int, minutes: int | None) -> Item:
    moment = T0 + timedelta(seconds=step)
    end = None if minutes is None else T0 + timedelta(minutes=minutes)
    return Item(
        id=f"i_{number}", project="p", namespace=namespace, key=str(number), value="{}", created_at=T0,
        updated_at=moment, expires_at=end,
    )  # fmt: skip


def said(number: int) -> Item:
    return replace(item(number, (), 0, None), id=f"i_s{number}", session="s", position=number)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.integers(0, 9), st.sampled_from([None, 5, 50])),
        st.tuples(st.just("remove"), st.integers(0, 9), st.none()),
        st.tuples(st.just("say"), st.integers(0, 9), st.none()),
        st.tuples(st.just("unsay"), st.integers(0, 9), st.none()),
        st.tuples(st.just("forget"), st.just(0), st.none()),
    ),
    max_size=30,
)


@FEW
@given(STEPS)
def test_it_follows_every_write(steps: list[tuple[str, int, int | None]]) -> None:
    graph = InMemoryGraph()
    index = ItemIndex(graph)
    index.newest("p", (), T0, 1)
    for step, (what, number, minutes) in enumerate(steps):
        # The namespace is part of what an item's id is made from: an item never moves.
        row = item(number, NAMESPACES[number % 4], step, minutes)
        writes = {
            "put": {"items": (row,)},
            "remove": {"removed": Removal(items=(row.id,))},
            "say": {"items": (said(number),)},
            "unsay": {"removed": Removal(items=(said(number).id,))},
        }
        if what == "forget":
            index.forget()
            continue
        write = Write(changes=(record("put", project="p", target=row.id),), **writes[what])  # type: ignore[arg-type]
        graph.write(write)
        index.apply(write)
    at = T0 + timedelta(minutes=10)
    rows = [row for batch in graph.scan(ITEM) for row in batch]
    live = [row for row in rows if row.session is None and (row.expires_at is None or row.expires_at > at)]
    for prefix in [(), ("a",), ("a", "b"), ("b",)]:
        within = [row for row in live if row.namespace[: len(prefix)] == prefix]
        newest = sorted(within, key=lambda row: row.updated_at, reverse=True)
        assert index.newest("p", prefix, at, 99) == [row.id for row in newest]
        assert index.newest("p", prefix, at, 2) == [row.id for row in newest[:2]]
        assert index.namespaces("p", prefix, at) == sorted({row.namespace for row in within})
    spoken = sorted((row for row in rows if row.session), key=lambda row: -row.position)
    assert index.session("p", "s") == [row.id for row in spoken]
    assert set(index.expired(at)) == {row.id for row in rows if row.expires_at and row.expires_at <= at}
    assert index.newest("q", (), at, 9) == index.session("q", "s") == []
