"""What was made from memories alone: earlier versions, corrected wordings, distilled facts."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from hydramem.core.row_types import Chunk
from hydramem.ingest.knowledge.end_validity import DISTILLED_FROM, SUPERSEDED_BY, VERSION_OF
from hydramem.storage.schema import CHUNK
from hydramem.storage.store import GraphStore
from hydramem.text.normalize import folded


@dataclass(slots=True)
class _References:
    """What chunks refer to, by the id of the chunk.

    Attributes:
        rows: The chunk whose earlier version or wrong wording it is.
        turns: The turns that a fact was distilled from.
        quotes: The words of a turn that it rests on.
    """

    rows: dict[str, str] = field(default_factory=dict)
    turns: dict[str, frozenset[str]] = field(default_factory=dict)
    quotes: dict[str, str] = field(default_factory=dict)


def found_with(chunks: Mapping[str, Chunk], graph: GraphStore) -> dict[str, Chunk]:
    """Return chunks and what goes with them, by id.

    A version goes with its row, and a wording that `revise` corrected with the one that took its place. A
    fact goes where all of its turns do, or the one that it quotes.
    """
    found, references = dict(chunks), _references(graph) if chunks else _References()
    while True:
        wanted = {id for id, of in references.rows.items() if of in found}
        wanted |= {id for id in references.turns if _falls(id, references, found)}
        if not (new := sorted(wanted - found.keys())):
            return found
        found.update((row.id, row) for row in graph.chunks(new))


def _references(graph: GraphStore) -> _References:
    made = _References()
    for rows in graph.scan(CHUNK):
        for row in rows:
            if VERSION_OF in row.metadata:
                made.rows[row.id] = str(row.metadata[VERSION_OF])
            elif row.state == "archived" and row.times.valid_to is None and SUPERSEDED_BY in row.metadata:
                made.rows[row.id] = str(row.metadata[SUPERSEDED_BY])
            if turns := turns_of(row):
                made.turns[row.id] = frozenset(turns)
                made.quotes[row.id] = _quote_of(row)
    return made


def turns_of(row: Chunk) -> tuple[str, ...]:
    """Return the ids of the turns that a fact was distilled from; none for other memories."""
    rests_on = row.metadata.get(DISTILLED_FROM)
    turns = rests_on.get("turns") if isinstance(rests_on, dict) else None
    return tuple(map(str, turns)) if isinstance(turns, list) else ()


def _quote_of(row: Chunk) -> str:
    rests_on = row.metadata.get(DISTILLED_FROM)
    return str(rests_on.get("quote") or "") if isinstance(rests_on, dict) else ""


def _falls(id: str, references: _References, found: Mapping[str, Chunk]) -> bool:
    turns = [turn for turn in references.turns[id] if turn in found]
    quote = folded(references.quotes[id])
    return bool(turns) and (
        len(turns) == len(references.turns[id])
        or (bool(quote) and any(quote in folded(found[turn].text) for turn in turns))
    )
