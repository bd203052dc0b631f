"""Stores of lives: filled through the operations that an agent has, at the times of a made-up year."""

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import groupby
from pathlib import Path

import hydramem
from benchmarks.aging.extractor import extract_again
from benchmarks.aging.lives import AskedThen, Life, Told, Transcript
from benchmarks.aging.rest import Rest, Triple
from benchmarks.aging.year import BEFORE, noon, present
from hydramem.core.config import Config
from hydramem.core.errors import InvalidInputError
from hydramem.core.inputs import MemoryInput, SaidTurn
from hydramem.llm.contracts import Embedder

PROJECT = "year"
_BATCH = 500
_YEAR_DAYS = 365
_BUILT = "built.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """A filled store.

    Attributes:
        path: Its folder.
        ids: Ids of the memories, by text.
        false: False relations that were stated.
    """

    path: Path
    ids: Mapping[str, str]
    false: tuple[Triple, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """Where filled stores are kept, each under a name that says what was told.

    Attributes:
        seed: Of the false relations.
    """

    folder: Path
    config: Config
    embedder: Embedder
    seed: int = 0

    def of(self, rest: Rest, life: Life) -> Built:
        """Return the store of a life over a rest, filled where it is not there yet."""
        digest = _digest(*_held(rest), life, self.seed, self.embedder.fingerprint)
        place = self.folder / f"life-{digest}"
        if not place.is_dir():
            filling = self.folder / f"filling-{digest}"
            shutil.rmtree(filling, ignore_errors=True)
            shutil.copytree(self._of_rest(rest), filling)
            ids, false = self._live(filling / "store", rest, life)
            (filling / _BUILT).write_text(json.dumps({"ids": ids, "false": false}), encoding="utf-8")
            filling.rename(place)
        stored = json.loads((place / _BUILT).read_text(encoding="utf-8"))
        return Built(path=place / "store", ids=stored["ids"], false=tuple(map(tuple, stored["false"])))

    def _of_rest(self, rest: Rest) -> Path:
        digest = _digest(*_held(rest), self.embedder.fingerprint)
        place = self.folder / f"rest-{digest}"
        if not place.is_dir():
            filling, sources = self.folder / f"filling-{digest}", self.folder / f"sources-{digest}"
            shutil.rmtree(filling, ignore_errors=True)
            sources.mkdir(parents=True, exist_ok=True)
            for name, text in rest.passages:
                (sources / f"{name}.txt").write_text(text, encoding="utf-8")
            with present(BEFORE), self.opened(filling / "store") as memory:
                memory.ingest([str(sources)])
                first = BEFORE - timedelta(days=_YEAR_DAYS)
                step = timedelta(days=_YEAR_DAYS) / max(1, len(rest.memories))
                said = [
                    MemoryInput(text=text, happened_at=first + place * step)
                    for place, text in enumerate(rest.memories)
                ]
                for start in range(0, len(said), _BATCH):
                    memory.remember_many(said[start : start + _BATCH])
                memory.drain()
            filling.rename(place)
        return place

    def opened(self, path: Path, **given: object) -> hydramem.Memory:
        """Open a store of the shelf."""
        options: dict[str, object] = {"config": self.config, "embedder": self.embedder, "project": PROJECT}
        return hydramem.connect(path, **(options | given))  # type: ignore[arg-type]

    def _live(self, path: Path, rest: Rest, life: Life) -> tuple[dict[str, str], tuple[Triple, ...]]:
        ids: dict[str, str] = {}
        false: tuple[Triple, ...] = ()
        with present(BEFORE + timedelta(days=1)), self.opened(path) as memory:
            for names in life.names:
                _name(memory, names)
            if life.extracted:
                false = extract_again(memory, rest.stated, life.false_share, seed=self.seed)
        for day, events in _months(life):
            with present(noon(day)), self.opened(path) as memory:
                ids |= _month(memory, events)
                memory.drain()
        return ids, false


Event = Told | Transcript | AskedThen


def _months(life: Life) -> Iterator[tuple[date, list[Event]]]:
    """Yield what happened in each month, in order, with the day of the last of it."""
    events: list[Event] = [*life.told, *life.transcripts, *life.asked]
    events.sort(key=lambda each: each.on)
    for _, month in groupby(events, key=lambda each: (each.on.year, each.on.month)):
        found = list(month)
        yield found[-1].on, found


def _month(memory: hydramem.Memory, events: list[Event]) -> dict[str, str]:
    ids: dict[str, str] = {}
    told = [each for each in events if isinstance(each, Told)]
    for start in range(0, len(told), _BATCH):
        batch = told[start : start + _BATCH]
        done = memory.remember_many([_memory(each) for each in batch])
        ids |= {each.text: one.id for each, one in zip(batch, done, strict=True)}
    for each in events:
        if isinstance(each, Transcript):
            said = [SaidTurn(author=who, text=text, happened_at=noon(each.on)) for who, text in each.turns]
            memory.capture(each.session, said)
        elif isinstance(each, AskedThen):
            with memory.session(each.session) as session:
                session.recall(each.question)
                session.turn(each.question, each.answer)
    return ids


def _memory(each: Told) -> MemoryInput:
    return MemoryInput(
        text=each.text, session=each.session, happened_at=noon(each.on), entities=each.entities
    )


def _name(memory: hydramem.Memory, names: tuple[str, ...]) -> None:
    """Make spellings known as names of one thing, but for those that another thing has."""
    memory.entity(names[0])
    for alias in names[1:]:
        try:
            memory.entity(names[0], aliases=[alias])
        except InvalidInputError:
            continue


def _held(rest: Rest) -> tuple[object, ...]:
    return rest.passages, rest.memories, rest.stated


def _digest(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
