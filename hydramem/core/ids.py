"""Content addresses: the same thing in the same project always has the same id.

An id is a letter for the kind of thing, an underscore and 128 bits of BLAKE2b in hex. Parts are
length-prefixed before hashing, so that no two different lists of parts can collide by concatenation.
"""

import hashlib
import re
import secrets
import string
from collections.abc import Sequence
from datetime import datetime

_LETTERS = string.digits + string.ascii_letters
_SHORT = re.compile(r"c_[0-9a-f]{8,31}")
_SHORT_LENGTH = 10


def _address(kind: str, *parts: str) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        # Lone surrogates can reach here from file names; they must hash, not raise.
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return f"{kind}_{digest.hexdigest()}"


def short_id(id: str) -> str:
    """Return the beginning of a chunk's id: 32 bits, which few chunks of any store share; others whole."""
    return id[:_SHORT_LENGTH] if _SHORT.match(id) else id


def is_short_id(text: str) -> bool:
    """Return whether a text can be the beginning of a chunk's id."""
    return _SHORT.fullmatch(text) is not None


def content_hash(text: str | bytes) -> str:
    """Return the hash by which an unchanged document is recognised."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def document_id(project: str, source: str) -> str:
    """Address a document by where it came from."""
    return _address("d", project, source)


def passage_id(document: str, position: int, text: str) -> str:
    """Address a passage by its document, position and text."""
    return _address("c", "passage", document, str(position), text)


def turn_id(session: str, sequence: int, part: int = 0) -> str:
    """Address a turn by its session and sequence: the same words at two places are two turns.

    A turn too long for one chunk has several parts.
    """
    return _address("c", "turn", session, str(sequence), str(part))


def keyed_turn_id(session: str, key: str, part: int = 0) -> str:
    """Address a turn by its session and the key that its caller gives, whatever its place is."""
    return _address("c", "keyed turn", session, key, str(part))


def memory_id(project: str, scope: str, kind: str, text: str, when: datetime | None, generation: int) -> str:
    """Address a note, fact or event by what it says, of which time, and how often it was withdrawn before.

    The generation is used instead of the time of its first assertion: it distinguishes two lives of one text
    just as well, and lets an equal current memory be found by id instead of by a scan.
    """
    return _address("c", kind, project, scope, text, when.isoformat() if when else "", str(generation))


def session_id(project: str, name: str) -> str:
    """Address a session by its name within a project."""
    return _address("s", project, name)


def item_id(project: str, namespace: Sequence[str], key: str) -> str:
    """Address an item by its namespace and key."""
    return _address("i", "item", project, *namespace, key)


def session_item_id(project: str, session: str, position: int) -> str:
    """Address an item of a session by its place."""
    return _address("i", "session", project, session, str(position))


def item_text_id(item: str, place: int, written_at: datetime, text: str) -> str:
    """Address a searchable text of an item by its place among the item's texts and when it was written."""
    return _address("c", "item", item, str(place), written_at.isoformat(), text)


def entity_id(project: str, key: str) -> str:
    """Address an entity by its key."""
    return _address("e", project, key)


def relation_id(project: str, subject: str, type: str, object: str, valid_from: datetime | None) -> str:
    """Address a relation: employed 2019 to 2021 and again from 2023 are two."""
    return _address("r", project, subject, type, object, valid_from.isoformat() if valid_from else "")


def version_id(row: str, recorded_at: datetime, *, kind: str = "r") -> str:
    """Address a relation, or a memory (kind `c`), as it was believed before it was changed."""
    return _address(kind, "version", row, recorded_at.isoformat())


def link_id(project: str, source: str, type: str, target: str) -> str:
    """Address a link between two chunks."""
    return _address("l", project, source, type, target)


def community_id(project: str, member: str) -> str:
    """Address a community by the id of its most central member."""
    return _address("g", project, member)


def new_id(kind: str) -> str:
    """Return a fresh random id for things that are events: changes, outbox rows, jobs, requests.

    With a kind of one letter it has twelve bytes, which the graph engines keep within the row and its index:
    a longer key takes a page more in each of 256 parts of the index, a megabyte a table. Of a million ids in
    one store two are equal with a chance of one in two million.
    """
    return f"{kind}_{''.join(secrets.choice(_LETTERS) for _ in range(10))}"
