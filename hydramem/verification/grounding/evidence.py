"""The evidence of a claim as a model is shown it: passages of bounded length, and quotes found in them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hydramem.core.row_types import Chunk, Entity, RelationCandidate
from hydramem.ingest.screening.quarantine import threats_in
from hydramem.storage.vector_rows import indexed_text
from hydramem.text.lexicon import word_set
from hydramem.text.normalize import entity_key
from hydramem.text.quotes import find_quote

_PASSAGES = 3
_PASSAGE_CHARS = 3000

# Words that ask for a verdict, in addition to the injection rules for all memories.
_ADDRESSED = re.compile(
    r"\bGROUNDED\b"
    r"|\b(?:answer|reply|respond|output)\b.{0,20}\bverdict\b"
    r"|\byou are (?:now )?(?:a|an|the) (?:\w+ )?(?:assistant|judge|verifier|language model)\b",
    re.IGNORECASE | re.DOTALL,
)
_WORD = re.compile(r"\w+")
_COMMON_WORDS = word_set("stop_words", "questions")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownEvidence:
    """A claim with what a model is shown of its evidence.

    Attributes:
        texts: The passages, cut where they are long.
        whole: Whether they are all of the evidence, uncut.
    """

    candidate: RelationCandidate
    chunks: tuple[str, ...]
    texts: tuple[str, ...]
    whole: bool


def show(candidate: RelationCandidate) -> ShownEvidence:
    """Choose the passages that a model is shown: those that name most of the claim, long ones cut."""
    named = [_terms(candidate.subject), _terms(candidate.object)]

    def promise(chunk: Chunk) -> tuple[bool, int]:
        text = entity_key(indexed_text(chunk))
        quote = candidate.relation.quote
        return (bool(quote) and find_quote(quote or "", (chunk.text,)) is not None, _named_in(text, named))

    chosen = sorted(candidate.passages, key=promise, reverse=True)[:_PASSAGES]
    texts = tuple(_excerpt(indexed_text(chunk), named) for chunk in chosen)
    whole = len(chosen) == len(candidate.passages) and all(
        len(text) == len(indexed_text(chunk)) for text, chunk in zip(texts, chosen, strict=True)
    )
    return ShownEvidence(
        candidate=candidate, chunks=tuple(chunk.id for chunk in chosen), texts=texts, whole=whole
    )


def speaks_of(quote: str, candidate: RelationCandidate) -> bool:
    """Say whether a quote names an end of a claim, and has further words."""
    rest = entity_key(quote)
    named = False
    for term in sorted(_terms(candidate.subject) | _terms(candidate.object), key=len, reverse=True):
        named |= term in rest
        rest = rest.replace(term, " ")
    return named and _WORD.search(rest) is not None


def _excerpt(text: str, named: Sequence[frozenset[str]]) -> str:
    """Cut a long text down to where it first names an end."""
    if len(text) <= _PASSAGE_CHARS:
        return text
    lower = text.lower()
    places = [lower.find(term) for terms in named for term in terms]
    first = min((place for place in places if place >= 0), default=0)
    start = max(0, min(first - _PASSAGE_CHARS // 4, len(text) - _PASSAGE_CHARS))
    return text[start : start + _PASSAGE_CHARS]


def addressed(shown: ShownEvidence) -> bool:
    """Say whether evidence addresses its reader or hides something: then no model reads it."""
    return any(_ADDRESSED.search(text) or threats_in(text) for text in shown.texts)


def names(entity: Entity) -> frozenset[str]:
    """Return the keys of an entity's name and aliases."""
    return frozenset(entity_key(name) for name in (entity.name, *entity.aliases))


def _terms(entity: Entity) -> frozenset[str]:
    """Return what names an entity in a sentence: its names, and their words that are not common."""
    known = names(entity)
    words = {word for name in known for word in _WORD.findall(name) if len(word) > 2}
    return known | (words - _COMMON_WORDS)


def _named_in(text: str, named: Sequence[frozenset[str]]) -> int:
    return sum(any(term in text for term in terms) for terms in named)
