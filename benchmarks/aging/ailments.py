"""The ailments: what each makes of the texts of the authors, before and after, with questions.

Dates are drawn within 2025, where the authors put the changes of facts; the seed fixes them.
"""

import random
from collections.abc import Callable, Mapping
from datetime import date, timedelta

from benchmarks.aging.lives import AskedThen, Case, Life, Question, Told, Transcript, together
from benchmarks.aging.texts import Asked, Changed, NoisySession, SplitName, Texts, ToldAgain, one_line

SHARES = (0.1, 0.2, 0.4)
"""False relations for each true one."""

TOGETHER = "all together"
NONE = "none"
_SHARE_TOGETHER = 0.2
_FIRST, _DAYS = date(2025, 1, 1), 364
_APART = (14, 60)
"""Least and most days until a memory is told again."""

_SESSIONS, _ASKING_DAYS = 30, 90
_EARLIER = 8
"""Wordings that sessions ask; the later ones judge what was learned."""


def false_name(share: float) -> str:
    """Return the name of the ailment of so many false relations."""
    return f"false relations {round(100 * share)} %"


def cases_of(texts: Texts, *, seed: int = 0) -> dict[str, Case]:
    """Return every ailment alone and all together, by name.

    Args:
        texts: Those of the authors.
        seed: Of dates and sessions.
    """
    alone = [make(texts, random.Random(f"{seed} {name}")) for name, make in _AILMENTS.items()]
    false = [_false(share) for share in SHARES]
    mixed = together(TOGETHER, [*alone, _false(_SHARE_TOGETHER)])
    none = Case(ailment=NONE, clean=Life(), aged=Life())
    return {each.ailment: each for each in (*alone, *false, mixed, none)}


def _told_again(texts: Texts, chance: random.Random) -> Case:
    once: list[Told] = []
    again: list[Told] = []
    asked: list[Question] = []
    for row in texts.told_again:
        first = _day(chance, before=_APART[1])
        once += [_told(row.text, first), _told(row.near, _day(chance))]
        again.append(_told(row.again, first + timedelta(days=chance.randint(*_APART))))
        asked += _of_told_again(row)
    return Case(
        ailment="told again",
        clean=Life(told=tuple(once)),
        aged=Life(told=(*once, *again)),
        questions=tuple(asked),
        same=tuple(frozenset((row.text, row.again)) for row in texts.told_again),
        truths=tuple(
            truth
            for row in texts.told_again
            for truth in (frozenset((row.text, row.again)), frozenset((row.near,)))
        ),
    )


def _of_told_again(row: ToldAgain) -> tuple[Question, Question]:
    both, near = frozenset((row.text, row.again)), frozenset((row.near,))
    return (
        Question(ailment="told again", part="told twice", text=row.question, gold=(both,)),
        Question(ailment="told again", part="only like it", text=row.near_question, gold=(near,)),
    )


def _changed(texts: Texts, chance: random.Random) -> Case:
    now: list[Told] = []
    before: list[Told] = []
    asked: list[Question] = []
    for row in texts.changed:
        *earlier, last = row.states
        now += [_told(last.text, last.on), _told(row.beside, _day(chance))]
        before += [_told(each.text, each.on) for each in earlier]
        asked += _of_changed(row)
    return Case(
        ailment="changed facts",
        clean=Life(told=tuple(now)),
        aged=Life(told=(*now, *before)),
        questions=tuple(asked),
        truths=tuple(
            frozenset((text,)) for row in texts.changed for text in (row.states[-1].text, row.beside)
        ),
        changed=tuple(tuple(each.text for each in row.states) for row in texts.changed),
    )


def _of_changed(row: Changed) -> tuple[Question, Question]:
    last = row.states[-1]
    # Where a value comes back, the text that first stated it is not wrong.
    stale = frozenset(each.text for each in row.states[:-1] if each.value != last.value)
    return (
        Question(
            ailment="changed facts",
            part="what holds now",
            text=row.question,
            gold=(frozenset((last.text,)),),
            stale=stale,
        ),
        Question(
            ailment="changed facts",
            part="beside it",
            text=row.beside_question,
            gold=(frozenset((row.beside,)),),
        ),
    )


def _split_names(texts: Texts, chance: random.Random) -> Case:
    whole: list[Told] = []
    split: list[Told] = []
    asked: list[Question] = []
    truths: list[frozenset[str]] = []
    for row in texts.names:
        for fact in row.facts:
            on = _day(chance)
            whole.append(_told(fact.text, on, row.names[0]))
            split.append(_told(fact.text, on, fact.name))
        others = [_told(text, _day(chance), row.namesake.name) for text in row.namesake.facts]
        whole += others
        split += others
        asked += _of_names(row)
        truths += [frozenset((text,)) for text in (*(each.text for each in row.facts), *row.namesake.facts)]
    return Case(
        ailment="split names",
        clean=Life(told=tuple(whole), names=tuple(row.names for row in texts.names)),
        aged=Life(told=tuple(split)),
        questions=tuple(asked),
        truths=tuple(truths),
    )


def _of_names(row: SplitName) -> list[Question]:
    hops = [
        Question(
            ailment="split names",
            part="two hops",
            text=each.question,
            gold=tuple(frozenset((row.facts[place].text,)) for place in each.needs),
        )
        for each in row.two_hop
    ]
    other = Question(
        ailment="split names",
        part="namesake",
        text=row.namesake.question,
        gold=(frozenset(row.namesake.facts),),
    )
    return [*hops, other]


def _noise(texts: Texts, chance: random.Random) -> Case:
    remembered: list[Told] = []
    said: list[Told] = []
    transcripts: list[Transcript] = []
    for place, row in enumerate(texts.noise):
        on, session = _day(chance), f"noise {place}"
        transcripts.append(Transcript(session=session, on=on, turns=row.turns))
        first, *others = row.facts
        remembered.append(Told(text=first.text, on=on, session=session))
        said += [Told(text=each.text, on=on, session=session) for each in others]
    return Case(
        ailment="noise",
        clean=Life(told=(*remembered, *said)),
        aged=Life(told=tuple(remembered), transcripts=tuple(transcripts)),
        questions=tuple(question for row in texts.noise for question in _of_noise(row)),
        same=tuple(_saying(row, place) for row in texts.noise for place in range(len(row.facts))),
        truths=tuple(_saying(row, place) for row in texts.noise for place in range(len(row.facts))),
        hidden={one_line(row.turns[each.turn][1]): each.text for row in texts.noise for each in row.facts},
    )


def _of_noise(row: NoisySession) -> list[Question]:
    return [
        Question(
            ailment="noise",
            part="only said" if place else "remembered",
            text=fact.question,
            gold=(_saying(row, place),),
        )
        for place, fact in enumerate(row.facts)
    ]


def _saying(row: NoisySession, place: int) -> frozenset[str]:
    """Return the texts that say a fact of a session: the memory, and the turn."""
    fact = row.facts[place]
    return frozenset((fact.text, one_line(row.turns[fact.turn][1])))


def _asked(texts: Texts, chance: random.Random) -> Case:
    few: list[Told] = []
    rivals: list[Told] = []
    then: list[AskedThen] = []
    for row in texts.asked:
        wanted = dict.fromkeys((row.gold, *(gold for _, gold in row.new)))
        few += [_told(text, _day(chance, before=_ASKING_DAYS)) for text in wanted]
        rivals += [
            _told(text, _day(chance, before=_ASKING_DAYS)) for text in row.rivals if text not in wanted
        ]
        sessions = sorted(chance.sample(range(_SESSIONS), _EARLIER))
        then += [
            AskedThen(session=f"asking {place}", on=_asking_day(place), question=question, answer=row.gold)
            for place, question in zip(sessions, row.questions, strict=False)
        ]
    return Case(
        ailment="asked again",
        clean=Life(told=tuple(few)),
        aged=Life(told=(*few, *rivals), asked=tuple(then)),
        questions=tuple(question for row in texts.asked for question in _of_asked(row)),
        truths=tuple(
            frozenset((text,))
            for row in texts.asked
            for text in dict.fromkeys((row.gold, *row.rivals, *(gold for _, gold in row.new)))
        ),
    )


def _of_asked(row: Asked) -> list[Question]:
    wanted = [("asked again", text, row.gold) for text in row.questions[_EARLIER:]]
    wanted += [("never asked before", text, gold) for text, gold in row.new]
    return [
        Question(ailment="asked again", part=part, text=text, gold=(frozenset((gold,)),))
        for part, text, gold in wanted
    ]


def _false(share: float) -> Case:
    """Return a memory whose passages an agent extracted; the questions about passages are asked of it."""
    return Case(
        ailment=false_name(share),
        clean=Life(extracted=True),
        aged=Life(extracted=True, false_share=share),
    )


_AILMENTS: Mapping[str, Callable[[Texts, random.Random], Case]] = {
    "told again": _told_again,
    "changed facts": _changed,
    "split names": _split_names,
    "noise": _noise,
    "asked again": _asked,
}
ALONE = (*_AILMENTS, *map(false_name, SHARES))


def _day(chance: random.Random, *, before: int = 0) -> date:
    return _FIRST + timedelta(days=chance.randrange(_DAYS - before))


def _asking_day(place: int) -> date:
    return _FIRST + timedelta(days=_DAYS - _ASKING_DAYS + place * _ASKING_DAYS // _SESSIONS)


def _told(text: str, on: date, *entities: str) -> Told:
    return Told(text=text, on=on, session=f"work of {on}", entities=entities)
