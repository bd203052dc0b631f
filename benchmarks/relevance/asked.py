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
_OWN = {"hotpot100": 100, "2wiki": 150, "locomo-turn": 40, "locomo-session": 30, "beam100k": 18}
_FOREIGN = {"hotpot100": 250, "2wiki": 250, "locomo-turn": 60, "locomo-session": 40, "beam100k": 40}
_TALK = {"hotpot100": 150, "2wiki": 150, "locomo-turn": 40, "locomo-session": 40, "beam100k": 40}
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
    draw = random.Random(seed)
    questions = {name: by_case(data / name / "queries.jsonl") for name in SETS}
    talk = [replace(one, use="fit") for one in talk_of(DATA / "talk.jsonl")]
    other_talk = [replace(one, use="test") for one in talk_of(DATA / "talk_test.jsonl")]
    for name in SETS:
        for case, rows in by_case(data / name / "docs.jsonl").items():
            rows = rows[: _DOCUMENTS.get(name)]
            held = {row["id"] for row in rows}
            own = [row for row in questions[name][case] if set(row["gold"]) <= held]
            draw.shuffle(own)
            others = [
                row["query"]
                for other in SETS
                for elsewhere, asked in questions[other].items()
                if elsewhere != case
                for row in asked
            ]
            foreign = [
                Asked(text=text, kind="foreign")
                for text in draw.sample(others, min(_FOREIGN[name], len(others)))
            ]
            plain = [
                Asked(text=row["query"], kind="own", gold=frozenset(row["gold"])) for row in own[: _OWN[name]]
            ]
            asked = [*plain, *foreign]
            asked += [*draw.sample(talk, _TALK[name]), *draw.sample(other_talk, _TALK[name])]
            for one in plain:
                asked += draw.sample(_reworded(one, draw), _REWORDINGS)
            for one in foreign[::3]:
                asked += draw.sample(_reworded(one, draw), 1)
            yield Store(name=f"{name}-{case}", kind=name, asked=tuple(asked), documents=rows)


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
