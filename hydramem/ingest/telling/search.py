"""What to search for, so that a new memory finds those that it may end, however far their vectors are."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hydramem.ingest.telling import words
from hydramem.ingest.telling.parts import SPEAKERS, Statement, words_of

_MOST_WORDS = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What to look for besides the nearest neighbours.

    Attributes:
        query: Words for full text; None where the text states nothing that could end anything.
        slots: What it speaks of and says of it, such as "crate 1001 is": two memories of one slot may
            end each other.
    """

    query: str | None = None
    slots: tuple[str, ...] = ()


def looked_for(statements: Sequence[Statement]) -> Wanted:
    """Return what to search for the sake of some statements."""
    told = [
        one for one in statements if not one.unsure and not (one.past and one.attribute not in words.LASTING)
    ]
    found = dict.fromkeys(word for one in told for word in _search_words(one))
    slots = dict.fromkeys(" ".join((*sorted(one.subject), one.attribute)) for one in told if one.subject)
    return Wanted(query=" ".join(list(found)[:_MOST_WORDS]) or None, slots=tuple(slots))


def _search_words(statement: Statement) -> Iterator[str]:
    """Yield what it speaks of, what it gives up, what else is of the kind it names, and the verb's forms."""
    yield from sorted(statement.replaced)
    yield from sorted(statement.subject - SPEAKERS)
    said = words_of(statement.phrases) - SPEAKERS
    kinds = {words.CLASSES[form] for form in said if form in words.CLASSES}
    if statement.change or statement.negated:
        yield from sorted(said)
    if kinds and not statement.replaced:  # else what it takes the place of is named
        yield from (word for word, kind in words.CLASSES.items() if kind in kinds)
    if statement.subject <= SPEAKERS:
        yield from _of_speaker(statement, said, known=bool(kinds or statement.replaced))


def _of_speaker(statement: Statement, said: frozenset[str], *, known: bool) -> Iterator[str]:
    """Yield words by which what somebody said of himself is found, among much that others say so too."""
    yield from statement.about.casefold().split()
    yield from sorted(form for form in said if not form[:1].isdigit())
    attribute = statement.attribute
    if statement.change and not known and all(phrase.role for phrase in statement.phrases):
        attribute = "use" if statement.change == "switch" else "live"
    yield from (form for form, verb in words.VERBS.items() if verb == attribute and attribute != "is")
