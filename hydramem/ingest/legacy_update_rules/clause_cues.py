"""Tokens as phrases: split at prepositions, numbers, dates and times; and subjects as bags of words."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from hydramem.ingest.legacy_update_rules.clause_tokens import Phrase, PhraseKind, Token
from hydramem.ingest.legacy_update_rules.verb_forms import has_verb
from hydramem.ingest.legacy_update_rules.word_tables import PHRASES, REWORDED, VALUES, WORDS

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


_MOST_AFTER_NOT = 4

_PLAIN_FUTURE = frozenset({"be", "start", "leave", "arrive", "open", "close", "end", "now"})


@dataclass(slots=True)
class Cues:
    """A clause without its cues, and what they said; as in `Statement`.

    Attributes:
        rest: The tokens that are left.
        led: Whether the clause began with a cue, so that its subject may stand behind the verb.
        takes_over: Whether somebody takes over what another did.
        timely: Words that say when, of those taken out.
    """

    rest: list[Token]
    unsure: bool = False
    negated: bool = False
    ended: bool = False
    now: bool = False
    led: bool = False
    takes_over: bool = False
    replaced: set[str] = field(default_factory=set)

    def take_all(self) -> None:
        """Take out every cue."""
        self.unsure = self._is_unsure()
        self._reword()
        self._take_arrival()
        self._take_contrast()
        first = self.rest[0].form if self.rest else ""
        self.ended = self._take(PHRASES["ended"])
        self.now = (
            self._take(PHRASES["now"])
            | self._take(PHRASES["again"])
            | self._take(PHRASES["correcting"])
            | self.now
        )
        self._take(PHRASES["fillers"])
        self._take_replaced()
        self.now = self._take(PHRASES["instead"]) or self.now
        self._take_negations()
        self.led = bool(self.rest) and self.rest[0].form != first
        self.now = self.now or any(token.form in WORDS["new"] for token in self.rest)
        dropped = WORDS["new"] | WORDS["present"]
        self.rest = [token for token in self.rest if token.form not in dropped]
        self.takes_over = self._take(PHRASES["taking_over"])
        if self.rest and self.rest[-1].form == "statt":  # findet statt
            self.rest.pop()

    def _is_unsure(self) -> bool:
        forms = [token.form for token in self.rest]
        if any(form in WORDS["unsure"] for form in forms) or any(
            phrase[0] in forms and _find(self.rest, phrase) is not None for phrase in PHRASES["intending"]
        ):
            return True
        return any(
            form == "will" and forms[place + 1] not in _PLAIN_FUTURE for place, form in enumerate(forms[:-1])
        )

    def _reword(self) -> None:
        """Read "takes place" as "happens", and other phrases that are one verb."""
        here = {token.form for token in self.rest}
        for phrase, form in REWORDED:
            if phrase[0] in here and (place := _find(self.rest, phrase)) is not None:
                self.rest[place : place + len(phrase)] = [Token(form=form, text=form)]
        for place, (token, after) in enumerate(pairwise(self.rest)):
            if token.form in ("quit", "quits") and not after.form.endswith("ing"):
                self.rest[place] = Token(form="left", text=token.text)

    def _take_arrival(self) -> None:
        """Read "has arrived in hall 5" as "is in hall 5 now"."""
        here = {token.form for token in self.rest}
        for phrase in PHRASES["arrived"]:
            place = _find(self.rest, phrase) if phrase[-1] in here else None
            stop = -1 if place is None else place + len(phrase)
            if not place or stop >= len(self.rest):
                continue
            after = self.rest[stop]
            if after.form in VALUES["prepositions"] or after.article == "a":  # ha llegado a
                within = [Token(form="en", text="en")] if after.article == "a" else []
                self.rest[place:stop] = [Token(form="is", text="is"), *within]
                self.now = True
                return

    def _take(self, phrases: Sequence[tuple[str, ...]]) -> bool:
        """Take out each of some phrases; say whether there was one."""
        found = False
        here = {token.form for token in self.rest}
        for phrase in phrases:
            if phrase[0] not in here:
                continue
            while (place := _find(self.rest, phrase)) is not None:
                del self.rest[place : place + len(phrase)]
                found = True
        return found

    def _take_negations(self) -> None:
        self.negated = self.ended
        if any(token.form in WORDS["negations"] for token in self.rest):
            self.negated = True
            self.ended = self._take(PHRASES["later"]) or self.ended
            if self.rest[-1].form == "more":  # "any" is taken for an article
                self.rest.pop()
                self.ended = True
            self.rest = [token for token in self.rest if token.form not in WORDS["negations"]]

    def _take_contrast(self) -> None:
        """Read "nicht montags, sondern donnerstags" as Thursday in the place of Monday."""
        self._take_not()
        forms = [token.form for token in self.rest]
        joint = next((place for place, form in enumerate(forms) if form in ("sondern", "sino")), None)
        no = next((place for place in range(joint or 0) if forms[place] in WORDS["negations"]), None)
        if joint is None or no is None:
            return
        given = forms[no + 1 : joint]
        small = {*VALUES["prepositions"], "mehr", "nur", "sólo", "ya", ","}
        self.replaced.update(form for form in given if form not in small)
        self.rest = [*self.rest[:no], *self.rest[joint + 1 :]]
        self.now = True

    def _take_not(self) -> None:
        """Read "pytest, not unittest" as pytest in the place of unittest."""
        for place in range(2, len(self.rest) - 1):
            if self.rest[place].form != "not" or len(self.rest) - place > _MOST_AFTER_NOT:
                continue
            if has_verb(self.rest[place - 1 : place]) or not has_verb(self.rest[:place]):
                continue
            self.replaced.update(token.form for token in self.rest[place + 1 :])
            del self.rest[place:]
            return

    def _take_replaced(self) -> None:
        """Take out "instead of PostgreSQL"."""
        here = {token.form for token in self.rest}
        for phrase in PHRASES["replaced_after"]:
            place = _find(self.rest, phrase) if phrase[0] in here else None
            begin = 0 if place is None else place + len(phrase)
            if place is None or begin >= len(self.rest):
                continue
            stop = begin + 1
            # At the beginning the rest follows: "statt Paula leitet Henrik".
            while stop < len(self.rest) and not _ends_name(self.rest[stop]):
                if not place and has_verb(self.rest[stop : stop + 1]):
                    break
                stop += 1
            self.replaced.update(token.form for token in self.rest[begin:stop])
            del self.rest[place:stop]
            self.now = True
            return


def _ends_name(token: Token) -> bool:
    """Say whether a token is no more of what is given up: "statt Paula den Chor"."""
    return token.form in VALUES["prepositions"] or token.kind in ("date", "clock") or bool(token.article)


def _is_of_noun(found: Sequence[Token], place: int) -> bool:
    """Say whether a word belongs to the noun behind it: "the back door", "our well water"."""
    owned = place > 0 and found[place - 1].form in WORDS["owners"]
    return place + 1 < len(found) and (owned or found[place].article in WORDS["definites"])


def _find(found: Sequence[Token], phrase: tuple[str, ...]) -> int | None:
    first, size = phrase[0], len(phrase)
    for place in range(len(found) - size + 1):
        if found[place].form != first or (size == 1 and _is_of_noun(found, place)):
            continue
        if all(found[place + step].form == phrase[step] for step in range(1, size)):
            return place
    return None
