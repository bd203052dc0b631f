"""One clause as a statement: its cues taken out, the subject before the verb, the phrases after it.

"Priya is my manager", "we use it as our database" and "is called" are brought into the form "X is Y".
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from hydramem.ingest.legacy_update_rules.clause_cues import (
    Cues,
    Verb,
    guessed_place,
    has_verb,
    verb_of,
    verb_place,
)
from hydramem.ingest.legacy_update_rules.clause_tokens import (
    SPEAKERS,
    ClauseStatement,
    Phrase,
    PhraseKind,
    Token,
    thing_of,
)
from hydramem.ingest.legacy_update_rules.word_tables import VALUES, WORDS

_LONGEST_LABEL = 5
_LONGEST_NAME = 3
_HOURS = frozenset(str(hour) for hour in range(1, 25))


def phrases_of(tail: Sequence[Token], *, spanish: bool = False) -> tuple[Phrase, ...]:
    """Split what is said into phrases.

    Args:
        tail: The tokens, prepositions and marks among them.
        spanish: Whether "a" is the Spanish "to".
    """
    groups: list[tuple[str, list[Token]]] = []
    role, fresh = "", True
    for place, token in enumerate(tail):
        if token.kind == "mark":
            fresh = True
        elif _joins(token, place) and place + 1 < len(tail):
            measured = bool(groups) and not fresh and groups[-1][1][0].kind == "number"
            found = VALUES["prepositions"][token.form]
            role, fresh = ("" if measured and found in ("of", "~") else found), True
        else:
            if spanish and token.article == "a":
                role, fresh, token = "to", True, replace(token, article="")
            if fresh or _breaks(groups[-1][1], token) or _tells_how_often(tail[place : place + 2]):
                groups.append((role, []))
            groups[-1][1].append(token)
            role, fresh = "", False
    return tuple(_phrase(role, group) for role, group in groups)


def _joins(token: Token, place: int) -> bool:
    """Say whether a token is a preposition; one with a capital is a name, but at the beginning."""
    return token.form in VALUES["prepositions"] and token.kind == "word" and not (place and token.capital)


def _breaks(group: Sequence[Token], token: Token) -> bool:
    """Say whether a token begins another phrase than the one before it is in."""
    if token.kind in ("date", "clock") or group[-1].kind in ("date", "clock"):
        return True
    if group[0].kind == "number":
        return len(group) > 1  # a number takes one word with it
    return bool(token.article)


def _tells_how_often(found: Sequence[Token]) -> bool:
    """Say whether a token begins "every 2 weeks" or "2 times", or is "weekly"; a weekly call is a thing."""
    token, after = found[0], found[1] if len(found) > 1 else None
    if token.form == "every":
        return after is not None and after.kind == "number"
    if token.form not in VALUES["frequencies"]:
        return token.kind == "number" and after is not None and after.form == "time"
    return (
        after is None or after.kind != "word" or bool(after.article) or after.form in VALUES["prepositions"]
    )


def _phrase(role: str, group: Sequence[Token]) -> Phrase:
    first = group[0]
    kind: PhraseKind = "thing"
    if first.kind in ("date", "clock", "number"):
        kind = first.kind
    forms = tuple(VALUES["speaker"].get(token.form, token.form) for token in group)
    if kind == "number" and role == "at" and len(forms) == 1 and forms[0] in _HOURS:
        kind, forms = "clock", (f"{int(forms[0]):02}:00",)
    if kind == "date" and role == "from":
        role = "since"
    timed = kind in ("date", "clock") and role not in ("since", "until", "after", "before")
    return Phrase(
        kind=kind,
        role="" if timed else role,
        forms=forms,
        named=any(token.capital or token.marks for token in group),
        article=first.article,
        owned=any(token.owner or token.form in WORDS["owners"] for token in group),
        text=" ".join(token.text or token.form for token in group).rstrip(".,"),
    )


def bag(said: Sequence[Token]) -> frozenset[str]:
    """Return the words of what is spoken of, `i` and `we` for who says it."""
    kept = [token.form for token in said if token.form not in VALUES["prepositions"] or token.capital]
    found = frozenset(VALUES["speaker"].get(form, form) for form in kept)
    # "My brother's name" and "my brother" are told apart by the verb alone.
    return found - {"name", "nombre"} if len(found) > 1 else found


def owners_of(said: Sequence[Token]) -> frozenset[str]:
    """Return those words that have the others: "Bob" of "Bob's manager" and of "manager of Bob"."""
    owners = {token.form for token in said if token.owner}
    of = {after.form for before, after in pairwise(said) if before.form in ("of", "von", "de")}
    return frozenset(owners | of)


def state(clause: list[Token], before: ClauseStatement | None) -> ClauseStatement | None:
    """Read a clause; None where it states nothing that is understood.

    Args:
        clause: Its tokens.
        before: The statement before it in its text, to which a pronoun may refer.
    """
    colon = next((place for place, token in enumerate(clause) if token.form == ":"), None)
    if colon is not None:
        labelled = _labelled(clause[:colon], clause[colon + 1 :], before)
        if labelled is not None:
            return labelled
        if _names_speaker(clause[:colon]):
            return _said_by(clause[:colon], state(clause[colon + 1 :], before))
        clause = [*(clause[:colon] if has_verb(clause[:colon]) else []), *clause[colon + 1 :]]
    cues = Cues(clause)
    cues.take_all()
    if cues.takes_over:
        return _taken_over(cues)
    place = verb_place(cues.rest)
    place = guessed_place(cues.rest) if place is None else place
    if place is None:
        return None
    leading, subject = _led_by(cues.rest[:place])
    verb = verb_of(cues.rest[place:])
    if not subject:
        subject, verb = _behind(verb, led=cues.led or bool(leading))
    return _rewritten(_made(subject, verb, leading, cues, before))


def _labelled(head: list[Token], tail: list[Token], before: ClauseStatement | None) -> ClauseStatement | None:
    """Read "Sample size: 120" and "Lena has a new number: 0160"."""
    if not head or not tail or has_verb(tail):
        return None
    if has_verb(head):
        made = state(head, before)
        if made is None or not made.now or made.attribute != "have":
            return None
        return replace(made, subject=made.topic, attribute="is", definite=True, phrases=phrases_of(tail))
    fresh = head[0].form in WORDS["new"] and len(head) > 1
    head = head[1:] if fresh else head
    if len(head) > _LONGEST_LABEL:
        return None
    spoken = bag(head)
    return ClauseStatement(
        subject=spoken,
        attribute="is",
        definite=True,
        phrases=phrases_of(tail),
        now=fresh,
        topic=spoken,
        about=" ".join(token.text for token in head),
    )


def _names_speaker(head: Sequence[Token]) -> bool:
    """Say whether what stands before a colon is who says the rest: "Tom: I use Vim"."""
    plain = all(token.capital and token.form not in WORDS["headings"] for token in head)
    return 0 < len(head) <= _LONGEST_NAME and plain and not has_verb(head)


def _said_by(name: Sequence[Token], statement: ClauseStatement | None) -> ClauseStatement | None:
    """Return what somebody said of himself as what is said of him."""
    if statement is None or not statement.subject & SPEAKERS:
        return statement
    return replace(statement, subject=(statement.subject - SPEAKERS) | bag(name))


def _taken_over(cues: Cues) -> ClauseStatement | None:
    """Read "Jonas took over from Maria as head of sales" as "the head of sales is Jonas now"."""
    phrases = phrases_of([token for token in cues.rest if token.form not in WORDS["auxiliaries"]])
    if not phrases:
        return None
    name, *others = phrases
    roles = [phrase for phrase in others if phrase.role in ("as", "of")]
    gone = frozenset(form for phrase in others if phrase.role == "from" for form in phrase.forms)
    role = frozenset(form for phrase in roles for form in phrase.forms)
    if not role:
        return None
    about = " ".join(phrase.text for phrase in roles)
    return ClauseStatement(
        subject=role,
        attribute="is",
        definite=True,
        phrases=(name,),
        now=True,
        replaced=gone,
        topic=role,
        about=about,
    )


def _led_by(subject: list[Token]) -> tuple[list[Token], list[Token]]:
    """Part what stands before the subject, such as "on Monday" or "every morning", from the subject."""
    if not subject:
        return [], []
    first = subject[0]
    # "Weekly" may belong to what follows, "jede Woche" does not.
    often = first.form in VALUES["frequencies"] and first.form != first.text.casefold()
    often = often or [token.form for token in subject[:2]] == ["2", "time"]
    joined = first.form in VALUES["prepositions"] or first.form in WORDS["recurring"]
    if not (often or joined or first.kind in ("date", "clock")):
        return [], subject
    for place in range(1, len(subject)):
        token = subject[place]
        begins = token.article or token.form in VALUES["speaker"] or token.form in WORDS["pronouns"]
        if begins and subject[place - 1].form not in VALUES["prepositions"]:
            return subject[:place], subject[place:]
    return subject, []


def _behind(verb: Verb, *, led: bool) -> tuple[list[Token], Verb]:
    """Return the subject that stands behind the verb, where the clause begins with something else."""
    tail = verb.tail
    if not tail:
        return [], verb
    first = tail[0]
    spoken = first.form in VALUES["speaker"] and first.form not in WORDS["owners"]
    if spoken or first.form in WORDS["pronouns"]:
        return tail[:1], replace(verb, tail=tail[1:])
    stop = 0
    while stop < len(tail) and tail[stop].form not in VALUES["prepositions"] and tail[stop].kind == "word":
        if stop and tail[stop].article:
            break
        stop += 1
    return (tail[:stop], replace(verb, tail=tail[stop:])) if led and stop < len(tail) else ([], verb)


def _made(
    subject: list[Token], verb: Verb, leading: list[Token], cues: Cues, before: ClauseStatement | None
) -> ClauseStatement:
    spoken, definite = _spoken_of(subject, verb, before)
    phrases = phrases_of([*leading, *verb.tail], spanish=verb.spanish)
    gone = _given_up(phrases, verb)
    if gone and verb.change:
        phrases = tuple(phrase for phrase in phrases if phrase.role not in ("from", "~"))
    return ClauseStatement(
        subject=spoken,
        owners=owners_of(subject),
        definite=definite,
        person=_is_person(subject, definite=definite),
        attribute=verb.attribute,
        phrases=phrases,
        negated=cues.negated or verb.drops,
        ended=cues.ended or verb.drops,
        now=cues.now or any(phrase.since for phrase in phrases),
        change=verb.change,
        past=verb.past,
        unsure=cues.unsure,
        replaced=frozenset(cues.replaced) | gone,
        topic=_topic(spoken, verb, phrases),
        about=" ".join(token.text or token.form for token in subject) or " ".join(sorted(spoken)),
    )


def _spoken_of(
    subject: list[Token], verb: Verb, before: ClauseStatement | None
) -> tuple[frozenset[str], bool]:
    """Return what a clause speaks of, and whether that is one certain thing."""
    if not subject and verb.form in VALUES["first_person"]:
        return frozenset([VALUES["first_person"][verb.form]]), False
    pronoun = len(subject) == 1 and subject[0].form in WORDS["pronouns"]
    if before is not None and (not subject or pronoun):
        return (before.topic if pronoun else before.subject), True
    owned = any(token.owner for token in subject)
    definite = bool(subject) and (bool(subject[0].article) or subject[0].form in WORDS["owners"] or owned)
    return bag(subject), definite


def _is_person(subject: Sequence[Token], *, definite: bool) -> bool:
    """Say whether a subject may be somebody's name, or is who says it."""
    if not subject or definite or any(token.marks for token in subject):
        return False
    return subject[0].form in VALUES["speaker"] or all(token.capital for token in subject)


def _topic(subject: frozenset[str], verb: Verb, phrases: Sequence[Phrase]) -> frozenset[str]:
    """Return what a pronoun that follows refers to."""
    thing = thing_of(phrases)
    if thing is None or verb.attribute == "is":
        return subject
    own = subject if verb.attribute == "have" else subject & SPEAKERS
    return own | frozenset(thing.forms)


def _given_up(phrases: Sequence[Phrase], verb: Verb) -> frozenset[str]:
    """Return what a verb says was given up: "from Slack to", "replaced Slack", "dropped Slack"."""
    if verb.replaces or verb.drops:
        thing = thing_of(phrases)
        return frozenset(() if thing is None else thing.forms)
    if verb.change:
        gone = [phrase for phrase in phrases if phrase.role in ("from", "~")]
        return frozenset(form for phrase in gone for form in phrase.forms)
    return frozenset()


def _rewritten(statement: ClauseStatement) -> ClauseStatement:
    """Bring ways to say one thing into one form."""
    if statement.attribute == "name":
        named = tuple(replace(phrase, named=True) for phrase in statement.phrases)
        return replace(statement, attribute="is", definite=True, phrases=named)
    if statement.attribute == "use" and not statement.past:
        return _used_as(statement)
    if statement.attribute == "is" and statement.phrases and not statement.past:
        return _turned(statement)
    return statement


def _used_as(statement: ClauseStatement) -> ClauseStatement:
    """Read "we use Redis as our cache" as "our cache is Redis"."""
    things = [phrase for phrase in statement.phrases if phrase.kind == "thing"]
    role = next((phrase for phrase in things if phrase.role == "as"), None)
    if role is None:
        return statement
    more = [phrase for phrase in things if phrase.role == "~"]  # Spanish: base de datos
    kept = tuple(phrase for phrase in statement.phrases if phrase is not role and phrase not in more)
    said = {form for phrase in (role, *more) for form in phrase.forms}
    return replace(statement, subject=statement.subject | said, attribute="is", definite=True, phrases=kept)


def _turned(statement: ClauseStatement) -> ClauseStatement:
    """Read "Priya is my manager" as "my manager is Priya"."""
    role, *others = statement.phrases
    bare = not statement.definite and not statement.subject & SPEAKERS
    if role.kind != "thing" or role.role or not bare or not statement.subject:
        return statement
    of = [phrase for phrase in others if phrase.role in ("of", "from", "~", "for") and phrase.kind == "thing"]
    attribute = not WORDS["attributes"].isdisjoint(role.forms)
    certain = role.article in WORDS["definites"] and (attribute or bool(of))
    if not (role.owned or certain or (attribute and of and not role.article)):
        return statement
    said = frozenset(form for phrase in (role, *of) for form in phrase.forms)
    name = Phrase(
        kind="thing",
        role="",
        forms=tuple(statement.about.casefold().split()),
        named=True,
        text=statement.about,
    )
    return replace(
        statement,
        subject=said,
        owners=frozenset(form for phrase in of for form in phrase.forms),
        definite=True,
        person=False,
        phrases=(name, *(phrase for phrase in others if phrase not in of)),
        topic=said,
        about=" ".join(phrase.text for phrase in (role, *of)),
    )
