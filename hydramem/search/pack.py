"""Make hits of the chunks that won: what they say, why they are here, and nothing twice."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from hydramem.core.types import Chunk, Hit, PathStep
from hydramem.search.fuse import Fused
from hydramem.search.lexical import shared_words
from hydramem.search.walk import Way
from hydramem.storage.store import indexed_text

_SNIPPET = 60
_HERE = "this passage"


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A chunk that was found, checked against the graph store.

    Attributes:
        way: How the graph leads here from an entity of the query; None where it does not.
    """

    chunk: Chunk
    fused: Fused
    way: Way | None = None


def distinct(candidates: Sequence[Candidate]) -> Iterator[Candidate]:
    """Leave out passages whose words a better passage of the same document holds already."""
    kept: dict[str, list[str]] = {}
    for candidate in candidates:
        chunk = candidate.chunk
        if chunk.kind == "passage" and chunk.document is not None:
            said = " ".join(chunk.text.casefold().split())
            before = kept.setdefault(chunk.document, [])
            if any(said in other or other in said for other in before):
                continue
            before.append(said)
        yield candidate


def pack(query: str, candidates: Sequence[Candidate], *, passed: Mapping[str, Chunk]) -> tuple[Hit, ...]:
    """Build the hits.

    Args:
        query: What was asked.
        candidates: The winners, best first.
        passed: Chunks by id that their ways pass through.
    """
    snippets = {id: _snippet(chunk) for id, chunk in passed.items()}
    return tuple(_hit(query, candidate, snippets) for candidate in candidates)


def _hit(query: str, candidate: Candidate, snippets: Mapping[str, str]) -> Hit:
    chunk = candidate.chunk
    path = _path(candidate, snippets)
    return Hit(
        id=chunk.id,
        text=chunk.text,
        score=candidate.fused.score,
        source=chunk.source,
        kind=chunk.kind,
        project=chunk.project,
        layer=chunk.layer,
        document=chunk.document,
        session=chunk.session,
        position=chunk.position,
        heading_path=chunk.heading_path,
        author=chunk.author,
        happened_at=chunk.happened_at,
        scores=candidate.fused.parts,
        path=path,
        why=_why(query, candidate, path),
    )


def _path(candidate: Candidate, snippets: Mapping[str, str]) -> tuple[PathStep, ...]:
    if candidate.way is None:
        return ()
    # A chunk is a node without a name: the words it begins with stand for it.
    names = {id: snippets[id] for id in candidate.way.chunks if id in snippets}
    names[candidate.chunk.id] = _HERE
    return tuple(
        replace(step, source=names.get(step.source, step.source), target=names.get(step.target, step.target))
        for step in candidate.way.steps
    )


def _snippet(chunk: Chunk) -> str:
    text = " ".join(chunk.text.split())
    return f"“{text[:_SNIPPET]}…”" if len(text) > _SNIPPET else f"“{text}”"


def _why(query: str, candidate: Candidate, path: Sequence[PathStep]) -> str:
    parts = candidate.fused.parts
    reasons: list[str] = []
    if parts.get("vector"):
        reasons.append("near in meaning")
    if parts.get("text"):
        shared = shared_words(query, indexed_text(candidate.chunk))
        reasons.append(f"shares the words {', '.join(shared)}" if shared else "matches the query's words")
    if parts.get("neighbors"):
        reasons.append("stands beside turns that match")
    if path:
        reasons.append(f"graph: {_told(path)}")
    elif parts.get("graph"):
        reasons.append("the graph leads here from what else was found")
    sentence = "; ".join(reasons) or "matches"
    return f"{sentence[0].upper()}{sentence[1:]}."


def _told(path: Sequence[PathStep]) -> str:
    """Write a path as one line: `Ada -[leads]-> billing, mentioned here`."""
    line = path[0].source
    for step in path:
        if step.target == _HERE and step.label == "mentions":
            return f"{line}, mentioned here"
        line += str(step)[len(step.source) :]
    return line
