"""A call for some projects sees and changes nothing of another: every row, every argument."""

from pathlib import Path
from typing import Any, get_origin

import pytest

import hydramem
from hydramem.core.errors import HydraMemError, NotFoundError
from hydramem.core.inputs import CuratedChange, ExtractedChunk, ItemInput, MemoryInput, SaidTurn
from hydramem.core.project_bounds import bounded_to, bounds, is_in_bounds
from hydramem.garden.review.answers import Answer
from hydramem.operations import BY_NAME, OPERATIONS, Operation, call
from hydramem.storage.changes import in_one_run
from hydramem.storage.schema import CHUNK
from tests.server.two_projects import NAMES, OURS, SECRET, THEIRS, digest_of, ids_of, opened, rows_of

NEEDED: dict[str, dict[str, object]] = {
    "ingest_extracted": {"source": "x", "chunks": [ExtractedChunk(text="A page.")]},
    "remember_many": {"memories": [MemoryInput(text="A fact.")]},
    "capture": {"session": "x", "turns": [SaidTurn(author="user", text="Hello.")]},
    "revise": {"id": "x", "text": "Changed."},
    "undo": {"id": "x", "force": True},
    "curate": {"target": "memory", "changes": [CuratedChange(action="add", content="x")]},
    "promote": {"ids": ["x"], "layer": "shared", "reason": "x"},
    "relabel": {"ids": ["x"], "scope": "/x"},
    "put_items": {"items": [ItemInput(namespace=["x"], key="x", value={})]},
    "append_session_items": {"session": "x", "items": ["1"]},
    "garden": {"plan": True},
    "reindex": {"model": "hash"},
}
LOOKING = {"unrelate", "merge", "split"}
UNKNOWN = str.maketrans("0123456789abcdefABCDEF", "1032547698badcfeBADCFE")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with opened(tmp_path_factory.mktemp("store") / "s") as memory:
        yield memory


@pytest.fixture
def fresh_store(tmp_path: Path) -> Any:
    """A store in which no call has made an entity of the name of an id."""
    with opened(tmp_path / "s") as memory:
        yield memory


def needed(operation: Operation) -> dict[str, object]:
    """Return arguments that an operation cannot do without."""
    given = operation.signature.parameters
    plain = {name: value(one, "x") for name, one in given.items() if one.default is one.empty}
    return {**plain, **NEEDED.get(operation.name, {})}


def takes_text(parameter: Any) -> bool:
    return "str" in str(parameter.annotation) or "Literal" in str(parameter.annotation)


def value(parameter: Any, text: str) -> object:
    hint = parameter.annotation
    several = "Sequence" in str(hint) or get_origin(hint) is tuple
    return [text] if several else text


def outcome(memory: hydramem.Memory, operation: Operation, arguments: dict[str, object]) -> tuple[str, str]:
    """Return `error` or `result`, and its text."""
    try:
        return "result", repr(call(memory, operation, arguments, actor="token:ann", within=[OURS]))
    except (HydraMemError, TypeError, AttributeError) as error:
        return f"error {type(error).__name__}", str(error)


def hostile_calls(operation: Operation, ids: tuple[str, ...]) -> list[dict[str, object]]:
    """Return arguments by which a call may try to reach another project."""
    given, base = operation.signature.parameters, needed(operation)
    tries: list[dict[str, object]] = [base]
    if "project" in given:
        tries.append({**base, "project": THEIRS})
    for name, wide in (("also", [THEIRS]), ("projects", [THEIRS]), ("every_project", True),
                       ("all_projects", True), ("whole_project", True), ("own_project", False),
                       ("fix", True), ("status", True)):  # fmt: skip
        if name in given:
            tries.append({**base, name: wide})
    for name, parameter in given.items():
        if takes_text(parameter) and name != "project":
            tries += [{**base, name: value(parameter, text)} for text in (*ids, *NAMES, THEIRS)]
    if operation.name == "remember_many":
        tries += [{"memories": [MemoryInput(text="New.", replaces=(id,), session=id)]} for id in ids]
    if operation.name == "review":
        tries += [{"answers": [Answer(id=id, yes=True)]} for id in ids]
    return tries


some_and_all = pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)])
"""With an id of each kind, and with one of each kind and state."""


def chosen(ids: tuple[str, ...], *, every: bool) -> tuple[str, ...]:
    kinds = {id[:2]: id for id in ids if id[:2] in ("c_", "e_", "r_", "w_")}
    return ids if every else tuple(kinds.values())


@some_and_all
@pytest.mark.costly  # every operation, with every argument
def test_no_row_reaches_another_project(store: hydramem.Memory, every: bool) -> None:
    ids, before = chosen(ids_of(store, THEIRS), every=every), digest_of(store, THEIRS)
    for operation in OPERATIONS:
        for arguments in hostile_calls(operation, ids):
            kind, text = outcome(store, operation, arguments)
            assert SECRET not in text.lower(), (operation.name, arguments, kind, text)
        assert digest_of(store, THEIRS) == before, operation.name
    assert SECRET not in repr(list(rows_of(store, OURS))).lower()


@some_and_all
@pytest.mark.costly  # every operation, with every argument
def test_errors_do_not_tell_whether_something_exists_elsewhere(tmp_path: Path, every: bool) -> None:
    # A write may make an entity of the name of an id: what looks for one comes before.
    order = sorted(OPERATIONS, key=lambda each: (each.effect != "read", each.name not in LOOKING))
    with opened(tmp_path / "s") as memory:
        for operation in order:
            check_errors(memory, operation, every=every)


def check_errors(memory: hydramem.Memory, operation: Operation, *, every: bool) -> None:
    for name, parameter in operation.signature.parameters.items():
        if not takes_text(parameter) or "Literal" in str(parameter.annotation):
            continue
        for id in (*chosen(ids_of(memory, THEIRS), every=every), THEIRS):
            other = "another" if id == THEIRS else id[:2] + id[2:].translate(UNKNOWN)
            answers = []
            for one in (id, other):
                kind, text = outcome(memory, operation, {**needed(operation), name: value(parameter, one)})
                answers.append((kind, text.replace(one, "ID") if kind.startswith("error") else ""))
            assert answers[0] == answers[1], (operation.name, name, id)


def test_a_call_without_bounds_reaches_both(store: hydramem.Memory) -> None:
    (id,) = [one for one in ids_of(store, THEIRS) if one.startswith("c_") and len(one) > 12][:1]
    assert SECRET in repr(call(store, BY_NAME["get"], {"id": id}, actor="cli"))
    assert {THEIRS, OURS} <= {view.name for view in call(store, BY_NAME["projects"], {}, actor="cli")}


def test_a_call_for_two_projects_reaches_both_and_its_own_is_the_first(store: hydramem.Memory) -> None:
    def names(within: list[str]) -> set[str]:
        return {view.name for view in call(store, BY_NAME["projects"], {}, actor="x", within=within)}

    assert names([THEIRS, OURS]) == {THEIRS, OURS}
    assert names([OURS]) == {OURS}
    rows = call(store, BY_NAME["memories"], {}, actor="x", within=[THEIRS, OURS])
    assert {row.project for row in rows} == {THEIRS}


def test_a_run_that_wrote_to_both_is_not_seen_and_not_undone(fresh_store: hydramem.Memory) -> None:
    with in_one_run() as run:
        for project in (OURS, THEIRS):
            fresh_store.remember(f"The {project} lamp is lit.", project=project)
    undo = outcome(fresh_store, BY_NAME["undo"], {"id": run})
    unknown = outcome(fresh_store, BY_NAME["undo"], {"id": f"w_{'0' * 32}"})
    assert undo[0] == unknown[0] and undo[1].replace(run, "") == unknown[1].replace(f"w_{'0' * 32}", "")
    assert run not in outcome(fresh_store, BY_NAME["changes"], {"limit": 1000})[1]
    assert run in repr(fresh_store.changes(every_project=True, limit=1000))
    assert "lamp" in repr(fresh_store.memories(project=THEIRS))


def test_bounds_end_with_the_call(store: hydramem.Memory) -> None:
    with pytest.raises(NotFoundError):
        call(store, BY_NAME["memories"], {"project": THEIRS}, actor="x", within=[OURS])
    assert bounds() is None
    with bounded_to([OURS]), bounded_to(None):
        assert bounds() is None


def test_a_call_for_no_project_reaches_none(store: hydramem.Memory) -> None:
    with bounded_to([]):
        assert bounds() == frozenset() and not is_in_bounds(OURS)
        graph = store._use().graph
        assert graph.projects() == () and graph.counts().chunks == 0
        assert not list(graph.scan(CHUNK))
    assert call(store, BY_NAME["projects"], {}, actor="x", within=[]) == ()
    for name, arguments in (("memories", {}), ("recall", {"query": SECRET}), ("remember", {"text": "x"})):
        for project in (None, OURS, THEIRS):
            with pytest.raises(NotFoundError):
                call(store, BY_NAME[name], {**arguments, "project": project}, actor="x", within=[])


def test_a_write_to_another_project_is_stopped_whatever_an_operation_forgets(
    store: hydramem.Memory, tmp_path: Path
) -> None:
    from hydramem.core.errors import StorageError
    from hydramem.storage.write import Write

    (row,) = store.memories(limit=1, project=THEIRS)
    with bounded_to([OURS]), pytest.raises(StorageError, match="another project"):
        store._use().mirror.commit(Write(changes=(), chunks=(row,)))


def test_every_row_is_bounded_or_of_the_whole_store() -> None:
    for operation in OPERATIONS:
        bounded = "project" in operation.signature.parameters or operation.name in _BY_ID
        assert bounded or operation.whole_store, operation.name


_BY_ID = {"revise", "revive", "undo", "get", "projects"}
"""Rows that take ids and no project; the view of the graph bounds them."""
