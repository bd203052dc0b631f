"""What is kept of a turn: what was said in it, not what was recalled into it and not private reasoning."""

from hydramem.ingest.screen.reasoning import without_reasoning
from hydramem.ingest.screen.recalled import strip_recalled

# Who has no private reasoning: tags in what they say are words like any other.
_PEOPLE = frozenset({"user", "human", "me"})


def spoken(text: str, *, author: str | None) -> str:
    """Return what somebody said, as it may be kept; empty where that is nothing.

    Args:
        text: The turn.
        author: Who said it.
    """
    if (author or "").casefold() not in _PEOPLE:
        text = without_reasoning(text)
    return strip_recalled(text).strip()
