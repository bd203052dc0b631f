"""Forgetting by scope, kind, label and age: exactly what is meant, and only once it was looked at."""

import pytest

from hydramem.core.errors import InvalidInputError
from hydramem.core.results.write_results import Forgotten
from hydramem.core.row_types import Chunk, Times
from hydramem.ingest.memories.forget import Sweep, forget_matching
from tests.ingest.conftest import PROJECT, Kit
from tests.storage.rows import at, chunk, document

SCOPES = ["/", "/x", "/x/y", "/xy", "/x%", "/x_"]


def put(kit: Kit, *rows: Chunk) -> None:
    kit.put(documents=(document(project=PROJECT),), chunks=rows)


def filed(id: str, scope: str = "/x", day: float = 0, **fields: object) -> Chunk:
    return chunk(id, project=PROJECT, scope=scope, times=Times(recorded_at=at(day)), **fields)


def sweep(kit: Kit, *, dry_run: bool = False, **fields: object) -> Forgotten:
    wanted = Sweep(project=PROJECT, **fields)  # type: ignore[arg-type]
    return forget_matching(wanted, graph=kit.graph, mirror=kit.mirror, dry_run=dry_run)


def left(kit: Kit) -> set[str]:
    return {row.id for row in kit.chunks()}


@pytest.mark.parametrize(("scope", "gone"), [("/x", "/x /x/y"), ("/x%", "/x%"), ("/x_", "/x_"), ("/y", "")])
def test_a_scope_is_its_subtree_and_never_the_root(kit: Kit, scope: str, gone: str) -> None:
    put(kit, *(filed(scope, scope) for scope in SCOPES), chunk("other", scope="/x"))
    seen = sweep(kit, scope=scope, dry_run=True)
    assert (set(seen.chunks), seen.dry_run) == (set(gone.split()), True)
    assert left(kit) == set(SCOPES)
    done = sweep(kit, scope=scope, expect=len(gone.split()))
    assert left(kit) == set(SCOPES) - set(done.chunks)
    assert set(done.chunks) == set(gone.split())


def test_everything_given_must_hold(kit: Kit) -> None:
    put(
        kit,
        filed("old", day=0, categories=("a",)),
        filed("new", day=2, categories=("a",)),
        filed("elsewhere", "/z", day=0, categories=("a",)),
        filed("unlabelled", day=0),
        filed("fact", day=0, kind="fact", categories=("a", "b")),
        filed("passage", day=0, kind="passage", document="d1", categories=("a",)),
        filed("gone", day=0, state="archived", categories=("a",)),
    )
    found = sweep(kit, scope="/x", categories=("a",), before=at(1), dry_run=True)
    assert set(found.chunks) == {"old", "fact"}
    assert sweep(kit, kinds=("fact",), expect=1).chunks == ("fact",)


def test_another_number_than_was_seen_forgets_nothing_and_many_go_in_batches(kit: Kit) -> None:
    put(kit, *(filed(f"c{number}") for number in range(503)))
    for expect in (None, 3):
        with pytest.raises(InvalidInputError, match="503 memories match"):
            sweep(kit, scope="/x", expect=expect)
    assert len(left(kit)) == 503
    assert len(sweep(kit, scope="/x", expect=503).chunks) == 503
    assert left(kit) == set()
