"""Decides which text is quarantined: text that gives orders to the model that reads it, or hides something.

"Ignore all previous instructions" is an order; "we can ignore the earlier rules", "do not ignore the rules
above" and a sentence that quotes an order as an example are not. `data/screening_rules.toml` has the rules;
beside them weights that are learnt from examples judge what is about to be stored (`learned_orders`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from hydramem.core.argument_checks import check_text
from hydramem.core.config import MemoryConfig
from hydramem.core.errors import HydraMemError, InvalidInputError
from hydramem.core.package_data import data_tables
from hydramem.core.row_types import State
from hydramem.ingest.screening.addressed_orders import addressed_orders, is_for_machines, parts_of
from hydramem.ingest.screening.hidden_text import as_latin, hidden, reveal
from hydramem.ingest.screening.learned_orders import order_probability, order_weights
from hydramem.ingest.screening.secrets import find_secrets, mask_secrets
from hydramem.ingest.screening.strip_recalled_blocks import strip_recalled
from hydramem.ingest.screening.wrapped_text import concealed_by_terminal, decoded_parts, unshown_parts
from hydramem.text.lexicon import word_set
from hydramem.text.shown_text import one_line

QUARANTINED_FOR = "quarantined_for"
"""Key of a quarantined memory's metadata that holds the reasons."""

_ENOUGH = 1.0
_MOST_SHOWN = 60
_LOOKED_BACK = 80

# What separates two words. Bounded, so that a search takes linear time.
_GAP = r"[^\w{}=;]{1,6}"
_Order = Literal["", "anywhere", "at the start"]


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectionRule:
    """One way to give orders to a model, as `data/screening_rules.toml` describes it.

    Attributes:
        reason: What such a text does, for a person.
        weight: Rules of different reasons that add up to `_ENOUGH` quarantine a text.
        script: "latin" matches plain Latin letters, "own" the text's own script.
        order: Whether the words before a match must make it an order.
    """

    reason: str
    pattern: re.Pattern[str]
    weight: float = 1.0
    script: Literal["latin", "own"] = "latin"
    order: _Order = ""


@cache
def _tables() -> dict[str, Any]:
    return data_tables("screening_rules")


@cache
def _words(name: str) -> frozenset[str]:
    return frozenset(_tables()["words"][name].split())


@cache
def _context(name: str) -> re.Pattern[str]:
    return re.compile(_tables()["context"][name].replace("\n", ""))


@cache
def injection_rules() -> tuple[InjectionRule, ...]:
    """Return the rules in their order, compiled at the first call.

    Raises:
        HydraMemError: A rule's reason is not explained, or an explanation has no rule.
    """
    if unexplained := {row["reason"] for row in _tables()["rules"]} ^ set(_tables()["why"]):
        names = ", ".join(sorted(unexplained))
        raise HydraMemError(f"screening_rules.toml: reasons and [why] differ: {names}")
    parts = {name: part.replace("\n", "") for name, part in _tables()["parts"].items()}
    return tuple(
        InjectionRule(**{**row, "pattern": _compiled(row["pattern"], parts)}) for row in _tables()["rules"]
    )


def _compiled(pattern: str, parts: dict[str, str]) -> re.Pattern[str]:
    """Return the regular expression of a rule, its short forms written out."""
    pattern = pattern.replace("\n", "")
    for name, part in parts.items():
        pattern = pattern.replace(f"<{name}>", part)
    pattern = pattern.replace(" ?", r"\W{0,6}").replace(" ", _GAP)
    for most in range(1, 10):
        pattern = pattern.replace(f"<{most}>", rf"(?:[\w']{{1,24}}+{_GAP}){{0,{most}}}")
    return re.compile(pattern)


_CLAUSE = re.compile(r"[.!?:;,\n\"(){}\[\]<>|#>。！？、，]|(?<!\w)-+(?!\w)")
_WORDS = re.compile(r"[\w']+")


def orders(text: str) -> tuple[str, ...]:
    """Return the orders that a text gives to its reader, one phrase each; empty where it gives none.

    Args:
        text: As it is stored; the rules match what `reveal` returns for it.
    """
    own = _without_quotes(reveal(text))
    latin = as_latin(own)
    found: dict[str, tuple[float, str]] = {}
    for reason, sentence in addressed_orders(latin):
        found[reason] = (1.0, sentence)
    for rule in injection_rules():
        shown = latin if rule.script == "latin" else own
        # Nearly every text matches none: a failed search is all that it takes.
        order = next(_orders_by(rule, shown), None) if rule.pattern.search(shown) else None
        if order is not None and rule.weight >= found.get(rule.reason, (0.0, ""))[0]:
            found[rule.reason] = (rule.weight, order)
    if sum(weight for weight, _ in found.values()) < _ENOUGH:
        return ()
    return tuple(f"{reason}: {one_line(order, _MOST_SHOWN)!r}" for reason, (_, order) in found.items())


def _orders_by(rule: InjectionRule, text: str) -> Iterator[str]:
    for match in rule.pattern.finditer(text):
        before = text[max(0, match.start() - _LOOKED_BACK) : match.start()]
        after = text[match.end() : match.end() + _LOOKED_BACK]
        if rule.order and not _is_order(before, after, rule.order):
            continue
        yield match[0]


def _is_order(before: str, after: str, order: _Order) -> bool:
    clause = _CLAUSE.split(before)[-1]
    words = _WORDS.findall(clause)[-5:]
    if order == "at the start":
        return _words("openings").issuperset(words)
    if word_set("negations", "of_orders").intersection(words[-3:]) or _context("for_people").match(after):
        return False
    if words[-1:] == ["to"]:
        return _context("addressed").search(clause) is not None
    return _words("reports").isdisjoint(words[-2:]) or words[-1:] in (["please"], ["you"], ["must"], ["now"])


# Paired quotes, code in a line or a block, and quoted lines of Markdown and mail.
_QUOTED = re.compile(r"""\"[^\"\n]{2,300}+\"|`[^`\n]{2,300}+`|(?<!\w)'[^'\n]{8,300}+'(?!\w)""")
_QUOTED_LINES = re.compile(r"(?m)^> ?[^\n]{0,500}+")

# Addresses and paths: words in them say nothing about the sentence.
_NAMES = re.compile(r"(?<!\S)[^\s./@]*+[./@]\S++")


def _without_quotes(text: str) -> str:
    """Return a text without what it quotes to talk about orders; the lines stay apart."""
    about = _context("about_orders")
    rest = _QUOTED_LINES.sub(" ", text)
    if rest != text and about.search(_NAMES.sub(" ", rest)):
        text = rest
    lines = text.split("\n")
    return "\n".join(
        _QUOTED.sub(" … ", line)
        if _QUOTED.search(line) and about.search(_NAMES.sub(" ", _QUOTED.sub(" ", line)))
        else line
        for line in lines
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Screened:
    """A text as it may be stored.

    Attributes:
        text: Without recalled blocks, secrets masked where that is configured.
        state: `active` or `quarantined`.
        reasons: Why it is quarantined, and the kinds of secrets in it, one phrase each.
        masked: Number of masked secrets.
    """

    text: str
    state: State = "active"
    reasons: tuple[str, ...] = ()
    masked: int = 0


def screen(text: str, settings: MemoryConfig, *, name: str = "text", most: int | None = None) -> Screened:
    """Screen a text before it is stored, in time proportional to its length.

    Args:
        text: The text to store.
        settings: What is accepted, whether secrets are masked, and whether learnt weights judge too.
        name: The argument's name, for error messages.
        most: Maximum number of characters; the configured one where not given.

    Raises:
        InvalidInputError: It is blank, too long, cannot be stored, or is only recalled memory.
    """
    kept = strip_recalled(check_text(text, name=name, most=most or settings.max_chars))
    if not kept:
        raise InvalidInputError(f"{name}: is only what was recalled from this memory")
    threats = reasons_to_hold(kept, learned=settings.learned_screening)
    secrets = find_secrets(kept)
    kinds = dict.fromkeys(f"secret: {secret.kind}" for secret in secrets)
    return Screened(
        text=mask_secrets(kept, secrets) if settings.mask_secrets else kept,
        state="quarantined" if threats else "active",
        reasons=(*threats, *kinds),
        masked=len(secrets) if settings.mask_secrets else 0,
    )


def reasons_to_hold(text: str, *, learned: bool) -> tuple[str, ...]:
    """Return why a text is quarantined when it is stored, one phrase each; empty where it is not.

    Args:
        learned: Whether learnt weights judge what the rules let in. They let in nothing that a rule holds:
            ordinary words around an order would lower its score.
    """
    ruled = threats_in(text)
    if ruled or not learned or (score := order_probability(text)) < order_weights().holds:
        return ruled
    return (f"looks like an order to the reader: score {score:.2f}",)


def threats_in(text: str) -> tuple[str, ...]:
    """Return why a text must not enter a prompt by the rules alone, one phrase each; empty where it may.

    The rules are for texts that a person may have revived, too, so they hold back less than is quarantined.
    """
    concealed = ("hidden: text that terminal codes conceal",) if concealed_by_terminal(text) else ()
    return (*(f"hidden: {what}" for what in hidden(text)), *concealed, *orders(text), *_wrapped(text))


def _wrapped(text: str) -> Iterator[str]:
    """Yield what a person does not see of a text, where it gives an order to who does."""
    for unshown in unshown_parts(text):
        if orders(unshown) or is_for_machines(as_latin(reveal(unshown))):
            yield f"hidden: an order that is not shown: {one_line(unshown, _MOST_SHOWN)!r}"
            break
    for decoded in decoded_parts(text):
        if orders(decoded) or "any!" in parts_of(as_latin(reveal(decoded))):
            yield f"hidden: an order in code: {one_line(decoded, _MOST_SHOWN)!r}"
            break
