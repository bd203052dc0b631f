"""What operations are given, checked and turned into the values that the layers take."""

import math
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path as FilePath
from types import TracebackType
from typing import Self, get_args

from hydramem.core.argument_checks import check_choice, check_count, check_project
from hydramem.core.config import Config, MemoryConfig
from hydramem.core.errors import InvalidInputError
from hydramem.core.ids import content_hash
from hydramem.core.row_types import State
from hydramem.core.time import When, now
from hydramem.ingest.memories.ask_models import Models
from hydramem.ingest.memories.edit_curated_files import CuratedPlace
from hydramem.ingest.write_target import Accept, Target
from hydramem.llm.choose import choose_generator
from hydramem.llm.contracts import Generator
from hydramem.memory_api.open import open_store, open_stores
from hydramem.memory_api.open.serving_vectors import Space
from hydramem.search.rerank import choose_reranker
from hydramem.search.visible.visible_graph import View, view
from hydramem.storage.chunk_filter import LIVE
from hydramem.storage.files.curated_files import CuratedTarget
from hydramem.storage.store import Listing, VectorStore
from hydramem.text.dates.caller_dates import moment
from hydramem.verification.first_stage.likeness import prepare
from hydramem.verification.verify import Judge

MAX_PAGE = 1000

MAX_TOKENS = 1_000_000

MAX_CONTEXT = 20

MAX_STARTS = 50


def when(value: When | None, name: str) -> datetime | None:
    """Read a moment, also in words such as "last Friday"; None where none is given."""
    return None if value is None else moment(value, name=name)


def states(as_of: When | None, known_at: When | None) -> tuple[State, ...]:
    """Past times widen the states: what is superseded was true, what is archived was believed."""
    if known_at is not None:
        return ("active", "superseded", "archived")
    return LIVE if as_of is None else ("active", "superseded")


def tokens(most: int | None) -> int | None:
    """Check a token budget, None where there is none."""
    return None if most is None else check_count(most, name="max_tokens", most=MAX_TOKENS)


def limited(limit: int) -> int:
    """Check how many rows are asked for."""
    return check_count(limit, name="limit", most=MAX_PAGE)


def page(limit: int, offset: int) -> Listing:
    """Check a page of a list."""
    return Listing(
        limit=check_count(limit, name="limit", most=MAX_PAGE),
        offset=check_count(offset, name="offset", least=0, most=2**53),
    )


def seconds(most: float | None, name: str) -> float | None:
    """Check a time to wait, None where there is no limit."""
    if most is not None and not 0 <= most < math.inf:
        raise InvalidInputError(f"{name}: {most} is no number of seconds")
    return most


def starts(starts: Sequence[str]) -> tuple[str, ...]:
    """Check where a walk starts."""
    named = ids(starts)
    check_count(len(named), name="number of starts", most=MAX_STARTS)
    return named


def ids(ids: Sequence[str]) -> tuple[str, ...]:
    """Take one id or several."""
    return (ids,) if isinstance(ids, str) else tuple(ids)


class Handle:
    """One handle on an opened folder; safe to use from many threads."""

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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the handle back; the last one of the process closes the stores. Harmless when repeated."""
        with self._close_once:
            closed, self._closed = self._closed, True
        if not closed:
            open_stores.release(self._opened)

    @property
    def folder(self) -> FilePath:
        """Folder of the store."""
        return self._opened.path

    @property
    def config(self) -> Config:
        """Settings that the store was opened with."""
        return self._opened.config

    def _use(self) -> open_store.OpenStore:
        self._opened.check_usable(closed=self._closed)
        return self._opened

    def _name(self, project: str | None) -> str:
        return self._project if project is None else check_project(project)

    def _garden_folder(self, project: str) -> FilePath:
        return self._use().files / "garden" / content_hash(project)[:16]

    def _judge(self, project: str | None) -> Judge:
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
        store, name = self._use(), self._name(project)
        space = store.space
        return Target(
            project=name,
            graph=store.graph,
            commit=store.committing(space),
            one_writer=store.mirror.one_writer,
            embed=space.embedder.embed_documents,
            known=lambda keys: store.snapshots.known(name, keys),
            accept=accept or (lambda candidates: self._judge(project)(candidates).verdicts),
            looking=lambda: self._looking(space),
            prepare=lambda: prepare(store.snapshots.of(name)),
        )

    @contextmanager
    def _looking(self, space: Space) -> Iterator[VectorStore | None]:
        """Hold the vectors of a space for a read; None where another has taken its place."""
        with self._use().reading() as held:
            yield held.vectors if held is space else None

    def _encoding(self) -> MemoryConfig:
        """Return how memories are encoded, with the threshold that was fitted to the store's embedder."""
        store = self._use()
        return store.bounds.applied_to(store.config.memory, store.embedder.fingerprint)

    def _models(self) -> Models:
        """Return what encodes memories."""
        roles = self.config.llm.roles
        named = (self.config.llm.provider, roles.classify.provider, roles.consolidate.provider)
        return Models(
            configured=self._given_generator is not None or any(each not in ("", "none") for each in named),
            classify=lambda: self._generator("classify"),
            consolidate=lambda: self._generator("consolidate"),
        )

    def _view(
        self,
        project: str | None,
        as_of: When | None,
        known_at: When | None,
        *,
        include_private: bool = True,
    ) -> View:
        return view(
            self._use().snapshots.of(self._name(project)),
            states=states(as_of, known_at),
            at=when(as_of, "as_of") or now(),
            known_at=when(known_at, "known_at"),
            include_private=include_private,
        )

    def _generator(self, role: str) -> Generator | None:
        return self._given_generator or choose_generator(self._opened.config.llm, role)
