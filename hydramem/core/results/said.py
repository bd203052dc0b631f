"""What operations on sessions and time return."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Captured:
    """What was kept of a conversation.

    Attributes:
        session: Name of the conversation.
        turns: Ids of the turns, in order; a long turn has several.
        left_out: Turns with nothing to keep: empty, only recalled memory, only private reasoning, or half
            of an exchange that was interrupted.
        quarantined: How many give orders or hide something: kept and listed, not recalled.
        entities: Names of what they mention.
        run: Names the changes of this call, for `undo`; None where nothing was stored.
    """

    session: str
    turns: tuple[str, ...] = ()
    left_out: int = 0
    quarantined: int = 0
    entities: tuple[str, ...] = ()
    run: str | None = None
