"""Cues: the words by which a clause says that something is new, ended, given up or only perhaps so.

They are taken out of the clause as they are understood, so that what is left is what it states.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from hydramem.ingest.telling import words
from hydramem.ingest.telling.tokens import Token
from hydramem.ingest.telling.verbs import has_verb

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
        self.ended = self._take(words.ENDED)
        self.now = self._take(words.NOW) | self._take(words.AGAIN) | self._take(words.CORRECTING) | self.now
        self._take(words.FILLERS)
        self._take_replaced()
        self.now = self._take(words.INSTEAD) or self.now
        self._take_negations()
        self.led = bool(self.rest) and self.rest[0].form != first
        self.now = self.now or any(token.form in words.NEW for token in self.rest)
        dropped = words.NEW | words.PRESENT
        self.rest = [token for token in self.rest if token.form not in dropped]
        self.takes_over = self._take(words.TAKING_OVER)
        if self.rest and self.rest[-1].form == "statt":  # findet statt
            self.rest.pop()

    def _is_unsure(self) -> bool:
        forms = [token.form for token in self.rest]
        if any(form in words.UNSURE for form in forms) or any(
            phrase[0] in forms and _find(self.rest, phrase) is not None for phrase in words.INTENDING
        ):
            return True
        return any(
            form == "will" and forms[place + 1] not in _PLAIN_FUTURE for place, form in enumerate(forms[:-1])
        )

    def _reword(self) -> None:
        """Read "takes place" as "happens", and other phrases that are one verb."""
        here = {token.form for token in self.rest}
        for phrase, form in words.REWORDED:
            if phrase[0] in here and (place := _find(self.rest, phrase)) is not None:
                self.rest[place : place + len(phrase)] = [Token(form=form, text=form)]
        for place, (token, after) in enumerate(pairwise(self.rest)):
            if token.form in ("quit", "quits") and not after.form.endswith("ing"):
                self.rest[place] = Token(form="left", text=token.text)

    def _take_arrival(self) -> None:
        """Read "has arrived in hall 5" as "is in hall 5 now"."""
        here = {token.form for token in self.rest}
        for phrase in words.ARRIVED:
            place = _find(self.rest, phrase) if phrase[-1] in here else None
            stop = -1 if place is None else place + len(phrase)
            if not place or stop >= len(self.rest):
                continue
            after = self.rest[stop]
            if after.form in words.PREPOSITIONS or after.article == "a":  # ha llegado a
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
        if any(token.form in words.NEGATIONS for token in self.rest):
            self.negated = True
            self.ended = self._take(words.LATER) or self.ended
            if self.rest[-1].form == "more":  # "any" is taken for an article
                self.rest.pop()
                self.ended = True
            self.rest = [token for token in self.rest if token.form not in words.NEGATIONS]

    def _take_contrast(self) -> None:
        """Read "nicht montags, sondern donnerstags" as Thursday in the place of Monday."""
        self._take_not()
        forms = [token.form for token in self.rest]
        joint = next((place for place, form in enumerate(forms) if form in ("sondern", "sino")), None)
        no = next((place for place in range(joint or 0) if forms[place] in words.NEGATIONS), None)
        if joint is None or no is None:
            return
        given = forms[no + 1 : joint]
        small = {*words.PREPOSITIONS, "mehr", "nur", "sólo", "ya", ","}
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
        for phrase in words.REPLACED_AFTER:
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
    return token.form in words.PREPOSITIONS or token.kind in ("date", "clock") or bool(token.article)


def _is_of_noun(found: Sequence[Token], place: int) -> bool:
    """Say whether a word belongs to the noun behind it: "the back door", "our well water"."""
    owned = place > 0 and found[place - 1].form in words.OWNERS
    return place + 1 < len(found) and (owned or found[place].article in words.DEFINITES)


def _find(found: Sequence[Token], phrase: tuple[str, ...]) -> int | None:
    first, size = phrase[0], len(phrase)
    for place in range(len(found) - size + 1):
        if found[place].form != first or (size == 1 and _is_of_noun(found, place)):
            continue
        if all(found[place + step].form == phrase[step] for step in range(1, size)):
            return place
    return None
