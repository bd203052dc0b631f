"""What kind of thing a phrase names, as far as that is known by its words."""

from hydramem.ingest.telling import words
from hydramem.ingest.telling.parts import Phrase

PLACES = ("in", "at", "under", "near", "over", "with")
"""Roles of phrases that say where something is."""


def state_of(phrase: Phrase) -> str:
    """Return the name of the states that a phrase is one of: "open" and "closed" have one; else nothing."""
    return "" if phrase.owned or phrase.article else words.STATES.get(phrase.forms[-1], "")


def class_of(phrase: Phrase) -> str:
    """Return the kind of things that a phrase names one of: "MySQL" is a database; else nothing."""
    if phrase.forms[0] == "every" and len(phrase.forms) > 1 and phrase.forms[1].isdigit():
        return "frequency"
    whole = words.CLASSES.get("-".join(phrase.forms))
    if whole is not None:
        return whole
    said = [form for form in phrase.forms if not form[:1].isdigit()]
    # The last word says what it is: dark green is a color, and light roast no theme.
    for place, form in enumerate(reversed(said)):
        if form in words.CLASSES:
            return words.CLASSES[form] if place == 0 else f"{words.CLASSES[form]} {said[-1]}"
    return ""
