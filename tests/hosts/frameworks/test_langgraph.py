"""The store for LangGraph: what the public tests of its own stores look at; and LangMem on it."""

import asyncio
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langgraph", reason="tests of frameworks run in an environment of their own")

from langgraph.graph import END, START, StateGraph
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    Item,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchItem,
    SearchOp,
)
from langgraph.store.base.batch import AsyncBatchedBaseStore
from typing_extensions import TypedDict

import hydramem
from hydramem.core.time import clock
from hydramem.hosts.frameworks.langgraph import HydraMemStore
from hydramem.ingest.items import put_items, read_items
from tests.hosts.frameworks.conftest import IN_MEMORY

DOCS = ("docs",)


@pytest.fixture
def store(memory: hydramem.Memory) -> HydraMemStore:
    return HydraMemStore(memory)


def keys(found: Any) -> list[str]:
    return [item.key for item in found]


# Batches ------------------------------------------------------------------------------------------


def test_reads_of_a_batch_see_what_was_before_it_and_the_last_put_of_a_key_wins(store: HydraMemStore) -> None:
    store.put(DOCS, "k", {"n": 0})
    results = store.batch(
        [
            PutOp(DOCS, "k", {"n": 1}),
            GetOp(DOCS, "k"),
            SearchOp(DOCS),
            PutOp(DOCS, "k", {"n": 2}),
            PutOp(("new",), "k", {"n": 3}),
            ListNamespacesOp(),
            GetOp(DOCS, "missing"),
        ]
    )
    assert [results[place] for place in (0, 3, 4, 6)] == [None] * 4 and results[5] == [DOCS]
    assert results[1].value == results[2][0].value == {"n": 0}
    assert store.get(DOCS, "k").value == {"n": 2} and store.get(("new",), "k").value == {"n": 3}
    store.batch([PutOp(DOCS, "k", {"n": 1}), PutOp(DOCS, "k", None)])
    assert store.get(DOCS, "k") is None
    store.batch([PutOp(DOCS, "k", None), PutOp(DOCS, "k", {"n": 2})])
    assert store.get(DOCS, "k").value == {"n": 2}
    store.delete(DOCS, "k")
    store.delete(DOCS, "k")
    assert store.search(DOCS) == []


def test_a_batch_with_a_wrong_operation_writes_nothing(store: HydraMemStore) -> None:
    for wrong, error in (
        ("get", ValueError),
        (PutOp(DOCS, "l", {"n": object()}), ValueError),
        (PutOp(("a.b",), "k", {}), InvalidNamespaceError),
        (GetOp(("a", ""), "k"), InvalidNamespaceError),
        (SearchOp(("a.b",)), InvalidNamespaceError),
        (ListNamespacesOp(match_conditions=(MatchCondition("prefix", ("a\0",)),)), InvalidNamespaceError),
    ):
        with pytest.raises(error):
            store.batch([PutOp(DOCS, "k", {"n": 1}), wrong])  # type: ignore[list-item]
    for namespace in ((), ("",), ("langgraph", "x"), ("a", 1)):
        with pytest.raises(InvalidNamespaceError):
            store.put(namespace, "k", {"n": 1})  # type: ignore[arg-type]
    assert store.search(()) == []


def test_items_and_search_items_are_those_of_langgraph(store: HydraMemStore) -> None:
    store.put(DOCS, "k", {"text": "A deep blue sea."})
    item, (found,) = store.get(DOCS, "k"), store.search(DOCS, query="A deep blue sea.")
    assert type(item) is Item and type(found) is SearchItem
    assert (item.namespace, item.key, item.value) == (DOCS, "k", {"text": "A deep blue sea."})
    assert item.created_at == item.updated_at and item.created_at.tzinfo is not None
    assert found.score is not None and 0 < found.score <= 1.0001
    store.put(DOCS, "k", {"text": "Thirteen wild horses."})
    second = store.get(DOCS, "k")
    assert second.created_at == item.created_at and second.updated_at > item.updated_at
    assert store.search(DOCS, query="A deep blue sea.")[0].score < found.score


async def test_calls_of_coroutines_are_the_same(store: HydraMemStore) -> None:
    await asyncio.gather(*(store.aput(DOCS, str(n), {"n": n}) for n in range(8)))
    assert (await store.aget(DOCS, "3")).value == {"n": 3}
    assert len(await store.asearch(DOCS)) == 8 and await store.alist_namespaces() == [DOCS]
    await store.adelete(DOCS, "3")
    assert await store.aget(DOCS, "3") is None


async def test_it_serves_behind_the_store_that_gathers_calls(store: HydraMemStore) -> None:
    batches: list[int] = []

    class Gathering(AsyncBatchedBaseStore):
        def batch(self, ops: Any) -> Any:
            return store.batch(ops)

        async def abatch(self, ops: Any) -> Any:
            given = list(ops)
            batches.append(len(given))
            return await store.abatch(given)

    gathering = Gathering()
    await gathering.aput(DOCS, "k", {"n": 1})
    found = await asyncio.gather(*(gathering.aget(DOCS, "k") for _ in range(5)))
    assert [item.value for item in found] == [{"n": 1}] * 5 and sum(batches) < 6


# Namespaces ---------------------------------------------------------------------------------------


def test_prefixes_are_of_whole_labels_and_an_empty_one_is_everything(store: HydraMemStore) -> None:
    spaces = [("users",), ("users", "ada"), ("users", "adam"), ("Users", "ada"), ("use",), ("a\n",), ("a",)]
    for labels in spaces:
        store.put(labels, "k", {"at": "/".join(labels)})
    assert len(store.search(())) == len(spaces)
    assert {item.namespace for item in store.search(("users",))} == {
        ("users",),
        ("users", "ada"),
        ("users", "adam"),
    }
    assert {item.namespace for item in store.search(("users", "ada"))} == {("users", "ada")}
    assert {item.namespace for item in store.search(("a",))} == {("a",)}


def test_metacharacters_in_labels_and_any_script_are_literal(store: HydraMemStore) -> None:
    store.put(("top", "other"), "k", {"text": "Another one."})
    for label in ("%", "_", "*", "[a]", "a/b", "a'b", '"', "\\", "é", "这是中文", "🚀 🌟"):
        store.put(("top", label), "k", {"text": f"This one {label}"})
        assert [item.namespace for item in store.search(("top", label))] == [("top", label)]
        assert [item.namespace for item in store.search(("top", label), query="one")] == [("top", label)]
        assert store.get(("top", label), "k").value == {"text": f"This one {label}"}
        listed = store.list_namespaces(prefix=("top", label))
        assert listed == [("top", label)] if label != "*" else len(listed) > 1


def test_namespaces_are_listed_by_prefix_suffix_wildcard_depth_and_page(store: HydraMemStore) -> None:
    spaces = [
        ("a", "b", "c"),
        ("a", "b", "d", "e"),
        ("a", "b", "d", "i"),
        ("a", "b", "f"),
        ("a", "c", "f"),
        ("b", "a", "f"),
    ]
    for labels in spaces:
        store.put(labels, "k", {})
    assert store.list_namespaces() == spaces
    assert store.list_namespaces(prefix=("a", "b")) == spaces[:4]
    assert store.list_namespaces(suffix=("f",)) == spaces[3:]
    assert store.list_namespaces(prefix=("a",), suffix=("f",)) == spaces[3:5]
    assert store.list_namespaces(prefix=("a", "*", "f")) == spaces[3:5]
    assert store.list_namespaces(suffix=("*", "f")) == spaces[3:]
    assert store.list_namespaces(prefix=("a", "b"), max_depth=3) == [
        ("a", "b", "c"), ("a", "b", "d"), ("a", "b", "f"),
    ]  # fmt: skip
    assert store.list_namespaces(max_depth=1, limit=1, offset=1) == [("b",)]
    store.delete(("b", "a", "f"), "k")
    assert store.list_namespaces(prefix=("b",)) == []


# Search -------------------------------------------------------------------------------------------


def test_filters(store: HydraMemStore) -> None:
    hostile = "'); MATCH (n) DETACH DELETE n; //"
    store.put(DOCS, "a", {"kind": "note", "stars": 3, "by": {"name": "Ada", "n": 1}, "tags": ["x", "y"]})
    store.put(DOCS, "b", {"kind": "note", "stars": 5, "by": {"name": "Bo"}, "text": hostile})
    store.put(DOCS, "c", {"kind": "task", "stars": 4, "by": {"name": "Ada"}})
    cases: tuple[tuple[dict[str, Any], str], ...] = (
        ({"kind": "note"}, "ab"),
        ({"kind": "note", "stars": 5}, "b"),
        ({"stars": {"$gt": 3}}, "bc"),
        ({"stars": {"$gte": 3, "$lt": 5}}, "ac"),
        ({"kind": {"$ne": "note"}}, "c"),
        ({"kind": {"$eq": "task"}}, "c"),
        ({"by": {"name": "Ada"}}, "ac"),
        ({"by.name": "Bo"}, "b"),
        ({"tags": ["x", "y"]}, "a"),
        ({"tags": ["y", "x"]}, ""),
        ({"text": hostile}, "b"),
    )
    for conditions, found in cases:
        assert sorted(keys(store.search(DOCS, filter=conditions))) == list(found), conditions
        assert sorted(keys(store.search(DOCS, filter=conditions, query="Ada"))) == list(found), conditions
    for wrong, said in (({"stars": {"$near": 3}}, "operator"), ({"a') = 'x' OR '1'='1": "x"}, "filter key")):
        with pytest.raises(ValueError, match=said):
            store.search(DOCS, filter=wrong)


def test_items_without_a_vector_fill_the_page_without_a_score(store: HydraMemStore) -> None:
    store.put(DOCS, "sea", {"text": "A deep blue sea."})
    store.put(DOCS, "no", {"text": "A deep blue sea."}, index=False)
    store.put(DOCS, "sky", {"text": "A pale sky at noon."})
    found = store.search(DOCS, query="A deep blue sea.")
    assert keys(found) == ["sea", "sky", "no"] and found[2].score is None and found[0].score > found[1].score
    assert keys(store.search(DOCS, query="A deep blue sea.", limit=2)) == ["sea", "sky"]
    assert keys(store.search(DOCS, query="A deep blue sea.", limit=2, offset=1)) == ["sky", "no"]


def test_index_of_a_put_says_which_texts_count(memory: hydramem.Memory) -> None:
    store = HydraMemStore(memory, fields=["title"])
    store.put(DOCS, "title", {"title": "Green tea", "body": "Boats on the river"})
    store.put(DOCS, "body", {"title": "Green tea", "body": "Boats on the river"}, index=["body"])
    store.put(
        DOCS, "list", {"notes": [{"text": "Snow"}, {"text": "Boats on the river"}]}, index=["notes[*].text"]
    )
    boats = {item.key: item.score for item in store.search(DOCS, query="Boats on the river")}
    assert boats["body"] == pytest.approx(1, abs=0.01) and boats["list"] == pytest.approx(1, abs=0.01)
    assert boats["title"] < 0.5
    assert keys(store.search(DOCS, query="Green tea"))[0] == "title"
    plain = HydraMemStore(memory, project="plain", fields=None)
    plain.put(DOCS, "k", {"text": "A deep blue sea."}, index=["text"])
    assert [item.score for item in plain.search(DOCS, query="sea")] == [None], "a query is ignored"


def test_a_page_may_be_larger_than_one_call_returns(store: HydraMemStore) -> None:
    store.batch([PutOp(DOCS, str(n), {"n": n}, index=False) for n in range(1100)])
    assert (
        len(store.search(DOCS, limit=2000)) == 1100 and len(store.search(DOCS, limit=50, offset=1090)) == 10
    )
    assert store.search(DOCS, limit=0) == []


# Expiry -------------------------------------------------------------------------------------------


def test_ttl_is_in_minutes_and_reads_keep_an_item(
    memory: hydramem.Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    minutes = 0.0

    def later() -> datetime:
        return clock() + timedelta(minutes=minutes)

    for module in (put_items, read_items):
        monkeypatch.setattr(module, "clock", later)
    store = HydraMemStore(memory, ttl={"default_ttl": 10, "refresh_on_read": True})
    for key, ttl in (("default", {}), ("read", {}), ("never", {"ttl": None}), ("long", {"ttl": 60})):
        store.put(DOCS, key, {"text": "One."}, **ttl)
    minutes = 9.0
    assert store.get(DOCS, "default", refresh_ttl=False) is not None
    assert len(store.search(DOCS, refresh_ttl=False)) == 4
    assert store.get(DOCS, "read") is not None
    for minutes, left in ((11.0, {"read", "never", "long"}), (20.0, {"never", "long"}), (90.0, {"never"})):
        found = store.search(DOCS, query="One.", refresh_ttl=False)
        assert set(keys(found)) == left, minutes
        assert {
            key for key in ("default", "read", "never", "long") if store.get(DOCS, key, refresh_ttl=False)
        } == left


# In a graph, and LangMem --------------------------------------------------------------------------


@pytest.mark.smoke
def test_nodes_of_a_graph_use_it_and_recall_finds_what_they_put(tmp_path: Path) -> None:
    class State(TypedDict):
        told: str

    def note(state: State, *, store: BaseStore) -> State:
        store.put(("users", "ada"), "tea", {"text": state["told"]})
        return {"told": store.search(("users",), query="drink")[0].value["text"]}

    graph = StateGraph(State)
    graph.add_node("note", note)
    graph.add_edge(START, "note")
    graph.add_edge("note", END)
    folder = tmp_path / "store"
    with hydramem.connect(folder, config=IN_MEMORY) as memory:
        compiled = graph.compile(store=HydraMemStore(memory))
        assert compiled.invoke({"told": "Ada drinks green tea."}) == {"told": "Ada drinks green tea."}
        assert (
            memory.recall("green tea", scope="/users/ada").hits[0].text == '{"text": "Ada drinks green tea."}'
        )


def test_a_folder_is_opened_and_closed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HYDRAMEM_EMBEDDING_MODEL", "hash")
    for number in range(2):
        with HydraMemStore(tmp_path / "store", project="notes") as store:
            store.put(DOCS, str(number), {"n": number})
            assert len(store.search(DOCS)) == number + 1


def test_the_tools_of_langmem_write_read_and_delete(memory: hydramem.Memory) -> None:
    langmem = pytest.importorskip("langmem", reason="LangMem is not installed")
    store = HydraMemStore(memory, fields=["content"])
    namespace = ("memories", "{user}")
    manage = langmem.create_manage_memory_tool(namespace=namespace, store=store)
    search = langmem.create_search_memory_tool(namespace=namespace, store=store)
    ada, bo = ({"configurable": {"user": name}} for name in ("ada", "bo"))
    manage.invoke({"action": "create", "content": "Ada drinks green tea."}, config=ada)
    manage.invoke({"action": "create", "content": "Bo plays chess."}, config=bo)
    (item,) = store.search(("memories", "ada"))
    assert item.value == {"content": "Ada drinks green tea."}
    assert "green tea" in search.invoke({"query": "what does Ada drink?"}, config=ada)
    assert "green tea" not in search.invoke({"query": "what does Ada drink?"}, config=bo)
    manage.invoke({"action": "update", "id": item.key, "content": "Ada drinks coffee."}, config=ada)
    assert store.get(("memories", "ada"), item.key).value == {"content": "Ada drinks coffee."}
    assert memory.recall("coffee").hits[0].text == "Ada drinks coffee."
    manage.invoke({"action": "delete", "id": item.key}, config=ada)
    assert store.search(("memories", "ada")) == []
