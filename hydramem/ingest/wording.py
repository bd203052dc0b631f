"""Whether two texts say the same: equal wordings are duplicates, and nothing else is.

Cosine cannot tell: two sentences that differ in one number are nearer than most paraphrases, and one
letter, comma or capital makes another name, list or role of the rest. So what may differ is only what
never carries meaning: white space, the form of quotes and dashes, the full stop at the end, and the
capital of a small word that begins the text.
"""

import unicodedata

_FORMS = str.maketrans({"“": '"', "”": '"', "„": '"', "’": "'", "‘": "'", "‐": "-", "‑": "-", "\u00ad": None})
# No word that is also a name, such as An, My, Do or May.
_SMALL = frozenset(
    {"The", "This", "That", "These", "Those", "It", "We", "You", "They", "There", "When", "Where", "Why"}
    | {"How", "What", "Which", "If", "For", "From", "With", "After", "Before", "And", "But"}
)


def wording(text: str) -> str:
    """Return a text without what carries no meaning: texts of equal wording are duplicates."""
    words = unicodedata.normalize("NFC", text).translate(_FORMS).split()
    if words and words[0] in _SMALL:
        words[0] = words[0].lower()
    said = " ".join(words)
    # One full stop is an end; of three, two would be left of an ellipsis.
    return said[:-1] if said.endswith(".") and not said.endswith("..") else said
