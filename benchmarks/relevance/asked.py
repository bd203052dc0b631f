"""What is asked of a store: its own questions in several wordings, those of other stores, and mere talk."""

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from benchmarks.retrieval import by_case
from hydramem.text.search_terms import STOP_WORDS

Kind = Literal["own", "foreign", "talk"]
Use = Literal["fit", "test", "both"]
SHORT, LANGUAGES = "short memories", "other languages"
"""The kinds of the stores that were written to fit on."""
SETS = ("hotpot100", "2wiki", "locomo-turn", "locomo-session", "beam100k")
DATA = Path(__file__).parents[1] / "data" / "relevance"
"""Texts written for this: `talk_test.jsonl` and `test` are not fitted on."""

_DOCUMENTS = {"2wiki": 1500}
_REWORDINGS = 2
_WORD = re.compile(r"[\w'-]+")
_NAMES = re.compile(r"(?<![.?!] )(?<!^)\b[A-Z][\w'-]+(?: [A-Z][\w'-]+)*")
_CHATTER = (
    "hey, quick question: {} thanks!",
    "I was wondering, {} do you know?",
    "can you check your notes for me? {}",
    "{} sorry if I asked that before",
    "ok so before we go on: {}",
    "remind me please, {}",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A query.

    Attributes:
        kind: Whether the store's own documents answer it, another's do, or nothing is asked.
        wording: plain, or how it was reworded; of talk, its sort.
        gold: The documents that answer it.
        use: Talk that every store is asked is either fitted on or measured; all else is both, in turn.
    """

    text: str
    kind: Kind
    wording: str = "plain"
    gold: frozenset[str] = frozenset()
    use: Use = "both"


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """A project's documents and what it is asked.

    Attributes:
        kind: The set that it is of; fits leave out all of one kind.
        documents: Rows with `id`, `text` and `meta`; empty where `memories` is not.
        memories: Single memories, by id, for a store that is no set.
    """

    name: str
    kind: str
    asked: tuple[Asked, ...]
    documents: Sequence[Mapping[str, Any]] = ()
    memories: Mapping[str, str] = field(default_factory=dict)


def visible_stores(data: Path, seed: int = 5) -> Iterator[Store]:
    """Yield a store for each case of the sets."""
    drawn = Drawn(seed)
    questions = {name: by_case(data / name / "queries.jsonl") for name in SETS}
    for name in SETS:
        for case, rows in by_case(data / name / "docs.jsonl").items():
            rows = rows[: _DOCUMENTS.get(name)]
            own = answered_by(questions[name][case], rows)
            asked = drawn.asked(own, elsewhere(questions, case), counts=COUNTS[name])
            yield Store(name=f"{name}-{case}", kind=name, asked=asked, documents=rows)


def answered_by(questions: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]]) -> list[Asked]:
    """Return the questions whose answers some documents hold, as own queries."""
    held = {row["id"] for row in rows}
    return [
        Asked(text=row["query"], kind="own", gold=frozenset(row["gold"]))
        for row in questions
        if set(row["gold"]) <= held
    ]


def elsewhere(questions: Mapping[str, Mapping[str, Sequence[Mapping[str, Any]]]], case: str) -> list[str]:
    """Return the questions of all other cases, by set and case."""
    return [
        row["query"]
        for cases in questions.values()
        for other, asked in cases.items()
        if other != case
        for row in asked
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many own questions, foreign ones and phrases of talk of either author are asked, at most."""

    own: int
    foreign: int
    talk: int


COUNTS = {
    "hotpot100": Counts(own=100, foreign=250, talk=150),
    "2wiki": Counts(own=150, foreign=250, talk=150),
    "locomo-turn": Counts(own=40, foreign=60, talk=40),
    "locomo-session": Counts(own=30, foreign=40, talk=40),
    "beam100k": Counts(own=18, foreign=40, talk=40),
}
"""What each case of a set is asked."""


class Drawn:
    """Draws what stores are asked, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self._talk = [replace(one, use="fit") for one in talk_of(DATA / "talk.jsonl")]
        self._other_talk = [replace(one, use="test") for one in talk_of(DATA / "talk_test.jsonl")]

    def asked(self, own: Sequence[Asked], others: Sequence[str], *, counts: Counts) -> tuple[Asked, ...]:
        """Draw own and foreign questions and talk, and reword all own and a third of the foreign ones.

        Args:
            own: Questions that the store answers.
            others: Questions that it does not.
            counts: How many of them; of talk, of each of the two authors.
        """
        draw = self.random
        shuffled = list(own)
        draw.shuffle(shuffled)
        plain = shuffled[: counts.own]
        drawn = draw.sample(others, min(counts.foreign, len(others)))
        foreign = [Asked(text=text, kind="foreign") for text in drawn]
        asked = [*plain, *foreign]
        asked += [*draw.sample(self._talk, counts.talk), *draw.sample(self._other_talk, counts.talk)]
        for one in plain:
            asked += draw.sample(_reworded(one, draw), _REWORDINGS)
        for one in foreign[::3]:
            asked += draw.sample(_reworded(one, draw), 1)
        return tuple(asked)


def written_stores(part: Literal["fit", "languages", "test"]) -> Iterator[Store]:
    """Yield the stores that were written for this: memories with their questions, and others' questions."""
    for path in sorted((DATA / part).glob("*.json")):
        given = json.loads(path.read_text(encoding="utf-8"))
        own = [
            Asked(
                text=row["text"],
                kind="own",
                wording=row.get("wording", "plain"),
                gold=frozenset(map(str, row["gold"])),
            )
            for row in given["own"]
        ]
        foreign = [Asked(text=text, kind="foreign") for text in given["foreign"]]
        talk = [Asked(text=text, kind="talk") for text in given["talk"]]
        memories = {str(place): text for place, text in enumerate(given["memories"])}
        kind = {"fit": SHORT, "languages": LANGUAGES}.get(part, path.stem)
        yield Store(name=path.stem, kind=kind, asked=(*own, *foreign, *talk), memories=memories)


def talk_of(path: Path) -> list[Asked]:
    """Read talk that asks nothing of a memory, a JSON object with `text` and `kind` a line."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [Asked(text=row["text"], kind="talk", wording=row["kind"]) for row in rows]


def _reworded(one: Asked, draw: random.Random) -> list[Asked]:
    """Return the other wordings of a question, made without reading it."""
    found = _WORD.findall(one.text)
    names = _NAMES.findall(one.text)
    question = one.text if one.text.endswith("?") else f"{one.text}?"
    wordings = {
        "keywords": " ".join(word for word in found if word.lower() not in STOP_WORDS),
        "lower case": " ".join(found).lower(),
        "in chatter": draw.choice(_CHATTER).format(question),
        "one name": max(names, key=len, default=""),
    }
    return [
        Asked(text=text, kind=one.kind, wording=wording, gold=one.gold)
        for wording, text in wordings.items()
        if text.strip()
    ]
