"""Screen: what is to be remembered, without what was recalled, held back where it gives orders.

Memory is read into prompts: a text that gives orders to the model that reads it, or hides something, is
kept and listed, but not recalled until a person revives it. Documents are not screened: they are kept
verbatim, and what is recalled of them stands escaped in a block that says it is no instruction.
"""

from dataclasses import dataclass

from hydramem.core.argument_checks import check_text
from hydramem.core.config import MemoryConfig
from hydramem.core.errors import InvalidInputError
from hydramem.core.row_types import State
from hydramem.ingest.screen.hidden import hidden
from hydramem.ingest.screen.orders import orders
from hydramem.ingest.screen.recalled import strip_recalled
from hydramem.ingest.screen.secrets import find_secrets, mask_secrets

QUARANTINED_FOR = "quarantined_for"
"""Key of a quarantined memory's metadata that says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Screened:
    """A text as it may be stored.

    Attributes:
        text: Without recalled blocks, secrets masked where that is configured.
        state: `active`, or `quarantined`.
        reasons: Why it is held back, and which kinds of secrets it holds, one phrase each.
        masked: How many secrets were masked.
    """

    text: str
    state: State = "active"
    reasons: tuple[str, ...] = ()
    masked: int = 0


def screen(text: str, settings: MemoryConfig, *, name: str = "text", most: int | None = None) -> Screened:
    """Screen a text that is to be remembered. Takes time in proportion to it, whatever it holds.

    Args:
        text: What is to be remembered.
        settings: What is accepted, and whether secrets are masked.
        name: The argument's name, for error messages.
        most: Most characters; as configured where not given.

    Raises:
        InvalidInputError: It is blank, too long, cannot be stored, or is only recalled memory.
    """
    said = strip_recalled(check_text(text, name=name, most=most or settings.max_chars))
    if not said:
        raise InvalidInputError(f"{name}: is only what was recalled from this memory")
    threats = threats_in(said)
    secrets = find_secrets(said)
    kinds = dict.fromkeys(f"secret: {one.kind}" for one in secrets)
    return Screened(
        text=mask_secrets(said, secrets) if settings.mask_secrets else said,
        state="quarantined" if threats else "active",
        reasons=(*threats, *kinds),
        masked=len(secrets) if settings.mask_secrets else 0,
    )


def threats_in(text: str) -> tuple[str, ...]:
    """Return why a text must not be read into a prompt, one phrase each; empty where it may."""
    return tuple(f"hidden: {what}" for what in hidden(text)) + orders(text)
