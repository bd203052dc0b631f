"""The verb of a clause: where it is, and what it says in one form for all persons and languages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from hydramem.ingest.legacy_update_rules.clause_tokens import Change, Token
from hydramem.ingest.legacy_update_rules.word_tables import VALUES, WORDS

_TOOLS = frozenset({"do", "did", "will", "se", "got", "gets"})

_KNOWN = frozenset(
    (
        *VALUES["verbs"],
        *VALUES["past_verbs"],
        *VALUES["changes"],
        *WORDS["replacing"],
        *WORDS["dropping"],
    )
) | (WORDS["auxiliaries"] | {"do", "did"})

_GERMAN = frozenset(["ist", "sind", "bin", "wurde", "wurden", "wird", "hat", "haben", "habe"])

_CHANGE: Mapping[str, Change] = {
    "move": "move",
    "switch": "switch",
    "date": "date",
    "number": "number",
}

_HAVING = frozenset({"hat", "haben", "habe"})

_PRETERITES = ("ed", "ó", "aron", "ieron")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """The verb of a clause.

    Attributes:
        form: As it stands there.
        attribute: What it says, in one form for all of its own.
        tail: What follows it.
        past: Whether it tells of what was or was done.
        replaces: Whether its object is what something else takes the place of.
        drops: Whether its object is given up.
        spanish: Whether it is Spanish by its ending.
    """

    form: str
    attribute: str
    tail: list[Token]
    change: Change = ""
    past: bool = False
    replaces: bool = False
    drops: bool = False
    spanish: bool = False


def lemma(form: str) -> str:
    """Return the one name of a verb by any of its forms; a form that is not known stands for itself."""
    if form in VALUES["verbs"]:
        return VALUES["verbs"][form]
    if form.endswith("ing") and len(form) > 5:
        stem = form[:-3]
        for base in (stem, f"{stem}e", stem[:-1]):
            if base in VALUES["verbs"]:
                return VALUES["verbs"][base]
        return stem
    return form


def has_verb(clause: Sequence[Token]) -> bool:
    """Say whether a clause has a verb."""
    return verb_place(clause) is not None


def verb_place(clause: Sequence[Token]) -> int | None:
    """Return where the verb of a clause is; what may be a noun is one where a surer verb is there."""
    weak = None
    for place, token in enumerate(clause):
        last = clause[place - 1] if place else None
        if token.form not in _KNOWN or not _may_be_verb(token, last):
            continue
        if token.form not in WORDS["nouns_too"]:
            return place
        weak = place if weak is None else weak
    return weak if weak is not None else _done(clause)


def _may_be_verb(token: Token, last: Token | None) -> bool:
    if token.kind != "word" or token.article:
        return False
    if token.form == "am":  # am Montag
        return last is not None and last.form == "i"
    if last is None:
        return True
    return not (last.owner or last.form in WORDS["owners"])


def _done(clause: Sequence[Token]) -> int | None:
    """Return where an unknown English verb in the past is: "I renewed"."""
    for place, (before, token) in enumerate(pairwise(clause)):
        known = before.form in VALUES["speaker"] or before.form in WORDS["pronouns"] or before.capital
        verbal = len(token.form) > 4 and token.form.endswith("ed") and not token.form.endswith("eed")
        if known and verbal and not (token.article or token.capital):
            return place + 1
    return None


def guessed_place(clause: Sequence[Token]) -> int | None:
    """Return where a verb that is not known must be: behind a pronoun, a name or a first noun."""
    if len(clause) < 3:
        return None
    first, second = clause[0], clause[1]
    inverted = _inverted_place(clause)
    if inverted is not None:
        return inverted
    if first.form in VALUES["prepositions"] or first.kind != "word":
        return None
    if first.article or first.form in WORDS["owners"]:
        at = 1 if first.article else 2
        while at < len(clause) - 1 and clause[at].marks:
            at += 1
        return at if clause[at].kind == "word" else None
    return 1 if second.kind == "word" and not second.article and not second.capital else None


def _inverted_place(clause: Sequence[Token]) -> int | None:
    """Return where a verb that is not known stands before its subject: "für Konzerte leihen wir"."""
    for place, (token, after) in enumerate(pairwise(clause)):
        lower = place and token.kind == "word" and not (token.capital or token.article)
        if lower and after.form in ("ich", "wir") and clause[place - 1].form not in VALUES["prepositions"]:
            return place
    return None


def verb_of(tail: list[Token]) -> Verb:
    """Read the verb group that begins a list of tokens; a German participle stands at the end."""
    past, place = False, 0
    copula = tail[0].form
    while place + 1 < len(tail) and (tail[place].form in WORDS["auxiliaries"] or tail[place].form in _TOOLS):
        if not _goes_on(tail[place + 1]):
            break
        copula = tail[place].form
        past = past or copula in WORDS["past_copulas"] or copula == "did"
        place += 1
    main, rest = tail[place], tail[place + 1 :]
    if main.form in WORDS["auxiliaries"] and rest and _closes(rest[-1], main.form):
        main, rest = rest[-1], rest[:-1]
    return _classed(main, rest, copula, past=past)


def _goes_on(token: Token) -> bool:
    goes = token.form.endswith("ing") and len(token.form) > 5 and token.form not in VALUES["states"]
    known = token.form in _KNOWN or lemma(token.form) in VALUES["verbs"] or goes
    return known and not (token.article or token.owner or token.capital)


def _closes(last: Token, auxiliary: str) -> bool:
    """Say whether a word is the participle that ends a German clause."""
    if auxiliary not in _GERMAN or last.capital:
        return False
    known = (VALUES["changes"], VALUES["past_verbs"], WORDS["replacing"], WORDS["dropping"])
    done = auxiliary in _HAVING and "ge" in last.form[:6] and last.form.endswith(("t", "en"))
    return done or any(last.form in each for each in known)


def _classed(main: Token, rest: list[Token], copula: str, *, past: bool) -> Verb:
    form = main.form
    spanish = form.endswith(("ó", "é", "amos", "ado", "imos"))
    aimed = any(token.form in ("to", "auf", "a") or token.marks for token in rest)
    if form in VALUES["changes"] and (aimed or spanish or form not in WORDS["dropping"]):
        change = _CHANGE[VALUES["changes"][form]]
        return Verb(form=form, attribute="change", tail=rest, change=change, spanish=spanish)
    if form in WORDS["replacing"]:
        passive = VALUES["verbs"].get(copula) == "is" or copula in (
            *WORDS["past_copulas"],
            "been",
            "wird",
        )
        return Verb(form=form, attribute="replace", tail=rest, replaces=not passive, spanish=spanish)
    if form in WORDS["dropping"]:
        return Verb(form=form, attribute="drop", tail=rest, drops=True)
    return _plain(form, rest, copula, past=past)


def _plain(form: str, rest: list[Token], copula: str, *, past: bool) -> Verb:
    known = lemma(form)
    if form == "got" and copula == "have":  # I've got
        return Verb(form=form, attribute="have", tail=rest)
    if (
        form in WORDS["placing"]
        and VALUES["verbs"].get(copula) != "is"
        and copula not in WORDS["past_copulas"]
    ):
        return Verb(form=form, attribute=form, tail=rest, past=True)  # "we held a meeting"
    if form in VALUES["verbs"] or known in VALUES["verbs"]:
        return Verb(form=form, attribute=known, tail=rest, past=past and form not in WORDS["placing"])
    if form in VALUES["past_verbs"]:
        present = VALUES["verbs"].get(copula) == "is" and copula != "been" and not past
        return Verb(form=form, attribute=VALUES["past_verbs"][form], tail=rest, past=not present)
    ended = form.endswith(_PRETERITES) or copula in _HAVING
    return Verb(form=form, attribute=known, tail=rest, past=past or ended)
