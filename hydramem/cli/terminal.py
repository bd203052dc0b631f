"""The terminal: its console, and one value as plain text."""

import dataclasses
import sys
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from hydramem.core.results.graph_views import PathStep
from hydramem.core.results.verdicts import ConflictSide, FieldChange
from hydramem.core.results.write_results import RelationView
from hydramem.core.row_types import Entity, Usage
from hydramem.text.shown_text import amount

if TYPE_CHECKING:
    from rich.console import Console

# Stored text is not trusted: control characters (colours, cursor moves, titles) must not reach a terminal.
_CONTROLS = {code: "\ufffd" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}


def console(*, errors: bool = False, quiet: bool = False) -> "Console":
    """Return the console of an output stream; a pipe gets no colour and no wrapping."""
    from rich.console import Console

    return Console(file=sys.stderr if errors else sys.stdout, highlight=False, soft_wrap=True, quiet=quiet)


def plain(value: object) -> str:
    """Return one value as a person reads it, without control characters."""
    match value:
        case None:
            text = ""
        case datetime():
            text = value.isoformat(timespec="seconds")
        case float():
            text = f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
        case tuple() | list():
            text = ", ".join(plain(item) for item in value)
        case Mapping():
            text = ", ".join(f"{key}={plain(item)}" for key, item in value.items())
        case PathStep():
            text = str(value)
        case Entity():
            also = f", also {', '.join(value.aliases)}" if value.aliases else ""
            text = f"{value.name} ({value.type}{also}, {value.mention_count} mentions, {value.id})"
        case Usage():
            tokens = value.prompt_tokens + value.reply_tokens
            text = (
                f"{amount(value.calls, 'model call')}, {tokens:,} tokens" if value.calls else "no model call"
            )
        case ConflictSide():
            origin = ", ".join(filter(None, (value.source, f"{value.said_at:%Y-%m-%d}", value.id)))
            text = f"{value.text} ({origin})"
        case RelationView():
            dates = f" from {value.valid_from:%Y-%m-%d}" if value.valid_from else ""
            dates += f" until {value.valid_to:%Y-%m-%d}" if value.valid_to else ""
            guess = "inferred, " if value.origin == "inferred" and not value.quote else ""
            verdict = f"{guess}{value.verdict or value.state}"
            text = f"{value.subject} -[{value.type}]-> {value.object}{dates} ({verdict}, {value.id})"
        case FieldChange():
            text = f"{value.field}: {plain(value.before) or '-'} -> {plain(value.after) or '-'}"
        case _ if dataclasses.is_dataclass(value):
            text = ", ".join(
                f"{item.name}={plain(getattr(value, item.name))}" for item in dataclasses.fields(value)
            )
        case _:
            text = str(value)
    return text.translate(_CONTROLS)
