"""Orders to the model that reads a text: found by rules, and told from talk about such orders.

"Ignore all previous instructions" is an order; "we can ignore the earlier rules", "do not ignore the rules
above" and a sentence that quotes an order as an example are not.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from hydramem.core.argument_checks import check_text
from hydramem.core.config import MemoryConfig
from hydramem.core.errors import InvalidInputError
from hydramem.core.row_types import State
from hydramem.ingest.screening.hidden_text import as_latin, hidden, reveal
from hydramem.ingest.screening.injection_rules import ENGLISH, OTHER_LANGUAGES, Ordered, Rule, compiled
from hydramem.ingest.screening.secrets import find_secrets, mask_secrets
from hydramem.ingest.screening.spoken_text import strip_recalled
from hydramem.text.escaping import one_line

_ENOUGH = 1.0

_MOST_SHOWN = 60

_LOOKED_BACK = 80

_MOST_QUOTED = 120


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_CLAUSE = re.compile(r"[.!?:;,\n\"(){}\[\]<>|#>。！？、，]|(?<!\w)-+(?!\w)")

_WORDS = re.compile(r"[\w']+")

_NEGATED = _set(
    "not never dont don't cannot can't won't shouldn't mustn't doesn't didn't without nicht nie "
    "niemals no nunca ne jamais non mai nao niet nooit inte aldrig"
)

# Before a verb these make it a report, a possibility or a plan of people, not an order.
_REPORTED = _set(
    "we i they he she it who that which can could may might would will'd users people developers "
    "engineers students drivers models agents attackers teams often sometimes usually tend tends "
    "tended tries tried decided decides able safe ok fine wants wanted asked agreed chose choose "
    "allowed let lets us them him her if when unless because team script parser compiler client "
    "server tool tests code readers everyone nobody wir sie ich er man man's ihr nosotros ellos "
    "ella nous ils elle on noi loro nos eles"
)

_TO_YOU = re.compile(
    r"\b(?:you|assistant|ai|model|agent|claude|chatgpt|llm)\W{1,3}(?:(?:are|have|"
    r"need|must|now|will|hereby|also|"
    r"should|ought|going|required|instructed|asked|told|ordered|expected|supposed|"
    r"obliged|free|permitted)\W{1,3}){0,4}"
    r"to\W*$"
)

_LEADS = _set(
    "bitte jetzt nun also und dann sofort du musst sie sollst ab por favor ahora y entonces debes "
    "debe tienes que inmediatamente s'il te plait vous svp maintenant et puis alors tu dois devez "
    "per ora e adesso poi devi agora entao voce deve alsjeblieft nu en dan je moet prosze teraz i "
    "snalla och da hola hallo bonjour ciao ola ok assistant ki ai ia asistente assistente "
    "a partir de desde em diante von an d'ora in avanti favore gentilmente amablemente gefalligst "
    "importante wichtig achtung atencion attention attenzione"
)

# After an order about a document, a machine or a form: instructions for people.
_FOR_PEOPLE = re.compile(
    r"[^\w.!?\n]{0,3}(?:if|when|unless|in|from|for|on|about|regarding|that came with)"
    r"\s(?:[\w'-]{1,20}\s){0,4}?"
    r"(?:readme|docs?|documentation|manual|guide|wiki|page|section|step|chapter|"
    r"recipe|ticket|e-?mail|mail|letter|"
    r"slides?|form|leaflet|package|box|label|macos|mac|windows|linux|ubuntu|docker|"
    r"version|release|using|use|have|"
    r"invoice|kit|shelf|model \d|v\d|course|textbook|homework|eslint|lint|pull request|pr)\b"
)

_TALKS = re.compile(
        r"\b(?:phrases?|strings?|patterns?|prompts?|attacks?|injections?|tests?|tested|"
        r"testing|detects?|detected|blocks?|"
        r"blocked|filters?|filtered|examples?|jailbreaks?|regex|scanners?|classifiers?|"
        r"hostile|malicious|payloads?|"
        r"flags?|flagged|matches|assert|expect(?:s|ed)?|classif(?:y|ies|ied)|contained|"
        r"contains|titled|called|entitled|paper|talk|refuses?|refused|rejects?|"
        r"rejected|quarantines?|quarantined|e\.g|such as|like|sogenannte|beispiel|"
        r"ejemplo|exemple|frases?|cadenas?)\b"
)  # fmt: skip

_QUOTES = "\"'`"


def orders(text: str) -> tuple[str, ...]:
    """Return the orders that a text gives to its reader, one phrase each; empty where it gives none.

    Args:
        text: As it is stored; it is looked at as `reveal` shows it.
    """
    own = reveal(text)
    latin = as_latin(own)
    found: dict[str, tuple[float, str]] = {}
    for rule, pattern in _rules():
        shown = latin if rule.form == "latin" else own
        # Nearly every text holds none: a look that fails is all that it takes.
        said = next(_given(rule, pattern, shown), None) if pattern.search(shown) else None
        if said is not None and rule.weight >= found.get(rule.says, (0.0, ""))[0]:
            found[rule.says] = (rule.weight, said)
    if sum(weight for weight, _ in found.values()) < _ENOUGH:
        return ()
    return tuple(f"{says}: {one_line(said, _MOST_SHOWN)!r}" for says, (_, said) in found.items())


@cache
def _rules() -> tuple[tuple[Rule, re.Pattern[str]], ...]:
    return tuple((rule, compiled(rule)) for rule in (*ENGLISH, *OTHER_LANGUAGES))


def _given(rule: Rule, pattern: re.Pattern[str], text: str) -> Iterator[str]:
    for match in pattern.finditer(text):
        before = text[max(0, match.start() - _LOOKED_BACK) : match.start()]
        after = text[match.end() : match.end() + _LOOKED_BACK]
        if rule.ordered and not _is_order(before, after, rule.ordered):
            continue
        if not _is_quoted(before, match[0], after):
            yield match[0]


def _is_order(before: str, after: str, ordered: Ordered) -> bool:
    clause = _CLAUSE.split(before)[-1]
    words = _WORDS.findall(clause)[-5:]
    if ordered == "at the start":
        return _LEADS.issuperset(words)
    if _NEGATED.intersection(words[-3:]) or _FOR_PEOPLE.match(after):
        return False
    if words[-1:] == ["to"]:
        return _TO_YOU.search(clause) is not None
    return _REPORTED.isdisjoint(words[-2:]) or words[-1:] in (["please"], ["you"], ["must"], ["now"])


def _is_quoted(before: str, said: str, after: str) -> bool:
    """Say whether an order is quoted in a sentence that talks about such orders."""
    opened = max(before.rfind(quote) for quote in _QUOTES)
    if opened < 0 or len(before) - opened > _MOST_QUOTED or "\n" in before[opened:]:
        return False
    quote = before[opened]
    closed = after.find(quote)
    inside = said.endswith(quote) or closed >= 0
    apart = opened == 0 or not before[opened - 1].isalnum()
    around = before[:opened] + " … " + after[closed + 1 :]
    return inside and apart and len(said) + max(closed, 0) <= _MOST_QUOTED and bool(_TALKS.search(around))


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
