"""What to search for, so that a new memory finds those that it may end, however far their vectors are."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hydramem.ingest.telling import words
from hydramem.ingest.telling.parts import Statement, words_of

_MOST_WORDS = 24
_SPEAKERS = frozenset({"i", "we"})


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
    yield from sorted(statement.subject - _SPEAKERS)
    said = words_of(statement.phrases) - _SPEAKERS
    if statement.change:
        yield from sorted(said)
    kinds = {words.CLASSES[form] for form in said if form in words.CLASSES}
    yield from (word for word, kind in words.CLASSES.items() if kind in kinds)
    if statement.negated:
        yield from sorted(said)
    if statement.subject <= _SPEAKERS:
        attribute = "live" if statement.change else statement.attribute
        yield from (form for form, verb in words.VERBS.items() if verb == attribute and attribute != "is")
