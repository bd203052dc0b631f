"""The doctor: compare the vector store with the graph store row by row, and repair what differs."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hydramem.core.results.upkeep_results import Diagnosis
from hydramem.core.row_types import Change, Chunk, Document
from hydramem.storage.changes import record
from hydramem.storage.outbox import BATCH, Mirror
from hydramem.storage.repair.compare_stores import MirrorDifference, StoreComparison, compare_stores
from hydramem.storage.repair.damaged_rows import JudgedDocuments, JudgedRows, judge_documents, judge_rows
from hydramem.storage.repair.lost_rows import LostRows, export_lost, lost_rows
from hydramem.storage.store import GraphStore
from hydramem.storage.vector_rows import VectorStore
from hydramem.storage.write import Write
from hydramem.storage.write_validation import batches

Progress = Callable[[int, int], None]
"""Called with rows done and rows to do."""
_NAMED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What a comparison means: which rows the graph has lost, and whose words are damaged."""

    lost: LostRows
    judged: JudgedRows
    documents: JudgedDocuments

    @property
    def kept(self) -> frozenset[str]:
        """Ids of the rows that must not be rebuilt from the graph."""
        lost = [row.id for row in self.lost.chunks] + [row.id for row in self.lost.entities]
        return frozenset((*lost, *self.judged.undecided))


def diagnose(
    graph: GraphStore,
    vectors: VectorStore,
    mirror: Mirror,
    *,
    fix: bool = False,
    salvage: bool = False,
    folder: Path | None = None,
    progress: Progress | None = None,
) -> Diagnosis:
    """Compare the two stores row by row; with `fix`, repair what differs from the side that is right.

    That is the graph, but for words that do not fit their id where those of the vectors do. What only the
    vectors hold is never overwritten.

    Args:
        graph, vectors, mirror: The two stores, and the mirror that rebuilds rows.
        fix: Repair rows, and write what the graph has lost to a file.
        salvage: Also delete what the graph has lost from the vectors, after it was written to the file.
        folder: The store's folder, where that file is made; None makes none.
        progress: Called while rows are rebuilt.

    Raises:
        StorageError: A store failed, or the file cannot be written; then nothing was deleted.
    """
    with mirror.one_writer:
        mirror.tidy()
        if not (fix or salvage):
            compared = compare_stores(graph, vectors)
            return _diagnosis(compared, _examine(graph, vectors, compared))
        mirror.drain()
        compared = compare_stores(graph, vectors)
        findings = _examine(graph, vectors, compared)
        file = export_lost(folder, findings.lost) if folder is not None and findings.lost else None
        _restore_words(mirror, findings)
        kept = findings.kept
        chunks, entities = compared.chunks.without(kept), compared.entities.without(kept)
        repaired = rebuild(mirror, vectors, chunks, entities, progress)
        if salvage and file is not None:
            lost = findings.lost
            vectors.remove(chunks=[row.id for row in lost.chunks], entities=[row.id for row in lost.entities])
        if repaired:
            vectors.maintain(force=True)
        after = compare_stores(graph, vectors)
        found = _diagnosis(after, _examine(graph, vectors, after), file)
    return replace(found, repaired=repaired)


def _examine(graph: GraphStore, vectors: VectorStore, compared: StoreComparison) -> Findings:
    only = compared.chunks.orphaned, compared.entities.orphaned
    return Findings(
        lost=lost_rows(graph, vectors, chunks=only[0], entities=only[1]),
        judged=judge_rows(graph, vectors, compared.chunks.stale),
        documents=judge_documents(graph),
    )


def _restore_words(mirror: Mirror, findings: Findings) -> None:
    """Write rows with the words that fit their ids to the graph, which holds damaged ones."""
    for chunks in batches(findings.judged.right_in_vectors, BATCH):
        mirror.commit(Write(changes=_repairs(chunks), chunks=tuple(chunks)))
    for documents in batches(findings.documents.right_in_chunks, BATCH):
        mirror.commit(Write(changes=_repairs(documents), documents=tuple(documents)))
    mirror.tidy()


def _repairs(rows: Sequence[Chunk] | Sequence[Document]) -> tuple[Change, ...]:
    why = "its words were damaged"
    return tuple(record("doctor", project=row.project, target=row.id, after=row, reason=why) for row in rows)


def rebuild(
    mirror: Mirror,
    vectors: VectorStore,
    chunks: MirrorDifference,
    entities: MirrorDifference,
    progress: Progress | None,
    *,
    size: int = BATCH,
) -> int:
    """Copy rows that differ from the graph; return how many.

    Args:
        vectors: Where to; maintained on the way.
        progress: Called with rows rebuilt and rows to rebuild.
        size: Rows rebuilt at once.
    """
    total, done = len(chunks.ids) + len(entities.ids), 0
    for refresh, ids in ((mirror.refresh_chunks, chunks.ids), (mirror.refresh_entities, entities.ids)):
        for batch in batches(ids, size):
            refresh(batch)
            vectors.maintain()
            done += len(batch)
            if progress is not None:
                progress(done, total)
    return done


def _diagnosis(compared: StoreComparison, findings: Findings, file: Path | None = None) -> Diagnosis:
    chunks, entities = compared.chunks, compared.entities
    problems = (*_differences(compared, findings), *_losses(findings, file))
    return Diagnosis(
        healthy=not problems,
        chunks_in_graph=compared.chunks_in_graph,
        chunks_in_vectors=compared.chunks_in_vectors,
        entities_in_graph=compared.entities_in_graph,
        entities_in_vectors=compared.entities_in_vectors,
        missing=len(chunks.missing) + len(entities.missing),
        stale=len(chunks.stale) + len(entities.stale),
        orphaned=len(chunks.orphaned) + len(entities.orphaned),
        lost=len(findings.lost),
        damaged=sum(map(len, _damaged(findings))),
        pending=compared.pending,
        lost_file=None if file is None else str(file),
        problems=problems,
    )


def _differences(compared: StoreComparison, findings: Findings) -> Iterator[str]:
    damaged = frozenset(row.id for row in findings.judged.right_in_vectors)
    kept = findings.kept | damaged
    chunks, entities = compared.chunks.without(kept), compared.entities.without(kept)
    counted = {
        "are missing from the vectors": (len(chunks.missing), len(entities.missing)),
        "are out of date in the vectors": (len(chunks.stale), len(entities.stale)),
        "are in the vectors, which do not need them": (len(chunks.orphaned), len(entities.orphaned)),
    }
    for what, (of_chunks, of_entities) in counted.items():
        if of_chunks or of_entities:
            counts = f"{of_chunks} chunks and {of_entities} entities"
            yield f"{counts} {what}; `hydramem doctor --fix` rebuilds them"
    if compared.pending:
        yield f"{compared.pending} rows wait in the outbox; opening the store delivers them"


def _losses(findings: Findings, file: Path | None) -> Iterator[str]:
    lost, judged = findings.lost, findings.judged
    if lost:
        where = (
            "`hydramem doctor --fix` writes them to a file" if file is None else f"they are kept in {file}"
        )
        yield (
            f"{len(lost.chunks)} chunks and {len(lost.entities)} entities are in the vectors only: the graph "
            f"has lost them; {where}; restore a backup that has them, or delete them from the vectors with "
            "`hydramem doctor --salvage`"
        )
    if judged.right_in_vectors:
        named = _named([row.id for row in judged.right_in_vectors])
        yield (
            f"the graph holds damaged words of {named}, as the ids show; the vectors hold the right ones, "
            "and `hydramem doctor --fix` writes them back"
        )
    if findings.documents.right_in_chunks:
        named = _named([row.id for row in findings.documents.right_in_chunks], "documents")
        yield (
            f"the graph holds damaged sources of {named}, as the ids show; their chunks name the right ones, "
            "and `hydramem doctor --fix` writes them back"
        )
    if findings.documents.undecided:
        named = _named(findings.documents.undecided, "documents")
        yield f"the sources of {named} do not fit their ids; nothing is overwritten; compare with a backup"
    if judged.undecided:
        yield (
            f"graph and vectors hold different words of {_named(judged.undecided)}, and the ids do not show "
            "which are right; nothing is overwritten; compare them with a backup"
        )


def _damaged(findings: Findings) -> tuple[Sequence[object], ...]:
    chunks, documents = findings.judged, findings.documents
    return (
        *(chunks.right_in_vectors, chunks.undecided),
        *(documents.right_in_chunks, documents.undecided),
    )


def _named(ids: Sequence[str], what: str = "chunks") -> str:
    more = f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
    return f"{len(ids)} {what} ({', '.join(ids[:_NAMED])}{more})"
