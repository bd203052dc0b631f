"""What a memory states: of what, which attribute, with which phrases; read from its words, without a model.

A clause is split at its verb. Before it stands what is spoken of, as a bag of words ("Bob's manager" and
"manager of Bob" are one); after it come phrases, each a number, a date, a time of day or a thing. Forms that
say the same are brought into one: "Priya is my manager", "we use it as our database", "is called".
"""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from hydramem.ingest import telling_words as words
from hydramem.ingest.telling_tokens import Token, tokens

PhraseKind = Literal["date", "clock", "number", "thing"]
Change = Literal["", "move", "date", "number"]

MOST_CHARS = 600
"""Longer texts tell several things; they are compared as wholes only."""
_MOST_CLAUSES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrase:
    """A part of what is said.

    Attributes:
        role: What its preposition does; empty where it has none.
        forms: Its words.
        named: Whether it is, or holds, a name.
        article: Before its first word.
        owned: Whether it tells whose it is.
        text: As it is written.
    """

    kind: PhraseKind
    role: str
    forms: tuple[str, ...]
    named: bool = False
    article: str = ""
    owned: bool = False
    text: str = ""

    @property
    def unit(self) -> tuple[str, ...]:
        """The words of a quantity without the number."""
        return tuple(form for form in self.forms if not form[:1].isdigit() and form[:1] not in "+-")


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A clause that states something.

    Attributes:
        subject: What it speaks of; the words of it, `i` and `we` for who says it.
        owners: Those of them that have the others.
        definite: Whether one certain thing is meant.
        person: Whether the subject is a bare name or who says it.
        attribute: The verb, in one form.
        ended: Whether it says that something holds no longer.
        now: Whether it says that something is new.
        change: What kind of change it tells, if one.
        past: Whether it tells of what was or was done.
        unsure: Whether it is a wish, plan or condition.
        replaced: Words of what it says was given up.
        topic: What a pronoun that follows refers to.
        about: The subject as it is written.
    """

    subject: frozenset[str]
    owners: frozenset[str] = frozenset()
    definite: bool = False
    person: bool = False
    attribute: str
    phrases: tuple[Phrase, ...] = ()
    negated: bool = False
    ended: bool = False
    now: bool = False
    change: Change = ""
    past: bool = False
    unsure: bool = False
    replaced: frozenset[str] = frozenset()
    topic: frozenset[str] = frozenset()
    about: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A text as its statements.

    Attributes:
        signature: All of its words; texts of one signature say the same.
        forms: They as a set.
        marks: Its numbers, dates and times of day, in order.
        speaks: Whether it tells of who says it.
    """

    signature: str
    forms: frozenset[str]
    marks: tuple[str, ...]
    statements: tuple[Statement, ...]
    speaks: bool
    negations: int


@lru_cache(maxsize=4096)
def reading(text: str) -> Reading:
    """Read a text; of one longer than `MOST_CHARS` only the words are told."""
    found = tokens(text)
    said = [token for token in found if token.kind != "mark"]
    return Reading(
        signature=_signature(said),
        forms=frozenset(token.form for token in said),
        marks=tuple(token.form for token in said if _marks(token)),
        statements=tuple(_statements(found)) if len(text) <= MOST_CHARS else (),
        speaks=any(token.form in words.SPEAKER and token.kind == "word" for token in said)
        or any(token.form in words.FIRST_PERSON for token in said[:2]),
        negations=sum(token.form in words.NEGATIONS for token in said),
    )


def _signature(said: Sequence[Token]) -> str:
    """Return the words in one string; those that may be written apart or as one are not told apart."""
    parts, before = [], False
    for token in said:
        apart = _marks(token) or before
        before = _marks(token)
        parts.append(f" {token.form}" if apart else token.form + ("'" if token.owner else ""))
    return "".join(parts)


def _marks(token: Token) -> bool:
    return token.kind in ("number", "date", "clock") or any(letter.isdigit() for letter in token.form)


# -- clauses ----------------------------------------------------------------------------------------------


def _statements(found: Sequence[Token]) -> Iterator[Statement]:
    before: Statement | None = None
    for sentence in _sentences(found):
        for count, clause in enumerate(_clauses(sentence)):
            if count >= _MOST_CLAUSES:
                return
            statement = _Clause(clause).read(before)
            if statement is not None:
                yield statement
                before = statement


def _sentences(found: Sequence[Token]) -> Iterator[list[Token]]:
    sentence: list[Token] = []
    for token in (*found, Token(form=".", kind="mark")):
        if token.kind == "mark" and token.form in ".!?;":
            if sentence and token.form != "?":
                yield sentence
            sentence = []
        else:
            sentence.append(token)


def _clauses(sentence: list[Token]) -> Iterator[list[Token]]:
    """Yield the clauses of a sentence: at a comma or a joining word, where a verb of its own follows."""
    clause: list[Token] = []
    for place, token in enumerate(sentence):
        joint = token.form in words.JOINING or token.form == ","
        if joint and _has_verb(clause) and _has_verb(_until_joint(sentence[place + 1 :])):
            yield clause
            clause = []
        elif not (token.kind == "mark" and token.form == ","):
            clause.append(token)
    if clause:
        yield clause


def _until_joint(rest: list[Token]) -> list[Token]:
    for place, token in enumerate(rest):
        if place and (token.form in words.JOINING or token.form == ","):
            return rest[:place]
    return rest


_VERBS = frozenset(
    (
        *words.VERBS,
        *words.PAST_VERBS,
        *words.CHANGES,
        *words.REPLACING,
        *words.DROPPING,
        *words.AUXILIARIES,
        "do",
        "did",
    )
)


def _has_verb(clause: Sequence[Token]) -> bool:
    return _verb_place(clause) is not None


def _verb_place(clause: Sequence[Token]) -> int | None:
    """Return where the verb of a clause is; what may be a noun is one where a surer verb is there."""
    weak = None
    for place, token in enumerate(clause):
        if token.form not in _VERBS or token.kind != "word" or token.article:
            continue
        last = clause[place - 1] if place else None
        if last is not None and (last.owner or last.form in words.OWNERS or last.form in words.NEW):
            continue
        if token.form == "am" and last is not None and last.form != "i":
            continue  # am Montag
        if token.form not in words.NOUNS_TOO:
            return place
        weak = place if weak is None else weak
    return weak if weak is not None else _done(clause)


def _done(clause: Sequence[Token]) -> int | None:
    """Return where an unknown English verb in the past is: "I renewed"."""
    for place, (before, token) in enumerate(pairwise(clause)):
        known = before.form in words.SPEAKER or before.form in words.PRONOUNS or before.capital
        if (
            known
            and len(token.form) > 4
            and token.form.endswith("ed")
            and not (token.article or token.capital)
        ):
            return place + 1
    return None


# -- one clause -------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Clause:
    """Reads one clause, taking from it what is understood."""

    rest: list[Token]
    negated: bool = False
    ended: bool = False
    now: bool = False
    corrects: bool = False
    led: bool = False
    replaced: set[str] = field(default_factory=set)
    leading: list[Token] = field(default_factory=list)

    def read(self, before: Statement | None) -> Statement | None:
        unsure = any(token.form in words.UNSURE for token in self.rest) or self._will()
        labelled = self._label(before)
        if labelled is not None:
            return labelled
        self._take_cues()
        if not self.rest:
            return None
        if self._take(words.TAKING_OVER):
            return self._taken_over()
        place = _verb_place(self.rest)
        if place is None:
            place = self._guessed()
            if place is None:
                return None
        subject, tail = self.rest[:place], self.rest[place:]
        verb = _verb(tail)
        subject = self._without_leading(subject)
        if not subject:
            subject, verb = self._following(verb)
        made = self._made(subject, verb, before)
        return _rewritten(replace(made, unsure=unsure))

    def _will(self) -> bool:
        for place, token in enumerate(self.rest[:-1]):
            if token.form == "will" and self.rest[place + 1].form not in (
                "be",
                "start",
                "leave",
                "arrive",
                "now",
            ):
                return True
        return False

    def _label(self, before: Statement | None) -> Statement | None:
        """Read "Sample size: 120" and "has a new number: 0160"."""
        at = next((place for place, token in enumerate(self.rest) if token.form == ":"), None)
        if at is None:
            return None
        head, tail = self.rest[:at], self.rest[at + 1 :]
        if _has_verb(head):
            self.rest = head
            made = _Clause(head).read(before)
            fresh = made is not None and made.now and made.attribute == "have" and not _has_verb(tail)
            if made is None or not fresh:
                self.rest = [*head, *tail]
                return None
            return replace(made, subject=made.topic, attribute="is", definite=True, phrases=_phrases(tail))
        if not head or not tail or len(head) > 5 or _has_verb(tail):
            self.rest = tail
            return None
        return Statement(
            subject=_bag(head), attribute="is", definite=True, phrases=_phrases(tail), topic=_bag(head)
        )

    def _take_cues(self) -> None:
        self._take_contrast()
        self.ended = self._take(words.ENDED)
        self.negated = self.ended
        first = self.rest[0].form if self.rest else ""
        self._take_replaced()
        self.now = self._take(words.NOW) | self._take(words.AGAIN)
        self.corrects = self._take(words.CORRECTING)
        self._take(words.FILLERS)
        if any(token.form in words.NEGATIONS for token in self.rest):
            self.negated = True
            self.ended = self._take(words.LATER) or self.ended
            self.rest = [token for token in self.rest if token.form not in words.NEGATIONS]
        self.led = bool(self.rest) and self.rest[0].form != first
        self.now = self.now or any(token.form in words.NEW for token in self.rest)
        dropped = words.NEW | words.PRESENT
        self.rest = [token for token in self.rest if token.form not in dropped or token.capital]
        if self.rest and self.rest[-1].form == "statt":  # findet statt
            self.rest.pop()

    def _take(self, phrases: Sequence[tuple[str, ...]]) -> bool:
        """Take out each of some phrases; say whether there was one."""
        found = False
        for phrase in phrases:
            while (place := _find(self.rest, phrase)) is not None:
                del self.rest[place : place + len(phrase)]
                found = True
        return found

    def _take_contrast(self) -> None:
        """Read "not on Monday but on Friday" as Friday in the place of Monday."""
        forms = [token.form for token in self.rest]
        joint = next((place for place, form in enumerate(forms) if form in ("sondern", "sino")), None)
        if joint is None:
            return
        no = next((place for place in range(joint) if forms[place] in words.NEGATIONS), None)
        if no is not None:
            given = [
                token for token in self.rest[no + 1 : joint] if token.form not in ("mehr", "nur", "sólo")
            ]
            self.replaced.update(token.form for token in given if token.form not in words.PREPOSITIONS)
            self.rest = [*self.rest[:no], *self.rest[joint + 1 :]]
            self.now = True

    def _take_replaced(self) -> None:
        for phrase in words.REPLACED_AFTER:
            place = _find(self.rest, phrase)
            if place is None or place + len(phrase) >= len(self.rest):
                continue
            stop = place + len(phrase)
            while stop < len(self.rest) and (
                stop == place + len(phrase) or self.rest[stop].form not in words.PREPOSITIONS
            ):
                stop += 1
            self.replaced.update(token.form for token in self.rest[place + len(phrase) : stop])
            del self.rest[place:stop]
            self.now = True
            return

    def _taken_over(self) -> Statement | None:
        """Read "Jonas took over from Maria as head of sales" as "the head of sales is Jonas now"."""
        phrases = _phrases([token for token in self.rest if token.form not in words.AUXILIARIES])
        name, *others = phrases or (None,)
        role = {form for phrase in others if phrase.role in ("as", "of") for form in phrase.forms}
        if name is None or not role:
            return None
        gone = frozenset(form for phrase in others if phrase.role == "from" for form in phrase.forms)
        subject = frozenset(role)
        return Statement(
            subject=subject, attribute="is", definite=True, phrases=(name,), now=True, replaced=gone,
            topic=subject, about=" ".join(phrase.text for phrase in others if phrase.role in ("as", "of")),
        )  # fmt: skip

    def _guessed(self) -> int | None:
        """Return where an unknown verb must be: behind a pronoun, a name or a first noun."""
        if len(self.rest) < 3:
            return None
        first = self.rest[0]
        if first.form in words.PREPOSITIONS or first.kind != "word":
            return None
        second = self.rest[1]
        if first.article or first.form in words.OWNERS:
            at = 1 if first.article else 2
            while at < len(self.rest) - 1 and _marks(self.rest[at]):
                at += 1
            return at if self.rest[at].kind == "word" else None
        return 1 if second.kind == "word" and not second.article and not second.capital else None

    def _without_leading(self, subject: list[Token]) -> list[Token]:
        """Set aside what stands before the subject: "On Monday", "every morning"."""
        if not subject:
            return subject
        first = subject[0]
        if (
            first.form not in words.PREPOSITIONS
            and first.form not in words.RECURRING
            and first.kind == "word"
        ):
            return subject
        if first.kind not in ("word", "date", "clock"):
            return subject
        for place in range(1, len(subject)):
            token = subject[place]
            begins = token.article or token.form in words.SPEAKER or token.form in words.PRONOUNS
            if begins and subject[place - 1].form not in words.PREPOSITIONS:
                self.leading, self.led = subject[:place], True
                return subject[place:]
        self.leading, self.led = subject, True
        return []

    def _following(self, verb: "_Verb") -> tuple[list[Token], "_Verb"]:
        """Return the subject that stands behind the verb, where the clause begins with something else."""
        tail = verb.tail
        if not tail:
            return [], verb
        if (tail[0].form in words.SPEAKER and tail[0].form not in words.OWNERS) or tail[
            0
        ].form in words.PRONOUNS:
            return tail[:1], replace(verb, tail=tail[1:])
        if not self.led:
            return [], verb
        stop = 0
        while stop < len(tail) and tail[stop].form not in words.PREPOSITIONS and tail[stop].kind == "word":
            if stop and tail[stop].article:
                break
            stop += 1
        return (tail[:stop], replace(verb, tail=tail[stop:])) if stop < len(tail) else ([], verb)

    def _made(self, subject: list[Token], verb: "_Verb", before: Statement | None) -> Statement:
        bag = _bag(subject)
        definite = bool(subject) and (
            bool(subject[0].article)
            or subject[0].form in words.OWNERS
            or any(token.owner for token in subject)
        )
        if not subject and verb.form in words.FIRST_PERSON:
            bag = frozenset([words.FIRST_PERSON[verb.form]])
        elif before is not None and (
            not subject or (len(subject) == 1 and subject[0].form in words.PRONOUNS)
        ):
            bag, definite = (before.topic if subject else before.subject), True
        phrases = _phrases([*self.leading, *verb.tail], spanish=verb.spanish)
        replaced = frozenset(self.replaced) | _given_up(phrases, verb)
        if replaced != self.replaced:
            phrases = tuple(
                phrase for phrase in phrases if phrase.role not in ("from", "~") or not verb.change
            )
        return Statement(
            subject=bag,
            owners=_owners(subject),
            definite=definite,
            person=bool(subject) and not definite,
            attribute=verb.attribute,
            phrases=phrases,
            negated=self.negated or verb.drops,
            ended=self.ended or verb.drops,
            now=self.now or self.corrects,
            change=verb.change,
            past=verb.past,
            replaced=replaced,
            topic=_topic(bag, verb, phrases),
            about=" ".join(token.text or token.form for token in subject) or " ".join(sorted(bag)),
        )


def _find(found: Sequence[Token], phrase: tuple[str, ...]) -> int | None:
    size = len(phrase)
    for place in range(len(found) - size + 1):
        if found[place].form == phrase[0] and all(
            found[place + step].form == phrase[step] for step in range(1, size)
        ):
            return place
    return None


def _bag(said: Sequence[Token]) -> frozenset[str]:
    """Return the words of what is spoken of, `i` and `we` for who says it."""
    kept = [token.form for token in said if token.form not in words.PREPOSITIONS or token.capital]
    named = [words.SPEAKER.get(form, form) for form in kept if form not in words.NEW]
    bag = frozenset(named)
    return bag - {"name"} if len(bag) > 1 else bag


def _owners(said: Sequence[Token]) -> frozenset[str]:
    """Return those words that have the others: "Bob" of "Bob's manager" and of "manager of Bob"."""
    owners = {token.form for token in said if token.owner}
    for before, after in pairwise(said):
        if before.form in ("of", "von", "de"):
            owners.add(after.form)
    return frozenset(owners)


def _topic(subject: frozenset[str], verb: "_Verb", phrases: Sequence[Phrase]) -> frozenset[str]:
    """Return what a pronoun that follows refers to."""
    thing = next((phrase for phrase in phrases if phrase.kind == "thing" and not phrase.role), None)
    if thing is None or verb.attribute == "is":
        return subject
    own = subject & {"i", "we"} if verb.attribute != "have" else subject
    return own | {words.SPEAKER.get(form, form) for form in thing.forms}


def _given_up(phrases: Sequence[Phrase], verb: "_Verb") -> frozenset[str]:
    if verb.replaces or verb.drops:
        thing = next((phrase for phrase in phrases if phrase.kind == "thing" and not phrase.role), None)
        return frozenset(thing.forms) if thing is not None else frozenset()
    if verb.change:
        gone = [phrase for phrase in phrases if phrase.role in ("from", "~")]
        return frozenset(form for phrase in gone for form in phrase.forms)
    return frozenset()


# -- verbs ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Verb:
    """The verb of a clause and what follows it."""

    form: str
    attribute: str
    tail: list[Token]
    change: Change = ""
    past: bool = False
    replaces: bool = False
    drops: bool = False
    spanish: bool = False


def _verb(tail: list[Token]) -> _Verb:
    """Read the verb group that begins a list of tokens; a German participle stands at the end."""
    past = False
    place = 0
    copula = tail[0].form
    while place + 1 < len(tail) and tail[place].form in (*words.AUXILIARIES, "do", "did", "will", "se"):
        past = past or tail[place].form in words.PAST_COPULAS or tail[place].form == "did"
        copula = tail[place].form
        following = tail[place + 1]
        if following.form not in _VERBS or following.article or following.owner:
            break
        place += 1
    main, rest = tail[place], tail[place + 1 :]
    last = rest[-1] if rest else None
    if main.form in words.AUXILIARIES and last is not None and _closes(last, main.form):
        main, rest = last, rest[:-1]
    return _classed(main, rest, copula, past)


def _closes(last: Token, auxiliary: str) -> bool:
    """Say whether a word is the participle that ends a German clause."""
    if auxiliary not in ("ist", "sind", "bin", "wurde", "wurden", "wird", "hat", "haben", "habe"):
        return False
    known = last.form in words.CHANGES or last.form in words.PAST_VERBS or last.form in words.REPLACING
    dropping = last.form in words.DROPPING
    done = (
        auxiliary in ("hat", "haben", "habe")
        and last.form.startswith("ge")
        and last.form.endswith(("t", "en"))
    )
    return known or dropping or (done and not last.capital)


def _classed(main: Token, rest: list[Token], copula: str, past: bool) -> _Verb:
    form = main.form
    spanish = form.endswith(("ó", "é", "amos", "ado", "imos"))
    be = words.VERBS.get(copula) == "is" or copula in words.PAST_COPULAS or copula in ("been", "wird")
    drops = form in words.DROPPING and not any(
        token.form in ("to", "auf", "a") or _marks(token) for token in rest
    )
    if form in words.CHANGES and not drops:
        change: Change = words.CHANGES[form]  # type: ignore[assignment]  # the table has these three
        return _Verb(form=form, attribute="change", tail=rest, change=change, spanish=spanish)
    if form in words.REPLACING:
        return _Verb(
            form=form, attribute="replace", tail=rest, replaces=not be, change="move", spanish=spanish
        )
    if form in words.DROPPING:
        return _Verb(form=form, attribute="drop", tail=rest, drops=True)
    if form in words.VERBS:
        done = past and form not in words.PLACING
        return _Verb(form=form, attribute=words.VERBS[form], tail=rest, past=done)
    if form in words.PAST_VERBS:
        present = be and not past and copula not in ("been",) and form not in words.PAST_COPULAS
        return _Verb(form=form, attribute=words.PAST_VERBS[form], tail=rest, past=not present)
    ended = form.endswith("ed") or copula in ("hat", "haben", "habe")
    return _Verb(form=form, attribute=form, tail=rest, past=past or ended)


# -- phrases ----------------------------------------------------------------------------------------------


def _phrases(tail: Sequence[Token], *, spanish: bool = False) -> tuple[Phrase, ...]:
    """Split what is said at prepositions, numbers, dates and times."""
    groups: list[tuple[str, list[Token]]] = []
    role, fresh = "", True
    for place, token in enumerate(tail):
        if token.kind == "mark" and token.form != ":":
            fresh = True
            continue
        preposition = (
            token.form in words.PREPOSITIONS and token.kind == "word" and not (place and token.capital)
        )
        if preposition and place + 1 < len(tail):
            measured = bool(groups) and not fresh and groups[-1][1][0].kind == "number"
            role = (
                ""
                if measured and words.PREPOSITIONS[token.form] in ("of", "~")
                else words.PREPOSITIONS[token.form]
            )
            fresh = True
            continue
        if spanish and token.article == "a":
            role, fresh = "to", True
        if fresh or not groups or _breaks(groups[-1][1], token):
            groups.append((role, []))
        groups[-1][1].append(token)
        role, fresh = "", False
    return tuple(_phrase(role, group) for role, group in groups)


def _breaks(group: Sequence[Token], token: Token) -> bool:
    """Say whether a token begins another phrase than the one before it is in."""
    last = group[-1]
    if token.kind in ("date", "clock") or last.kind in ("date", "clock"):
        return True
    if group[0].kind == "number":
        return len(group) > 1  # a number takes one word with it
    return bool(token.article)


def _phrase(role: str, group: Sequence[Token]) -> Phrase:
    first = group[0]
    kind: PhraseKind = "thing"
    if first.kind in ("date", "clock", "number"):
        kind = first.kind
    return Phrase(
        kind=kind,
        role="" if kind in ("date", "clock") else role,
        forms=tuple(words.SPEAKER.get(token.form, token.form) for token in group),
        named=any(token.capital or _marks(token) for token in group),
        article=first.article,
        owned=any(token.owner or token.form in words.OWNERS for token in group),
        text=" ".join(token.text or token.form for token in group),
    )


# -- one form for what is said in several -----------------------------------------------------------------


def _rewritten(statement: Statement) -> Statement:
    """Bring ways to say one thing into one form."""
    if statement.attribute == "name":
        return replace(statement, attribute="is", definite=True)
    if statement.attribute == "use" and not statement.past:
        return _used_as(statement)
    if statement.attribute == "is" and statement.phrases and not statement.past:
        return _turned(statement)
    return statement


def _used_as(statement: Statement) -> Statement:
    """Read "we use Redis as our cache" as "our cache is Redis"."""
    role = next(
        (phrase for phrase in statement.phrases if phrase.role == "as" and phrase.kind == "thing"), None
    )
    if role is None:
        return statement
    # Spanish: base de datos.
    more = [phrase for phrase in statement.phrases if phrase.role == "~" and phrase.kind == "thing"]
    kept = tuple(phrase for phrase in statement.phrases if phrase is not role and phrase not in more)
    said = {form for phrase in (role, *more) for form in phrase.forms}
    return replace(statement, subject=statement.subject | said, attribute="is", definite=True, phrases=kept)


def _turned(statement: Statement) -> Statement:
    """Read "Priya is my manager" as "my manager is Priya"."""
    role, *others = statement.phrases
    if role.kind != "thing" or role.role or not statement.person or statement.subject & {"i", "we"}:
        return statement
    of = [phrase for phrase in others if phrase.role in ("of", "from", "~", "for") and phrase.kind == "thing"]
    attribute = not words.ATTRIBUTES.isdisjoint(role.forms)
    certain = role.article in ("the", "der", "die", "das", "el", "la") and attribute
    if not (role.owned or certain or (attribute and of and not role.article)):
        return statement
    said = {form for phrase in (role, *of) for form in phrase.forms}
    name = Phrase(kind="thing", role="", forms=tuple(sorted(statement.subject)), named=True)
    return replace(
        statement,
        subject=frozenset(said),
        owners=frozenset(form for phrase in of for form in phrase.forms),
        definite=True,
        person=False,
        phrases=(name, *(phrase for phrase in others if phrase not in of)),
        topic=frozenset(said),
    )


def words_of(phrases: Set[Phrase] | Sequence[Phrase]) -> frozenset[str]:
    """Return the words of some phrases."""
    return frozenset(form for phrase in phrases for form in phrase.forms)
