"""Pack candidates into hits: no text twice, within a budget, each with its path and the reasons for it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any

from hydramem.core.results.graph_views import PathStep
from hydramem.core.results.hits import Hit, LinkView
from hydramem.core.row_types import Chunk
from hydramem.search.candidate_scores import RecallCandidate, statement, trust
from hydramem.search.conversation.asked_before import PART as ASKED_BEFORE
from hydramem.search.other_versions import LATER, OtherVersions
from hydramem.storage.vector_rows import indexed_text
from hydramem.text.normalize import wording
from hydramem.text.search_terms import distinct_words, words
from hydramem.text.tokens import count_tokens

_MEMORIES = ("note", "fact", "event")
_SNIPPET = 60
_HERE = "this passage"
_SHOWN_WORDS = 4


def distinct(candidates: Sequence[RecallCandidate], *, turns: bool = True) -> Iterator[RecallCandidate]:
    """Leave out what a better candidate says: memories of the same words, passages within passages.

    Of memories of the same words, also in several projects or in a curated file, the one of the most trusted
    layer takes the best place and its score. Turns stay beside each other, and so do the same words in
    another document: they were said twice.

    Args:
        candidates: Best first.
        turns: Whether turns stay beside a memory of the same words too, as who said it or when is asked for;
            otherwise the memory takes the place of the best of them.
    """
    remembered = {} if turns else _remembered(candidates)
    trusted = _most_trusted(candidates)
    passages: dict[str, list[str]] = {}
    statements = set[tuple[object, ...]]()
    for candidate in candidates:
        chunk = candidate.chunk
        if chunk.kind == "turn" and (memory := remembered.get(wording(chunk.text))) is not None:
            candidate = _in_place_of(candidate, memory)
            chunk = candidate.chunk
        if chunk.kind in _MEMORIES:
            if (same := statement(chunk)) in statements:
                continue
            statements.add(same)
            candidate = _in_place_of(candidate, trusted[same])
        if chunk.kind == "passage" and chunk.document is not None:
            text = " ".join(chunk.text.casefold().split())
            better = passages.setdefault(chunk.document, [])
            if any(text in other or other in text for other in better):
                continue
            better.append(text)
        yield candidate


def _remembered(candidates: Sequence[RecallCandidate]) -> dict[str, RecallCandidate]:
    """Return the first candidate that is a memory of each wording."""
    found: dict[str, RecallCandidate] = {}
    for one in candidates:
        if one.chunk.kind in _MEMORIES:
            found.setdefault(wording(one.chunk.text), one)
    return found


def _most_trusted(candidates: Sequence[RecallCandidate]) -> dict[tuple[object, ...], RecallCandidate]:
    """Return, for each statement, the first candidate of its most trusted layer."""
    found: dict[tuple[object, ...], RecallCandidate] = {}
    for one in (each for each in candidates if each.chunk.kind in _MEMORIES):
        same = statement(one.chunk)
        if trust(one.chunk.layer) > trust(found.setdefault(same, one).chunk.layer):
            found[same] = one
    return found


def _in_place_of(better: RecallCandidate, trusted: RecallCandidate) -> RecallCandidate:
    """Return the more trusted of two candidates that say the same, with the score of the better one."""
    if better.chunk.id == trusted.chunk.id:
        return better
    return replace(trusted, fused=replace(better.fused, id=trusted.chunk.id))


def within(candidates: Sequence[RecallCandidate], max_tokens: int | None) -> tuple[RecallCandidate, ...]:
    """Choose the candidates whose texts fit into a budget together, best first.

    Of candidates that say the same only the first counts. No source takes more than half of the budget
    while others need room. Where a passage does not fit, its chunk alone may.

    Args:
        max_tokens: Most tokens of the texts, or of the passages where there are any; None for no bound.
    """
    if max_tokens is None:
        return tuple(candidates)
    first: dict[tuple[object, ...], RecallCandidate] = {}
    for candidate in candidates:
        first.setdefault(statement(candidate.chunk), candidate)
    sized = [_Sized.of(one) for one in first.values()]
    chosen: dict[str, RecallCandidate] = {}
    spent = Counter[str]()
    for patient in (True, False):
        for one in (one for one in sized if one.candidate.chunk.id not in chosen):
            room = max_tokens - spent.total()
            if patient and spent[one.source]:
                room = min(room, max_tokens // 2 - spent[one.source])
            if (fitting := one.fitting(room)) is not None:
                chosen[fitting[0].chunk.id], tokens = fitting
                spent[one.source] += tokens
    return tuple(chosen[id] for one in sized if (id := one.candidate.chunk.id) in chosen)


@dataclass(frozen=True, slots=True)
class _Sized:
    """A candidate with the tokens of its passage and of its text, counted once."""

    candidate: RecallCandidate
    passage: int
    text: int

    @classmethod
    def of(cls, candidate: RecallCandidate) -> "_Sized":
        chunk = candidate.chunk
        return cls(candidate, count_tokens(candidate.context), count_tokens(chunk.text))

    @property
    def source(self) -> str:
        chunk = self.candidate.chunk
        return chunk.document or chunk.session or chunk.id

    def fitting(self, room: int) -> tuple[RecallCandidate, int] | None:
        """Return the candidate as far as it fits, and its tokens; None where it does not."""
        if self.candidate.context and self.passage <= room:
            return self.candidate, self.passage
        return (replace(self.candidate, context=""), self.text) if self.text <= room else None


def pack(
    query: str,
    candidates: Sequence[RecallCandidate],
    *,
    passed: Mapping[str, Chunk],
    links: Mapping[str, tuple[LinkView, ...]],
    versions: Mapping[str, OtherVersions] | None = None,
) -> tuple[Hit, ...]:
    """Build the hits.

    Args:
        candidates: The candidates that are returned, best first.
        passed: Chunks by id, those that the candidates' paths pass through among them.
        links: Links by id of the candidate's chunk.
        versions: What is later and earlier, by that id.
    """
    others = versions or {}
    return tuple(
        _hit(query, one, passed, links.get(one.chunk.id, ()), others.get(one.chunk.id, OtherVersions()))
        for one in candidates
    )


def _hit(
    query: str,
    candidate: RecallCandidate,
    passed: Mapping[str, Chunk],
    links: tuple[LinkView, ...],
    versions: OtherVersions,
) -> Hit:
    chunk = candidate.chunk
    path = _readable_path(candidate, passed)
    return Hit(
        **shared_fields(chunk, Hit),
        context=candidate.context,
        score=candidate.fused.score,
        scores=candidate.fused.parts,
        path=path,
        links=links,
        newer=versions.newer,
        older=versions.older,
        also=candidate.also,
        why=_why(query, candidate, path, links),
    )


def shared_fields(chunk: Chunk, shape: type[Any]) -> dict[str, Any]:
    """Return the fields of a chunk that a result of some shape has too, by name."""
    return {each.name: getattr(chunk, each.name) for each in fields(shape) if hasattr(chunk, each.name)}


def _readable_path(candidate: RecallCandidate, passed: Mapping[str, Chunk]) -> tuple[PathStep, ...]:
    if candidate.path is None:
        return ()
    names = {id: snippet(passed[id], _SNIPPET) for id in candidate.path.chunks if id in passed}
    return renamed(candidate.path.steps, names | {candidate.chunk.id: _HERE})


def renamed(steps: Sequence[PathStep], names: Mapping[str, str]) -> tuple[PathStep, ...]:
    """Put names where steps name a chunk by its id: a chunk is a node without a name."""
    return tuple(
        replace(step, source=names.get(step.source, step.source), target=names.get(step.target, step.target))
        for step in steps
    )


def snippet(chunk: Chunk, most: int) -> str:
    """Return up to so many characters of a chunk's text, on one line and quoted."""
    text = " ".join(chunk.text.split())
    return f"“{text[:most]}…”" if len(text) > most else f"“{text}”"


def _why(query: str, candidate: RecallCandidate, path: Sequence[PathStep], links: Sequence[LinkView]) -> str:
    parts = candidate.fused.parts
    reasons: list[str] = []
    if parts.get("vector"):
        reasons.append("near in meaning")
    if parts.get("text"):
        shared = shared_words(query, indexed_text(candidate.chunk))
        reasons.append(f"shares the words {', '.join(shared)}" if shared else "matches the query's words")
    if parts.get("neighbors"):
        reasons.append("is next to turns that match")
    if path and candidate.by_link:
        reasons.append(f"linked to another match: {path_line(path)}{_link_reason(candidate, links)}")
    elif path:
        reasons.append(f"graph: {path_line(path)}")
    elif parts.get("links"):
        reasons.append("linked to another match")
    elif parts.get("graph"):
        reasons.append("the graph leads here from what else was found")
    if parts.get(ASKED_BEFORE):
        reasons.append("answered a question like it before")
    if parts.get("names"):
        reasons.append("tells of what may be the same thing under another name")
    if parts.get(LATER):
        reasons.append("may supersede another match, which was told earlier")
    if candidate.also:
        reasons.append("stands for other matches that say the same")
    if candidate.moved_from is not None:
        reasons.append(f"moved from place {candidate.moved_from} by reading it with the question")
    sentence = "; ".join(reasons) or "matches"
    return f"{sentence[0].upper()}{sentence[1:]}."


def _link_reason(candidate: RecallCandidate, links: Sequence[LinkView]) -> str:
    match = candidate.path.chunks[0] if candidate.path is not None else ""
    reason = next((link.reason for link in links if link.other == match), "")
    return f" ({reason})" if reason else ""


def path_line(path: Sequence[PathStep]) -> str:
    """Write a path as one line: `Ada -[leads]-> billing, mentioned here`."""
    line = path[0].source
    for step in path:
        if step.target == _HERE and step.label == "mentions":
            return f"{line}, mentioned here"
        line += str(step)[len(step.source) :]
    return line


def shared_words(query: str, text: str) -> tuple[str, ...]:
    """Return the query's words that a text holds in some form, in the query's order, a few at most."""
    held = distinct_words(text)
    return tuple(word for word, forms in _word_forms(query) if not held.isdisjoint(forms))[:_SHOWN_WORDS]


@lru_cache(maxsize=16)
def _word_forms(query: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the query's words with the forms that full text looks for."""
    stripped = (word.strip("\"'.,;:!?()[]{}") for word in query.split())
    return tuple((word, tuple(words(word))) for word in dict.fromkeys(stripped))
