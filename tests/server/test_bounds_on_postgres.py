"""On PostgreSQL the walls between projects stand also where the view of the graph is forgotten."""

from collections.abc import Iterator

import pytest

pytest.importorskip("psycopg", reason="needs the extra `postgres`")

import hydramem
from hydramem.core.config import Config, EmbeddingConfig, StorageConfig
from hydramem.memory_api.open import open_store
from hydramem.operations import BY_NAME, OPERATIONS, call
from hydramem.storage.postgres.connection import Database
from tests.server.test_project_bounds import hostile_calls, outcome
from tests.server.two_projects import OURS, SECRET, THEIRS, digest_of, ids_of, opened, rows_of
from tests.storage.postgres_server import new_schema, server_address

ALONE = "by the database alone"
both = pytest.mark.parametrize("store", ["with the view of the graph", ALONE], indirect=True)
alone = pytest.mark.parametrize("store", [ALONE], indirect=True)


@pytest.fixture(scope="module")
def store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[hydramem.Memory]:
    schema = new_schema()
    config = Config(
        storage=StorageConfig(graph="postgres", database_schema=schema),
        embedding=EmbeddingConfig(model="hash"),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HYDRAMEM_STORAGE_URL", server_address())
        if request.param == ALONE:
            patch.setattr(open_store, "seen_in_bounds", lambda whole: whole)
        with opened(tmp_path_factory.mktemp("store") / "s", config) as memory:
            yield memory
    with Database(server_address(), schema=schema).transaction() as connection:
        connection.execute(f'drop schema "{schema}" cascade')


@alone
@pytest.mark.slow
def test_no_row_reaches_another_project(store: hydramem.Memory) -> None:
    ids = ids_of(store, THEIRS)
    before = digest_of(store, THEIRS)
    for operation in OPERATIONS:
        for arguments in hostile_calls(operation, ids):
            kind, text = outcome(store, operation, arguments)
            assert SECRET not in text.lower(), (operation.name, arguments, kind, text)
    assert digest_of(store, THEIRS) == before
    assert SECRET not in repr(list(rows_of(store, OURS))).lower()


@both
def test_what_is_written_within_the_walls_is_found_there(store: hydramem.Memory) -> None:
    """A call for some projects works on its own: it writes, lists, walks and undoes."""

    def do(name: str, **arguments: object) -> object:
        return call(store, BY_NAME[name], arguments, actor="token:ann", within=[OURS])

    kept = do("remember", text="Ada keeps the parcel in depot 49.", entities=["Ada"])
    assert kept.id in {hit.id for hit in do("recall", query="where is the parcel?").hits}
    assert do("get", id=kept.id).text.startswith("Ada keeps")
    do("relate", subject="Ada", type="keeps", object="the parcel")
    assert do("neighbors", entity="Ada")
    assert do("history", id=kept.id).entries[0].actor == "token:ann"
    assert [view.name for view in do("projects")] == [OURS]
    do("undo", id=kept.run)
    assert kept.id not in {hit.id for hit in do("recall", query="where is the parcel?").hits}
    do("garden", plan=True)
