"""Scopes: a tree of whole segments, and moving a part of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramem.core.errors import InvalidInputError, NotFoundError
from hydramem.core.results.knowledge_results import Moved, ScopeCount
from hydramem.ingest.knowledge.scopes import move, moved_scope, tree
from hydramem.storage.chunk_filter import ChunkFilter
from tests.examples import FEW
from tests.ingest.conftest import PROJECT, KilledError, Kit
from tests.storage.rows import at, chunk

SCOPES = st.lists(st.sampled_from(["a", "ab", "%", "_"]), max_size=4).map(lambda parts: "/" + "/".join(parts))


def count(scope: str, memories: int = 1, *categories: str, days: tuple[int, int] = (0, 0)) -> ScopeCount:
    first, last = map(at, days)
    return ScopeCount(scope=scope, categories=categories, memories=memories, oldest=first, newest=last)


def put(kit: Kit, *scopes: str, **fields: object) -> list[str]:
    rows = tuple(
        chunk(f"c{place}", f"memory {place}", project=PROJECT, scope=scope, **fields)
        for place, scope in enumerate(scopes)
    )
    kit.put(chunks=rows)
    return [row.id for row in rows]


def shift(kit: Kit, source: str, destination: str) -> Moved:
    return move(source, destination, reason="tidier", target=kit.target())


def scopes(kit: Kit) -> dict[str, str]:
    return {
        row.id: row.scope for (row,) in (kit.graph.chunks([id]) for id in sorted(kit.vectors.chunk_hashes()))
    }


def test_the_tree_sums_what_is_below() -> None:
    counts = [
        count("/", 1),
        count("/infra", 2, "db", days=(3, 4)),
        count("/infra", 1, days=(1, 2)),
        count("/infra/db/x", 4, "sql", "db", days=(2, 9)),
        count("/infrared", 8),
    ]
    rows = tree(counts)
    assert [(row.path, row.memories, row.own) for row in rows] == [
        ("/", 16, 1),
        ("/infra", 7, 3),
        ("/infra/db", 4, 0),
        ("/infra/db/x", 4, 4),
        ("/infrared", 8, 8),
    ]
    infra = rows[1]
    assert (infra.oldest, infra.newest, infra.categories) == (at(1), at(9), ("db", "sql"))
    assert [row.path for row in tree(counts, depth=1)] == ["/", "/infra", "/infrared"]
    below = [row for row in counts if row.scope.startswith("/infra/") or row.scope == "/infra"]
    assert [row.path for row in tree(below, prefix="/infra", depth=1)] == ["/infra", "/infra/db"]
    assert tree([]) == ()
    ordered = tree([count("/a b"), count("/a/c"), count("/a")])
    assert [row.path for row in ordered] == ["/", "/a", "/a/c", "/a b"]


def test_a_move_takes_the_subtree_and_nothing_else(kit: Kit) -> None:
    put(kit, "/", "/alpha", "/alpha/x", "/alphabet", "/al%ha", "/beta/x")
    done = shift(kit, "/alpha", "/beta/y")
    assert (done.chunks, done.active, done.scopes) == (2, 2, ("/beta/y", "/beta/y/x"))
    assert list(scopes(kit).values()) == ["/", "/beta/y", "/beta/y/x", "/alphabet", "/al%ha", "/beta/x"]
    (change,) = (row for row in kit.graph.changes(target="c1") if row.operation == "move")
    assert change.reason == "tidier"
    assert kit.vectors.matching("memory", ChunkFilter(scope="/beta/y"), 5)


def test_every_state_moves_and_a_move_to_above_lands_once(kit: Kit) -> None:
    put(kit, "/a/b", "/a/b/b/c", "/a/b/b", state="archived")
    done = shift(kit, "/a/b", "/a")
    assert (done.chunks, done.active) == (3, 0)
    assert list(scopes(kit).values()) == ["/a", "/a/b/c", "/a/b"]


@pytest.mark.parametrize(
    ("source", "destination", "error", "told"),
    [
        ("/al%", "/x", NotFoundError, "is filed at or under"),
        ("/al_ha", "/x", NotFoundError, "is filed at or under"),
        ("/alph", "/x", NotFoundError, "is filed at or under"),
        ("/alpha", "/alpha/b", InvalidInputError, "into itself"),
        ("/", "/alpha", InvalidInputError, "into itself"),
        ("/alpha", "/" + "y" * 200, InvalidInputError, "more than 500"),
    ],
)
def test_what_cannot_be_moved_stays(
    kit: Kit, source: str, destination: str, error: type[Exception], told: str
) -> None:
    put(kit, "/alpha", "/alpha/" + "x" * 400)
    with pytest.raises(error, match=told):
        shift(kit, source, destination)
    assert scopes(kit)["c0"] == "/alpha"


def test_many_move_in_batches_and_an_interrupted_move_goes_on(kit: Kit) -> None:
    put(kit, *["/a"] * 210)
    kit.dies_after = len(kit.writes) + 1
    with pytest.raises(KilledError):
        shift(kit, "/a", "/b")
    kit.dies_after = None
    assert shift(kit, "/a", "/b").chunks == 10
    assert set(scopes(kit).values()) == {"/b"}


@FEW
@given(SCOPES, SCOPES, SCOPES)
def test_moving_there_and_back_is_nothing(stem: str, rest: str, destination: str) -> None:
    scope = moved_scope(rest, "/", stem)
    assert moved_scope(moved_scope(scope, stem, destination), destination, stem) == scope
