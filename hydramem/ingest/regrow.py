"""Regrow: what memories name and state, for those that were stored without it, as quarantined ones are."""

from collections.abc import Sequence

from hydramem.core.row_types import Chunk
from hydramem.core.time import now
from hydramem.ingest.extract.rules import Passage, extract
from hydramem.ingest.target import Target
from hydramem.ingest.weave import relate, weave
from hydramem.storage.changes import record
from hydramem.storage.outbox import worth_a_vector
from hydramem.storage.write import Write


def regrow(chunks: Sequence[Chunk], *, target: Target, operation: str) -> None:
    """Add the entities and relations of chunks that have none yet; the writer lock is held.

    Args:
        chunks: Stored, active, of the target's project.
        target: Where they are.
        operation: On whose behalf, for the audit.
    """
    at, project = now(), target.project
    found = extract([Passage(text=chunk.text, author=chunk.author) for chunk in chunks])
    woven = weave([(chunk.id, each) for chunk, each in zip(chunks, found, strict=True)], target=target, at=at)
    related = relate(
        woven.stated,
        target=target,
        before=woven.before,
        at=at,
        chunks={chunk.id: chunk for chunk in chunks},
        entities=woven.entities,
    )
    if not (woven.entities or related.kept or related.refused):
        return
    why = "what it names and states was found"
    write = Write(
        changes=(
            *(
                record(operation, project=project, target=row.id, before=row, after=row, reason=why)
                for row in chunks
            ),
            *(each.change(operation) for each in related.refused),
        ),
        entities=woven.entities,
        mentions=woven.mentions,
        relations=related.kept,
    )
    worth = {row.id: row.name for row in woven.crossing(worth_a_vector)}
    target.commit(write, target.embed_by_id(worth))
