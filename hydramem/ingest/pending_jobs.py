"""Pending jobs: kinds of jobs that follow a write, and those that make the vectors of stored chunks."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from hydramem.core.row_types import Chunk, Job
from hydramem.ingest.write_target import Target
from hydramem.storage.jobs import job, job_payload
from hydramem.storage.store import GraphStore, Listing
from hydramem.storage.vector_rows import Vector, indexed_text
from hydramem.storage.write import Write
from hydramem.storage.write_validation import batches

EMBED = "embed"
"""The kind of job that makes vectors."""

ENCODE = "encode"
"""The kind of job that embeds, classifies, consolidates and links a memory that was stored as it is."""

REREAD = "reread"
"""The kind of job in which a model reads a document that rules alone were applied to."""

LINK = "link"
"""The kind of job that links a memory to its neighbours."""

DISTILL = "distill"
"""The kind of job in which a model distills what was said in a session."""

_MANY = 1_000_000
EMBED_AT_ONCE = 64
"""Chunks in one call of the model, and in one job."""


def embed_jobs(chunks: Sequence[Chunk], *, project: str) -> tuple[Job, ...]:
    """Return the jobs that make the vectors of chunks, which their write stores as `pending`."""
    return tuple(
        job(EMBED, project=project, chunks=[row.id for row in rows])
        for rows in batches(chunks, EMBED_AT_ONCE)
    )


def missing_jobs(bare: Collection[str], graph: GraphStore) -> tuple[Job, ...]:
    """Return jobs for pending chunks that no job names, such as those of a job that failed for good.

    Args:
        bare: Ids of chunks that are stored without a vector.
        graph: Where their rows and the jobs are stored.
    """
    waiting: dict[str, list[Chunk]] = defaultdict(list)
    for row in graph.chunks(sorted(bare)):
        if row.vector_state == "pending":
            waiting[row.project].append(row)
    asked = set(_asked_for(graph)) if waiting else set()
    rest = {project: [row for row in rows if row.id not in asked] for project, rows in waiting.items()}
    return tuple(each for project, rows in rest.items() for each in embed_jobs(rows, project=project))


def _asked_for(graph: GraphStore) -> Iterator[str]:
    for each in graph.jobs(Listing(limit=_MANY), states=("waiting", "running")):
        if each.kind == EMBED:
            yield from job_payload(each)["chunks"]
        elif each.kind == ENCODE:
            yield job_payload(each)["chunk"]


def chunks_to_embed(jobs: Sequence[Job]) -> tuple[str, ...]:
    """Return the ids of the chunks whose vectors some jobs ask for."""
    return tuple(dict.fromkeys(id for each in jobs for id in job_payload(each)["chunks"]))


def embed(ids: Sequence[str], *, target: Target) -> dict[str, Vector]:
    """Make and return the vectors of pending chunks; others, and deleted ones, are skipped.

    Raises:
        ModelError: The embedder failed; vectors made before are stored.
    """
    made: dict[str, Vector] = {}
    for some in batches(ids, EMBED_AT_ONCE):
        # A text that changes while the model reads it is read again.
        while waiting := _texts(some, target):
            vectors = target.embed_by_id(waiting)
            with target.one_writer:
                now = _texts(some, target)
                same = tuple(id for id, text in now.items() if waiting.get(id) == text)
                if same:
                    made |= {id: vectors[id] for id in same}
                    target.commit(Write(changes=(), embedded=same), {id: vectors[id] for id in same})
    return made


def _texts(ids: Sequence[str], target: Target) -> dict[str, str]:
    return {row.id: indexed_text(row) for row in target.graph.chunks(ids) if row.vector_state == "pending"}
