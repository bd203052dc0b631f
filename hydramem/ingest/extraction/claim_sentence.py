"""A sentence with its names and what it is about: what the rules for relations read."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hydramem.ingest.extraction.findings import Claim, How
from hydramem.ingest.extraction.name_words import FIRST_PERSON, PRONOUNS
from hydramem.ingest.extraction.relation_patterns import Pattern
from hydramem.ingest.extraction.spans import Span
from hydramem.ingest.extraction.statement_cues import is_stated
from hydramem.text.sentences import sentence_spans

_LONGEST_QUOTE = 400
_OPENS = re.compile(r"[\s\"“'(*>-]*(\w+)(?:[’']\w+)?(?:\s+([a-z]\w*))?")


@dataclass(frozen=True, slots=True)
class ClaimSentence:
    """One sentence with its names and what it is about."""

    text: str
    start: int
    end: int
    names: Sequence[Span]
    topic: str | None
    author: str | None
    about: str | None

    @property
    def quote(self) -> str:
        """The sentence, white space as single blanks."""
        return " ".join(self.text[self.start : self.end].split())[:_LONGEST_QUOTE]

    def states(self, at: int) -> bool:
        """Say whether the sentence states what it says from a place in the text on."""
        return is_stated(self.text, self.start, self.end, at)

    def claim(self, subject: str, pattern: Pattern, other: str, *, direct: bool = True) -> Claim:
        """Return the claim of a pattern between two names of the sentence."""
        first, second = (other, subject) if pattern.inverse else (subject, other)
        how: How = "rules" if direct else "indirect"
        return Claim(
            subject=first, type=pattern.type, object=second, confidence=0.5, quote=self.quote, how=how
        )


def claim_sentences(
    text: str, spans: Sequence[Span], *, topic: str | None, author: str | None
) -> Iterator[ClaimSentence]:
    """Yield the sentences of a text that name something, or may say something of its topic or author.

    Args:
        text: The chunk's text.
        spans: Its names, in order.
        topic: What the text is about; a sentence that starts with a pronoun says something of it.
        author: Who says the text; "I" is this.
    """
    if not spans:
        return
    starts = [span.start for span in spans]
    for start, end in sentence_spans(text):
        names = spans[bisect_left(starts, start) : bisect_left(starts, end)]
        if names or topic is not None or author is not None:
            about = _about(text, start, end, names, topic, author)
            yield ClaimSentence(text, start, end, names, topic, author, about)


def _about(
    text: str, start: int, end: int, names: Sequence[Span], topic: str | None, author: str | None
) -> str | None:
    opening = _OPENS.match(text, start, end)
    first = next((span for span in names if span.type != "date"), None)
    if opening is not None:
        word = opening.group(1).casefold()
        if word in FIRST_PERSON:
            return author
        if word in PRONOUNS or (word == "the" and _is_noun(opening, first)):
            return topic
    return first.name if first is not None else None


def _is_noun(opening: re.Match[str], first: Span | None) -> bool:
    """Say whether "The film ..." opens the sentence, rather than "The Beatles" or "The billing service"."""
    return opening.group(2) is not None and not (first is not None and first.start <= opening.start(2))
