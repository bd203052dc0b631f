"""What verbs and nouns of role state, from `relation_verbs.toml`."""

from collections.abc import Mapping
from typing import Any

from hydramem.text.lexicon import tables, word_set

_TABLES = tables("relation_verbs")


def _by_word(table: Mapping[str, Any]) -> dict[str, tuple[str, bool]]:
    """Return (type, whether subject and object change places) by word."""
    found: dict[str, tuple[str, bool]] = {}
    for type, words in table.items():
        if type == "used_by":
            continue
        plain, _, turned = words.partition("~")
        for listed, inverse in ((plain, False), (turned, True)):
            for word in listed.split():
                if word in found:
                    raise ValueError(f"relation_verbs.toml: {word} stands twice: {found[word][0]}, {type}")
                found[word] = (type, inverse)
    return found


VERBS = _by_word(_TABLES["verbs"])
ROLES = _by_word(_TABLES["roles"])
ROLE_PREPOSITIONS = word_set("relation_verbs", "role_prepositions")
