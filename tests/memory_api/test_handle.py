"""One folder, one handle: counting, forks, a second process, and many threads."""

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

import hydramem
from hydramem.core.config import SharingConfig
from hydramem.core.errors import EmbeddingMismatchError, InvalidInputError, ModelError, StorageError
from hydramem.llm.hash_embedder import HashEmbedder
from hydramem.memory_api.open import shared_stores
from hydramem.storage.vector_rows import Vector
from hydramem.storage.write import Write
from tests.engines import DISK_ENGINE
from tests.memory_api.conftest import settings

ENVIRONMENT = {"HYDRAMEM_STORAGE_GRAPH": DISK_ENGINE, "HYDRAMEM_EMBEDDING_MODEL": "hash"}


CONFIG = settings(DISK_ENGINE)
"""Stores on disk: those in memory are shared by nobody."""


@pytest.mark.engine
@pytest.mark.costly
def test_two_connects_to_one_real_path_share_one_handle(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "store")
    first = hydramem.connect(tmp_path / "store", config=CONFIG)
    second = hydramem.connect(tmp_path / "link", config=CONFIG)
    id = first.remember("Ada leads billing.").id
    first.close()
    first.close()
    with pytest.raises(StorageError, match="closed"):
        first.projects()
    assert second.get(id).text == "Ada leads billing."
    second.close()
    with hydramem.connect(tmp_path / "store", config=CONFIG) as again:
        assert again.get(id).text == "Ada leads billing."
        (tmp_path / "store" / "vectors" / "gone").symlink_to("nowhere")  # listed, and not there to be counted
        assert again.stats().disk_bytes.keys() >= {"graph", "vectors"}


def test_another_embedder_is_refused_whether_open_or_not(tmp_path: Path) -> None:
    with hydramem.connect(tmp_path, config=CONFIG), pytest.raises(EmbeddingMismatchError):
        hydramem.connect(tmp_path, config=CONFIG, embedder=HashEmbedder(64))
    with pytest.raises(EmbeddingMismatchError):
        hydramem.connect(tmp_path, config=CONFIG, embedder=HashEmbedder(64))
    hydramem.connect(tmp_path, config=CONFIG).close()


def test_a_store_in_memory_never_takes_the_place_of_one_on_disk(tmp_path: Path) -> None:
    with hydramem.connect(tmp_path, config=CONFIG) as first:
        hydramem.connect(tmp_path, config=settings("memory")).close()
        id = first.remember("Ada leads billing.")
        with hydramem.connect(tmp_path, config=CONFIG) as second:
            assert second.get(id.id).text == "Ada leads billing."


def test_a_handle_closed_by_many_threads_at_once_is_given_back_once(tmp_path: Path) -> None:
    with hydramem.connect(tmp_path, config=CONFIG) as kept:
        for _ in range(10):
            handle = hydramem.connect(tmp_path, config=CONFIG)
            with ThreadPoolExecutor(8) as pool:
                list(pool.map(lambda handle: handle.close(), [handle] * 8))
        assert kept.projects() == ()


class Failing(HashEmbedder):
    """A model that is down."""

    def embed_documents(self, texts: Sequence[str]) -> Vector:
        """Fail."""
        raise ModelError("the model is down")


@pytest.mark.costly  # opens a store three times
def test_a_store_opens_while_its_model_is_down_and_delivers_later(tmp_path: Path) -> None:
    with hydramem.connect(tmp_path, config=CONFIG) as memory:
        note = memory.get(memory.remember("Ada leads billing.").id)
        changes = memory._opened.graph.changes(target=note.id)
        again = replace(changes[0], id="x_again")
        memory._opened.graph.write(Write(changes=(again,), chunks=(replace(note, author="Bo"),)))
    with hydramem.connect(tmp_path, config=CONFIG, embedder=Failing()) as memory:
        assert memory.get(note.id).author == "Bo"
        assert memory.stats().pending == 1
    with hydramem.connect(tmp_path, config=CONFIG) as memory:
        assert memory.stats().pending == 0
        assert memory.doctor().problems == ()


def _use_in_child(memory: hydramem.Memory, answers: "multiprocessing.Queue[str]") -> None:
    try:
        memory.projects()
    except StorageError as error:
        answers.put(str(error))
    else:
        answers.put("worked")


def _look_at_the_registry(answers: "multiprocessing.Queue[bool]") -> None:
    answers.put(shared_stores._registry.acquire(timeout=5))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_can_connect_though_the_parent_was_connecting_when_it_was_forked() -> None:
    context = multiprocessing.get_context("fork")
    answers: multiprocessing.Queue[bool] = context.Queue()
    child = context.Process(target=_look_at_the_registry, args=(answers,))
    with shared_stores._registry:
        child.start()
    assert answers.get(timeout=30)
    child.join(30)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_use_after_fork_is_an_error(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    answers: multiprocessing.Queue[str] = context.Queue()
    with hydramem.connect(tmp_path, config=CONFIG) as memory:
        child = context.Process(target=_use_in_child, args=(memory, answers))
        child.start()
        assert "was opened before a fork" in answers.get(timeout=30)
        child.join(30)
        assert memory.projects() == ()


@pytest.mark.costly  # a process
def test_a_second_process_is_told_who_holds_a_store_that_is_not_shared(tmp_path: Path) -> None:
    code = (
        "import sys, hydramem; from hydramem.core.errors import StoreBusyError\n"
        "try: hydramem.connect(sys.argv[1])\n"
        "except StoreBusyError as error: print(error)\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    with hydramem.connect(tmp_path, config=replace(CONFIG, sharing=SharingConfig(enabled=False))):
        environment = {**os.environ, **ENVIRONMENT}
        said = subprocess.run(command, capture_output=True, text=True, env=environment, check=True).stdout
    assert f"process {os.getpid()}" in said and "hydramem serve" in said


@pytest.mark.skipif(sys.platform != "linux", reason="these folders are read-only for anybody, on Linux")
def test_a_read_only_folder_is_a_clear_error() -> None:
    for folder in ("/proc/hydramem-store", "/sys/kernel"):
        with pytest.raises(StorageError, match=rf"{folder}: cannot be (created|written)"):
            hydramem.connect(folder, config=CONFIG)


def test_a_project_that_is_no_plain_name_is_refused(tmp_path: Path) -> None:
    for project in ("../up", "a/b", "a\\b", "", "  ", ".hidden", "x" * 300, "a\x00b", "a\nb"):
        with pytest.raises(InvalidInputError, match="project"):
            hydramem.connect(tmp_path / "store", config=CONFIG, project=project)
    assert not (tmp_path / "store").exists()
