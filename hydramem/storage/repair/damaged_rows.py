"""Decides which rows are right where graph and vectors, or a document and its chunks, say different things.

The words of a passage or a memory are in its id, so the side whose words give that id is right. The words of
a turn are not: where nothing but they differ, no side can be told to be right.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hydramem.core.row_types import Chunk, Document
from hydramem.storage.repair.content_address import chunk_fits_id, document_fits_id
from hydramem.storage.schema import DOCUMENT
from hydramem.storage.store import GraphStore, Stretch
from hydramem.storage.vector_rows import StoredChunk, VectorStore, chunk_mirror_hash, searched_text


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRows:
    """Chunks whose words differ between the two stores.

    Attributes:
        right_in_vectors: The chunks with the words of the vectors, which fit their ids; the graph's do not.
        right_in_graph: Ids of those whose words in the graph fit.
        undecided: Ids of those where neither fits, or both may.
    """

    right_in_vectors: tuple[Chunk, ...] = ()
    right_in_graph: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()


def judge_rows(graph: GraphStore, vectors: VectorStore, ids: Sequence[str]) -> JudgedRows:
    """Judge chunks that both stores hold and that differ; those that differ in no words are left out."""
    stored = {row.id: row for row in vectors.stored_chunks(ids)}
    repaired, fitting, undecided = list[Chunk](), list[str](), list[str]()
    for row in graph.chunks(ids):
        held = stored.get(row.id)
        if held is None or held.text == _held_text(row):
            continue
        other = _with_words_of(row, held)
        if chunk_fits_id(row):
            fitting.append(row.id)
        elif other is not None and chunk_fits_id(other):
            repaired.append(other)
        elif not _is_outdated(row, other, held):
            undecided.append(row.id)
    return JudgedRows(
        right_in_vectors=tuple(repaired), right_in_graph=tuple(fitting), undecided=tuple(undecided)
    )


def _held_text(row: Chunk) -> str:
    """Return a chunk's text as the vector store holds it, which has no lone surrogates."""
    return searched_text(row).encode("utf-8", "replace").decode()


def _with_words_of(row: Chunk, held: StoredChunk) -> Chunk | None:
    """Return a chunk of the graph with the words of the vectors; None where its headings differ too."""
    around = searched_text(replace(row, text=""))
    if held.text.startswith(around):
        return replace(row, text=held.text.removeprefix(around))
    return None


def _is_outdated(row: Chunk, other: Chunk | None, held: StoredChunk) -> bool:
    """Say whether the vectors hold an earlier state of a row: more than its words differ."""
    if chunk_fits_id(row) is not None:
        return False
    return other is None or chunk_mirror_hash(other) != held.mirror


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedDocuments:
    """Documents whose project or source does not fit their id.

    Attributes:
        right_in_chunks: The documents with the source that their chunks name, which fits.
        undecided: Ids of those whose chunks do not tell it either.
    """

    right_in_chunks: tuple[Document, ...] = ()
    undecided: tuple[str, ...] = ()


def judge_documents(graph: GraphStore) -> JudgedDocuments:
    """Judge every document by its id, and those that do not fit by their first chunk."""
    damaged = [row for batch in graph.scan(DOCUMENT) for row in batch if not document_fits_id(row)]
    repaired = tuple(filter(None, (_as_chunks_say(row, graph) for row in damaged)))
    known = {row.id for row in repaired}
    return JudgedDocuments(
        right_in_chunks=repaired, undecided=tuple(row.id for row in damaged if row.id not in known)
    )


def _as_chunks_say(document: Document, graph: GraphStore) -> Document | None:
    for chunk in graph.between([Stretch(document=document.id, first=0, last=0)]):
        other = replace(document, source=chunk.source, project=chunk.project)
        if document_fits_id(other):
            return other
    return None
