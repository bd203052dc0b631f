"""What a memory is told in a year, and what is asked of it: pure data."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import chain


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A memory that a session remembers.

    Attributes:
        entities: Names that the agent gives beside those in the text.
    """

    text: str
    on: date
    session: str
    entities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """A session that is captured: author and text of each turn."""

    session: str
    on: date
    turns: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedThen:
    """A question in a session, which recalls, is answered in the words of a memory, and is captured."""

    session: str
    on: date
    question: str
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """What a memory is told.

    Attributes:
        names: Spellings of one thing that are known to be one from the start.
        extracted: Whether an agent extracts the passages again, so that relations stand beside them.
        false_share: False relations that it states, for each true one.
    """

    told: tuple[Told, ...] = ()
    transcripts: tuple[Transcript, ...] = ()
    asked: tuple[AskedThen, ...] = ()
    names: tuple[tuple[str, ...], ...] = ()
    extracted: bool = False
    false_share: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question and what answers it.

    Attributes:
        part: What it is about, within its ailment.
        gold: What is needed, and for each the texts, or names of documents, that say it.
        stale: Texts that were so before.
    """

    ailment: str
    part: str
    text: str
    gold: tuple[frozenset[str], ...]
    stale: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A memory before and after it aged.

    Attributes:
        same: Texts that say the same.
        truths: What is true in the aged memory, each with all texts that say it.
        changed: Texts of the states of each fact that changed, in order of time.
        hidden: The fact that a turn states, by the turn's text.
    """

    ailment: str
    clean: Life
    aged: Life
    questions: tuple[Question, ...] = ()
    same: tuple[frozenset[str], ...] = ()
    truths: tuple[frozenset[str], ...] = ()
    changed: tuple[tuple[str, ...], ...] = ()
    hidden: dict[str, str] = field(default_factory=dict)


def together(name: str, cases: Sequence[Case]) -> Case:
    """Return a memory with the ailments of all cases."""
    return Case(
        ailment=name,
        clean=_joined([each.clean for each in cases]),
        aged=_joined([each.aged for each in cases]),
        questions=tuple(chain.from_iterable(each.questions for each in cases)),
        same=tuple(chain.from_iterable(each.same for each in cases)),
        truths=tuple(chain.from_iterable(each.truths for each in cases)),
        changed=tuple(chain.from_iterable(each.changed for each in cases)),
        hidden={turn: fact for each in cases for turn, fact in each.hidden.items()},
    )


def _joined(lives: Sequence[Life]) -> Life:
    return Life(
        told=tuple(chain.from_iterable(each.told for each in lives)),
        transcripts=tuple(chain.from_iterable(each.transcripts for each in lives)),
        asked=tuple(chain.from_iterable(each.asked for each in lives)),
        names=tuple(chain.from_iterable(each.names for each in lives)),
        extracted=any(each.extracted for each in lives),
        false_share=max((each.false_share for each in lives), default=0.0),
    )
