"""The verb of a clause, in one form for all persons and languages, and the cues that say how it is meant."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import cast

from hydramem.ingest.legacy_update_rules.clause_tokens import Change, Token
from hydramem.ingest.legacy_update_rules.word_tables import PHRASES, REWORDED, VALUES, WORDS

_MOST_AFTER_NOT = 4
_PLAIN_FUTURE = frozenset({"be", "start", "leave", "arrive", "open", "close", "end", "now"})
_TOOLS = frozenset({"do", "did", "will", "se", "got", "gets"})

_KNOWN = frozenset(
    (*VALUES["verbs"], *VALUES["past_verbs"], *VALUES["changes"], *WORDS["replacing"], *WORDS["dropping"])
) | (WORDS["auxiliaries"] | {"do", "did"})

_GERMAN = frozenset(["ist", "sind", "bin", "wurde", "wurden", "wird", "hat", "haben", "habe"])
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
        change = cast(Change, VALUES["changes"][form])
        return Verb(form=form, attribute="change", tail=rest, change=change, spanish=spanish)
    if form in WORDS["replacing"]:
        passive = VALUES["verbs"].get(copula) == "is" or copula in (*WORDS["past_copulas"], "been", "wird")
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


@dataclass(slots=True)
class Cues:
    """A clause without its cues, and what they said; as in `ClauseStatement`.

    Attributes:
        rest: The tokens that are left.
        led: Whether the clause began with a cue, so that its subject may stand behind the verb.
        takes_over: Whether somebody takes over what another did.
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
