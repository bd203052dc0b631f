"""The base class of Memory: one handle on an open store, and the values that operations take from it."""

import copy
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Self, TypeVar, get_args

from hydramem.core.argument_checks import check_choice, check_project
from hydramem.core.config import Config, MemoryConfig
from hydramem.core.ids import content_hash
from hydramem.core.project_bounds import in_bounds
from hydramem.core.row_types import State
from hydramem.core.time import When, clock
from hydramem.ingest.write_target import Accept, Target
from hydramem.llm.choose import choose_generator
from hydramem.llm.contracts import Generator
from hydramem.memory_api.arguments import states
from hydramem.memory_api.open import open_store, shared_stores
from hydramem.memory_api.open.serving_vectors import Space
from hydramem.search.rerank.rerank import choose_reranker
from hydramem.search.visible.visible_graph import View, view
from hydramem.storage.files.curated_files import CuratedPlace, CuratedTarget
from hydramem.storage.vector_rows import VectorStore
from hydramem.text.dates.caller_dates import moment_or_none
from hydramem.text.tokens import count_tokens

if TYPE_CHECKING:
    from hydramem.ingest.memories.compare.ask_models import Models
    from hydramem.ingest.memories.distill.distill import Distillation
    from hydramem.verification.verify import Judge


class Handle:
    """One handle on an open store; safe to use from many threads."""

    def __init__(self, store: open_store.OpenStore, project: str, generator: Generator | None) -> None:
        self._opened = store
        self._project = project
        self._given_generator = generator
        self._reranker = choose_reranker(
            store.config.search, store.config.embedding, lambda: self._generator("rerank")
        )
        self._closed = False
        self._close_once = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the handle; the last one of the process closes the store. A second call does nothing."""
        with self._close_once:
            closed, self._closed = self._closed, True
        if not closed:
            shared_stores.release(self._opened)

    @property
    def folder(self) -> FilePath:
        """The folder of the store."""
        return self._opened.path

    @property
    def config(self) -> Config:
        """The settings of the store."""
        return self._opened.config

    def _use(self) -> open_store.OpenStore:
        self._opened.check_usable(closed=self._closed)
        return self._opened

    def _name(self, project: str | None) -> str:
        return in_bounds(self._project) if project is None else check_project(project)

    def _garden_folder(self, project: str) -> FilePath:
        return self._use().files / "garden" / content_hash(project)[:16]

    def _judge(self, project: str | None) -> "Judge":
        from hydramem.verification.verify import Judge

        store, name = self._use(), self._name(project)
        serving = store.calibrations.of(name)
        return Judge(
            snapshot=lambda: store.snapshots.of(name),
            generator=lambda: self._generator("verify"),
            weights=serving.weights,
            settings=serving.applied_to(store.config.verification),
            replies=store.replies,
        )

    def _curated(self, target: CuratedTarget, project: str) -> CuratedPlace:
        store = self._use()
        return CuratedPlace(
            folder=store.curated_folder,
            project=project,
            target=check_choice(target, get_args(CuratedTarget), name="target"),
            settings=store.config.memory,
        )

    def _target(self, project: str | None, accept: Accept | None = None) -> Target:
        from hydramem.verification.first_stage.similar_entities import prepare

        store, name = self._use(), self._name(project)
        space = store.space
        return Target(
            project=name,
            graph=store.graph,
            commit=store.committing(space),
            one_writer=store.mirror.one_writer.of([name]),
            embed=space.embedder.embed_documents,
            known=lambda keys: store.snapshots.known(name, keys),
            accept=accept or (lambda candidates: self._judge(project)(candidates).verdicts),
            judge=store.judge,
            looking=lambda: self._looking(space),
            prepare=lambda: prepare(store.snapshots.of(name)),
        )

    @contextmanager
    def _looking(self, space: Space) -> Iterator[VectorStore | None]:
        """Hold the vectors of a space for a read; None where the store has moved to other vectors."""
        with self._use().reading() as held:
            yield held.vectors if held is space else None

    def _encoding(self) -> MemoryConfig:
        """Return the settings of memories, with the threshold that is fitted to the store's embedder."""
        store = self._use()
        return store.bounds.applied_to(store.config.memory, store.embedder.fingerprint)

    def _models(self) -> "Models":
        """Return the models that encode memories."""
        from hydramem.ingest.memories.compare.ask_models import Models

        roles = self.config.llm.roles
        own = (roles.classify, roles.consolidate, roles.extract)
        providers = (self.config.llm.provider, *(role.provider for role in own))
        return Models(
            configured=self._given_generator is not None
            or any(each not in ("", "none") for each in providers),
            classify=lambda: self._generator("classify"),
            consolidate=lambda: self._generator("consolidate"),
            extract=lambda: self._generator("extract"),
            texts_each=self.config.ingest.llm_chunks,
        )

    @property
    def _asks_models(self) -> bool:
        """Whether a model may be asked about a new memory or a relation that it states."""
        llm = self.config.llm
        providers = (llm.provider, llm.roles.verify.provider)
        return self._models().configured or any(each not in ("", "none") for each in providers)

    def _log_note(self) -> str | None:
        """Say why sessions stay logs; None where a model may distill them."""
        from hydramem.ingest.memories.distill.distill import NO_MODEL, SWITCHED_OFF

        if self.config.memory.session_facts <= 0:
            return SWITCHED_OFF
        llm = self.config.llm
        provider = llm.roles.extract.provider or llm.provider
        return NO_MODEL if self._given_generator is None and provider == "none" else None

    def _distillation(self, target: Target) -> "Distillation | None":
        """Return what distills sessions; None where they stay logs.

        Raises:
            ModelUnavailableError: The model's client is not installed, or its key is not set.
        """
        from hydramem.ingest.memories.distill.distill import Distillation

        generator = None if self._log_note() else self._generator("extract")
        if generator is None:
            return None
        return Distillation(
            target=target,
            settings=self._encoding(),
            models=self._models(),
            generator=generator,
            session_lock=self._use().session_lock,
        )

    def _view(
        self,
        project: str | None,
        as_of: When | None,
        known_at: When | None,
        *,
        include_private: bool = True,
        types: Sequence[str] = (),
        edge_states: Sequence[State] = (),
    ) -> View:
        return view(
            self._use().snapshots.of(self._name(project)),
            states=states(as_of, known_at),
            at=moment_or_none(as_of, "as_of") or clock(),
            known_at=moment_or_none(known_at, "known_at"),
            include_private=include_private,
            types=types,
            edge_states=edge_states,
        )

    def _generator(self, role: str) -> Generator | None:
        return self._given_generator or choose_generator(self._opened.config.llm, role)


_Handle = TypeVar("_Handle", bound=Handle)


def sibling(handle: _Handle, project: str) -> _Handle:
    """Return a handle on the same store for a project; it is not counted, and need not be closed."""
    other = copy.copy(handle)
    other._project = check_project(project)
    other._opened = shared_stores.opened(handle._opened)
    other._closed = False
    return other


def is_only_handle(handle: Handle) -> bool:
    """Say whether no other handle of this process has the store open."""
    return handle._opened.handles == 1


def call_at_last_close(handle: Handle, stop: Callable[[], None], stopped: Callable[[], None]) -> None:
    """Have `stop` called before the last handle closes the store, and `stopped` after."""
    handle._opened.at_last_close = (stop, stopped)


def embedder_fingerprint(handle: Handle) -> str:
    """Return what tells the store's embedder from others."""
    return handle._opened.embedder.fingerprint


def warm_up(memory: Handle) -> None:
    """Load what the first recall needs, so that it does not have to wait for it: the model, and token counts.

    Raises:
        ModelError: The model is not on this machine, or it failed.
        StorageError: The memory is closed.
    """
    store = memory._use()
    if store.config.embedding.provider == "local":  # a service is asked only what somebody wants to know
        store.space.embedder.embed_documents(["warm up"])
    count_tokens("warm up")
