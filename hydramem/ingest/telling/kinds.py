"""What kind of thing a phrase names, as far as that is known by its words."""

from hydramem.ingest.telling import words
from hydramem.ingest.telling.parts import Phrase

PLACES = ("at", "under", "near", "with", "over")
"""Roles of phrases that say where something is."""


def state_of(phrase: Phrase) -> str:
    """Return the name of the states that a phrase is one of: "open" and "closed" have one; else nothing."""
    return "" if phrase.owned or phrase.article else words.STATES.get(phrase.forms[-1], "")


def class_of(phrase: Phrase) -> str:
    """Return the kind of things that a phrase names one of: "MySQL" is a database; else nothing."""
    whole = words.CLASSES.get("-".join(phrase.forms))
    if whole is not None:
        return whole
    # The last word says what it is: dark green is a color.
    return next((words.CLASSES[form] for form in reversed(phrase.forms) if form in words.CLASSES), "")
