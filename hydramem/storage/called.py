"""Which entity is meant by a name: its own key goes before an alias, and who bore an alias first keeps it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hydramem.text.normalize import entity_key


def called(keys: Sequence[str], entities: Iterable[Sequence[Any]]) -> Mapping[str, str]:
    """Return the id of the entity of each key; keys that none bears are left out.

    Args:
        keys: Folded names.
        entities: Id, key and aliases of those that may bear one, in the order they are stored.
    """
    wanted = set(keys)
    own: dict[str, str] = {}
    others: dict[str, str] = {}
    for id, key, aliases in entities:
        if key in wanted:
            own[key] = id
        for alias in aliases or ():
            if (folded := entity_key(alias)) in wanted:
                others.setdefault(folded, id)
    found = others | own
    return {key: found[key] for key in keys if key in found}
