"""Texts and names in normal form: two texts of one form are duplicates, two names of one form are one entity.

Cosine cannot tell: two sentences that differ in one number are nearer than most paraphrases, and one
letter, comma or capital makes another name, list or role of the rest. So what may differ is only what
never carries meaning: white space, the form of quotes and dashes, the full stop at the end, and the
capital of a small word that begins the text.
"""

import re
import unicodedata

from hydramem.text.lexicon import word_set

_FORMS = str.maketrans({"“": '"', "”": '"', "„": '"', "’": "'", "‘": "'", "‐": "-", "‑": "-", "\u00ad": None})
# Marks go only where they are accents of Latin, Greek or Cyrillic; in Thai or Hindi they are letters.
_ACCENTS = re.compile("[\u0300-\u036f]+")
_SMALL = word_set("stop_words", "sentence_starts")


def wording(text: str) -> str:
    """Return a text without what carries no meaning: texts of equal wording are duplicates."""
    words = unicodedata.normalize("NFC", text).translate(_FORMS).split()
    if words and words[0] in _SMALL:
        words[0] = words[0].lower()
    joined = " ".join(words)
    # One full stop is an end; of three, two would be left of an ellipsis.
    return joined[:-1] if joined.endswith(".") and not joined.endswith("..") else joined


def entity_key(name: str) -> str:
    """Normalise a name into the key that decides whether two names are one entity.

    NFKC and casefold make `É` composed and decomposed one, white space is collapsed, symbols are
    kept: `C`, `C++` and `C#` are three.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return " ".join(folded.split())


def folded(text: str) -> str:
    """Return a text in lower case, without the accents of Latin, Greek and Cyrillic letters."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return unicodedata.normalize("NFC", _ACCENTS.sub("", decomposed))
