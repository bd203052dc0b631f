"""Capture the turns of a session, in one transaction.

Turns are kept as they were said, without blocks of recalled memory and without private reasoning. Each is a
memory of its own: the same words said twice are two turns. A turn with a key is one turn, however often it is
captured: its id is an address of the key, and a turn that is there in any state is left alone.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from hydramem.core.argument_checks import check_count, check_name, check_text
from hydramem.core.config import MemoryConfig
from hydramem.core.errors import InvalidInputError
from hydramem.core.ids import keyed_turn_id, session_id, turn_id
from hydramem.core.inputs import SaidTurn
from hydramem.core.results.write_results import Captured
from hydramem.core.row_types import Chunk, Times
from hydramem.core.time import now
from hydramem.ingest.extraction.extract import Passage, extract
from hydramem.ingest.extraction.findings import Found
from hydramem.ingest.memories.compare.ask_models import NO_MODELS, Models
from hydramem.ingest.memories.compare.model_findings import add_model_findings
from hydramem.ingest.memories.memory_write import MemoryWrite, session_row
from hydramem.ingest.screening.quarantine import QUARANTINED_FOR, screen
from hydramem.ingest.screening.strip_recalled_blocks import spoken_text
from hydramem.ingest.write_target import Target
from hydramem.storage.changes import current_run, in_one_run
from hydramem.storage.store import GraphStore
from hydramem.storage.vector_rows import indexed_text
from hydramem.text.chunking import split_turn
from hydramem.text.dates.caller_dates import moment
from hydramem.text.tokens import count_tokens

_MOST_TURNS = 1000


@in_one_run()
def capture(
    turns: Sequence[SaidTurn],
    session: str,
    *,
    target: Target,
    settings: MemoryConfig,
    turn_tokens: int,
    private: bool = False,
    models: Models = NO_MODELS,
) -> Captured:
    """Store turns of a session, in order; those with nothing to keep are left out.

    Args:
        turns: What was said.
        session: Name of the conversation.
        target: Where to store it.
        settings: What is accepted, and whether secrets are masked.
        turn_tokens: Tokens from which a turn is cut into several chunks.
        private: Whether the turns are private memories.
        models: What extracts; rules where there is none.

    Raises:
        InvalidInputError: A field is wrong; nothing is written.
    """
    name = check_name(session, name="session")
    check_count(len(turns), name="number of turns", least=0, most=_MOST_TURNS)
    id = session_id(target.project, name)
    checked = [_turn(turn, f"turns[{index}]", settings, id) for index, turn in enumerate(turns)]
    kept = [turn for turn in checked if turn is not None]
    fresh = _not_stored(kept, target.graph)
    parts = [
        replace(row, private=private, project=target.project, session=id)
        for turn in fresh
        for row in _parts(turn, turn_tokens)
    ]
    captured = Captured(session=name, left_out=len(checked) - len(kept), repeated=len(kept) - len(fresh))
    return _stored(parts, captured, target, settings, models) if parts else captured


def kept_text(turn: SaidTurn, *, name: str, settings: MemoryConfig) -> str:
    """Return what is to be kept of a turn; empty where that is nothing.

    Raises:
        InvalidInputError: It is no text, too long, or cannot be stored.
    """
    if isinstance(turn.text, str) and not turn.text.strip():
        return ""
    return spoken_text(
        check_text(turn.text, name=f"{name}.text", most=settings.max_chars), author=turn.author
    )


def _not_stored(turns: Sequence[Chunk], graph: GraphStore) -> list[Chunk]:
    """Leave out turns whose key the session has, or a turn before them."""
    known = {row.id for row in graph.chunks([turn.id for turn in turns if turn.id])}
    fresh: list[Chunk] = []
    for turn in turns:
        if not turn.id or turn.id not in known:
            fresh.append(turn)
            known.add(turn.id)
    return fresh


def _turn(turn: SaidTurn, where: str, settings: MemoryConfig, session: str) -> Chunk | None:
    """Return a turn as a chunk that has no place yet; None where nothing of it is to be kept.

    Without a key it has no id either: that follows from its place.
    """
    if not isinstance(turn, SaidTurn):
        raise InvalidInputError(f"{where}: expected a SaidTurn, got {type(turn).__name__}")
    author = check_name(turn.author, name=f"{where}.author")
    key = None if turn.key is None else check_name(turn.key, name=f"{where}.key")
    at = now()
    happened = at if turn.happened_at is None else moment(turn.happened_at, name=f"{where}.happened_at")
    text = kept_text(turn, name=where, settings=settings)
    if not text:
        return None
    screened = screen(text, settings, name=f"{where}.text")
    return Chunk(
        id="" if key is None else keyed_turn_id(session, key),
        project="",
        text=screened.text,
        kind="turn",
        source_type="session",
        author=author,
        happened_at=happened,
        state=screened.state,
        vector_state="ready",
        times=Times(recorded_at=at),
        metadata={QUARANTINED_FOR: list(screened.reasons)} if screened.state == "quarantined" else {},
    )


def _parts(turn: Chunk, most: int) -> list[Chunk]:
    # Numbered within the turn for now; the turn's own place is known under the writer lock.
    return [
        replace(
            turn,
            id=turn_id(turn.id, 0, part) if turn.id and part else turn.id,
            text=text,
            tokens=count_tokens(text),
            position=part,
        )
        for part, text in enumerate(split_turn(turn.text, most))
    ]


def _stored(
    parts: Sequence[Chunk], captured: Captured, target: Target, settings: MemoryConfig, models: Models
) -> Captured:
    # What is said in passing is as often wrong as what stands in documents: both keep what is mostly right.
    found = extract([Passage(text=row.text, author=row.author) for row in parts], document=True)
    # Models work before the writer lock is taken: others write meanwhile.
    texts = {place: row.text for place, row in enumerate(parts) if row.state == "active"}
    findings = add_model_findings(found, texts, settings=settings, models=models)
    vectors = target.embed([indexed_text(row) for row in parts])
    with target.one_writer:
        # Another call may have stored the same turns meanwhile: all parts of a turn, or none.
        known = {row.id for row in target.graph.chunks([row.id for row in parts if row.id])}
        captured = replace(
            captured,
            repeated=captured.repeated + sum(row.id in known and row.position == 0 for row in parts),
        )
        write = MemoryWrite(operation="capture", target=target, at=now())
        write.add_session(session_row(captured.session, target.project, write.at, target.graph))
        rows = _placed(
            [row for row in parts if row.id not in known], captured.session, write.at, target.graph
        )
        if not rows:
            return captured
        found_of = zip(parts, findings.found, vectors, strict=True)
        fresh = ((each, vector) for row, each, vector in found_of if row.id not in known)
        for row, (each, vector) in zip(rows, fresh, strict=True):
            # Nothing is made in the graph of a turn that is quarantined.
            write.insert(row, each if row.state == "active" else Found(), vector)
        write.commit()
    return replace(
        captured,
        turns=tuple(row.id for row in rows),
        quarantined=sum(row.state == "quarantined" for row in rows),
        entities=write.entity_names,
        notes=tuple(dict.fromkeys(note for notes in findings.notes for note in notes)),
        usage=findings.usage,
        run=current_run(),
    )


def _placed(parts: Sequence[Chunk], session: str, at: datetime, graph: GraphStore) -> list[Chunk]:
    """Give turns their places after those that the session has."""
    rows: list[Chunk] = []
    if not parts:
        return rows
    id = parts[0].session or ""
    place = graph.last_position(id)
    for part in parts:
        place += part.position == 0
        rows.append(
            replace(
                part,
                id=part.id or turn_id(id, place, part.position),
                position=place,
                source=session,
                times=Times(recorded_at=at),
            )
        )
    return rows
