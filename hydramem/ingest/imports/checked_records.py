"""Records of other programs, checked and screened: pure steps of an import."""

from dataclasses import replace

from hydramem.core.argument_checks import check_name, check_text
from hydramem.core.config import MemoryConfig
from hydramem.core.errors import InvalidInputError
from hydramem.core.ids import content_hash
from hydramem.ingest.documents.formats.transcript import Conversation
from hydramem.ingest.documents.read import SourceText, Transcript
from hydramem.ingest.extraction.findings import Name
from hydramem.ingest.imports.records import EntityRecord, RelationRecord
from hydramem.ingest.knowledge.entities import MOST_DESCRIPTION
from hydramem.ingest.knowledge.relation_input import RelationInput, checked, name_of
from hydramem.ingest.screening.quarantine import threats_in
from hydramem.ingest.screening.secrets import find_secrets, mask_secrets


def checked_name(record: EntityRecord) -> Name:
    """Return an entity's names in their stored form.

    Raises:
        InvalidInputError: A name is none, or the description gives orders to the model that reads it.
    """
    described = record.description
    if described is not None:
        described = check_text(described, name="description", most=MOST_DESCRIPTION).strip()
        if threats := threats_in(described):
            raise InvalidInputError(f"description: goes into prompts and is not taken: {'; '.join(threats)}")
    return Name(
        name=name_of(record.name, "name"),
        type=check_name(record.type, name="type").lower(),
        aliases=tuple(name_of(alias, "aliases") for alias in record.aliases),
        description=described,
    )


def checked_relation(record: RelationRecord) -> RelationInput:
    """Return a relation in its stored form.

    Raises:
        InvalidInputError: A field is wrong.
    """
    return checked(
        RelationInput(
            subject=record.subject,
            type=record.type,
            object=record.object,
            quote=record.quote,
            confidence=record.confidence,
            bidirectional=record.bidirectional,
            valid_from=record.valid_from,
            valid_to=record.valid_to,
        )
    )


def masked(parsed: SourceText | Transcript, settings: MemoryConfig) -> tuple[SourceText | Transcript, int]:
    """Return a note or conversation with its secrets masked where that is configured, and their number."""
    if not settings.mask_secrets:
        return parsed, 0
    if isinstance(parsed, SourceText):
        text, count = _masked_text(parsed.text)
        return (replace(parsed, text=text) if count else parsed), count
    count, conversations = 0, []
    for conversation in parsed.conversations:
        turns = []
        for turn in conversation.turns:
            text, found = _masked_text(turn.text)
            turns.append(replace(turn, text=text) if found else turn)
            count += found
        conversations.append(Conversation(name=conversation.name, turns=tuple(turns)))
    return (replace(parsed, conversations=tuple(conversations)) if count else parsed), count


def _masked_text(text: str) -> tuple[str, int]:
    secrets = find_secrets(text)
    return mask_secrets(text, secrets), len(secrets)


def scope_under(scope: str, *names: str) -> str:
    """Return a path under a scope with a segment for each name that is not empty; a `/` in one is a `-`."""
    segments = (name.replace("/", "-").replace("\\", "-").strip(". ") for name in names)
    return "/".join([scope.rstrip("/"), *(each for each in segments if each)]) or "/"


def hash_of(*parts: object) -> str:
    """Return the hash by which an unchanged record is recognised."""
    return content_hash(repr(parts))
