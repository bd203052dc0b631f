"""A model that knows the texts: it answers the prompts of the package, a fixed share of them wrong.

Which answers are wrong depends on the seed and on what is asked, so the same question is answered alike.
Where a role has nothing to do with the ailments it finds nothing; classification is left to the rules.
"""

import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import unescape
from typing import Any

from benchmarks.aging.rest import Triple
from benchmarks.aging.texts import one_line
from hydramem.core.errors import ModelUnavailableError
from hydramem.garden.phases.community_names_prompt import GroupReply
from hydramem.garden.phases.infer.inference_prompt import InferReply
from hydramem.garden.phases.supersede.replacement_prompt import (
    CheckedAgainReply,
    ReadAloneReply,
    SettledReply,
)
from hydramem.ingest.extraction.extraction_prompt import ExtractionReply
from hydramem.ingest.memories.consolidate.consolidate_prompt import ConsolidationReply
from hydramem.ingest.memories.distill.distill_prompt import DistillReply
from hydramem.ingest.memories.link.link_prompt import LinkReply
from hydramem.llm.scripted_generator import ScriptedPrompt
from hydramem.verification.conflicts.conflict_prompt import PairsReply
from hydramem.verification.grounding.grounding_prompt import EvidenceReply

WRONG = 0.05
_PAIR = re.compile(r'<pair index="(\d+)">(.*?)</pair>', re.DOTALL)
_SIDE = re.compile(r"<(older|newer|first|second)[^>]*>(.*?)</\1>", re.DOTALL)
_TURN = re.compile(r'<turn number="(\d+)" author="([^"]*)"[^>]*>\n(.*?)\n</turn>', re.DOTALL)
_MEMORY = re.compile(r"<memory[^>]*>(.*?)</memory>", re.DOTALL)
_RECORD = re.compile(r'<record record_id="([^"]*)"[^>]*>(.*?)</record>', re.DOTALL)
_PASSAGE = re.compile(r'<passage number="\d+">\n(.*?)\n</passage>', re.DOTALL)
_CLAIM = re.compile(
    r'<claim index="(\d+)"><subject>(.*?)</subject><relation>(.*?)</relation><object>(.*?)</object>',
    re.DOTALL,
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_OLDER, _FIRST = ("older", "newer"), ("first", "second")
_VERDICTS: Mapping[type, tuple[str, str, str]] = {
    SettledReply: ("REPLACES", "SAME", "BOTH"),
    CheckedAgainReply: ("CONTRADICTION", "EQUIVALENT", "COMPATIBLE"),
    ReadAloneReply: ("OUTDATED", "RETOLD", "NEEDED"),
}
"""What each question calls a replacement, a repetition and anything else."""

_NOT_USERS = frozenset({"assistant", "tool"})
_LEAST_NOISE = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What the model knows of a life.

    Attributes:
        changed: Texts of the states of each fact that changed, in order of time.
        same: Texts that say the same.
        hidden: The fact that a turn states, by the turn's text.
        false: Relations that are false; every other is true.
    """

    changed: tuple[tuple[str, ...], ...] = ()
    same: tuple[frozenset[str], ...] = ()
    hidden: Mapping[str, str] = field(default_factory=dict)
    false: frozenset[Triple] = frozenset()


@dataclass(kw_only=True)
class KnowingModel:
    """Answers prompts from what is known of a life.

    Attributes:
        wrong: Share of the answers that are wrong.
        answers, mistakes: How many questions it was asked, and how many it answered wrong.
    """

    known: Known
    wrong: float = WRONG
    seed: int = 0
    answers: int = 0
    mistakes: int = 0

    @cached_property
    def _places(self) -> dict[str, tuple[int, int]]:
        return {
            text: (row, place)
            for row, states in enumerate(self.known.changed)
            for place, text in enumerate(states)
        }

    @cached_property
    def _groups(self) -> dict[str, int]:
        return {text: number for number, texts in enumerate(self.known.same) for text in texts}

    @cached_property
    def _false(self) -> frozenset[Triple]:
        return frozenset((one, type.replace("_", " "), other) for one, type, other in self.known.false)

    def __call__(self, prompt: ScriptedPrompt) -> Any:
        """Answer one prompt, as `ScriptedGenerator` asks for it."""
        text = prompt.text
        if prompt.shape in _VERDICTS:
            return {"pairs": [self._settled(prompt.shape, *each) for each in _pairs(text)]}
        if prompt.shape is PairsReply:
            return {"pairs": [self._conflict(*each) for each in _pairs(text)]}
        if prompt.shape is DistillReply:
            return {"facts": list(self._distilled(text))}
        if prompt.shape is ConsolidationReply:
            return self._consolidated(text)
        if prompt.shape is EvidenceReply:
            return {"claims": list(self._grounded(text))}
        if prompt.shape is GroupReply:
            return {"name": "things that belong together", "summary": "Things that belong together."}
        if prompt.shape in (InferReply, LinkReply, ExtractionReply):
            return {"relations": []} if prompt.shape is InferReply else {}
        return ModelUnavailableError("the rules classify")

    def _errs(self, *asked: str) -> bool:
        errs = random.Random(f"{self.seed} {asked}").random() < self.wrong
        self.answers += 1
        self.mistakes += errs
        return errs

    def replaced_by(self, older: str, newer: str) -> bool:
        """Say whether the newer text is a later state of the same fact."""
        one, other = self._places.get(one_line(older)), self._places.get(one_line(newer))
        return one is not None and other is not None and one[0] == other[0] and one[1] < other[1]

    def _what_is(self, older: str, newer: str) -> int:
        """Return 0 where the newer text replaces the older, 1 where both say the same, else 2."""
        if self.replaced_by(older, newer):
            return 0
        group = self._groups.get(one_line(older))
        return 1 if group is not None and group == self._groups.get(one_line(newer)) else 2

    def _settled(self, shape: type, index: int, older: str, newer: str) -> dict[str, Any]:
        """Answer one of the questions about a pair; where it errs, by one of the two other answers."""
        answers = _VERDICTS[shape]
        right = self._what_is(older, newer)
        if self._errs(shape.__name__, older, newer):
            chance = random.Random(f"{self.seed} {shape.__name__} {older} {newer} wrong")
            right = (right + chance.choice((1, 2))) % len(answers)
        return {"index": index, "verdict": answers[right], "older_quote": older, "newer_quote": newer}

    def _conflict(self, index: int, first: str, second: str) -> dict[str, Any]:
        excluded = self.replaced_by(first, second) or self.replaced_by(second, first)
        verdict = "CONTRADICTION" if excluded != self._errs("conflict", first, second) else "COMPATIBLE"
        return {"index": index, "verdict": verdict, "first_quote": first, "second_quote": second}

    def _distilled(self, prompt: str) -> Iterator[dict[str, Any]]:
        """Yield the facts of the turns; a wrong answer states a turn of noise in the place of a fact."""
        turns = [(int(number), who, unescape(text)) for number, who, text in _TURN.findall(prompt)]
        noise = [
            (number, text)
            for number, who, text in turns
            if who not in _NOT_USERS and len(text) > _LEAST_NOISE and one_line(text) not in self.known.hidden
        ]
        for number, _, text in turns:
            fact = self.known.hidden.get(one_line(text))
            if fact is None:
                continue
            if self._errs("distill", text):
                if noise:
                    place, other = noise[number % len(noise)]
                    yield _fact(one_line(other), place, other)
            else:
                yield _fact(fact, number, text)

    def _consolidated(self, prompt: str) -> dict[str, Any]:
        """End earlier states of a new memory and leave out a repetition; a mistake ends the first record."""
        found = _MEMORY.search(prompt)
        new = one_line(unescape(found.group(1))) if found else ""
        records = [(id, one_line(unescape(text))) for id, text in _RECORD.findall(prompt)]
        ended = {id for id, text in records if self.replaced_by(text, new)}
        group = self._groups.get(new)
        known = any(
            text == new or (group is not None and self._groups.get(text) == group) for _, text in records
        )
        if records and self._errs("consolidate", new, *(text for _, text in records)):
            ended ^= {records[0][0]}
            known = False
        actions = [
            {"record_id": id, "action": "delete", "reason": "it holds no longer"} for id in sorted(ended)
        ]
        return {"actions": actions, "insert_new": not known, "reason": ""}

    def _grounded(self, prompt: str) -> Iterator[dict[str, Any]]:
        passages = [unescape(text) for text in _PASSAGE.findall(prompt)]
        for index, *parts in _CLAIM.findall(prompt):
            subject, type, object = map(unescape, parts)
            true = (subject, type, object) not in self._false
            stated = true != self._errs("ground", subject, type, object)
            quote = _naming(passages, subject, object)
            verdict = ("GROUNDED" if stated else "REJECTED") if quote else "PARTIAL"
            yield {
                "index": int(index),
                "subject": subject,
                "object": object,
                "verdict": verdict,
                "confidence": 0.9,
                "quote": quote,
            }


def _pairs(prompt: str) -> Iterator[tuple[int, str, str]]:
    """Yield the index and texts of each pair, the older or the first text first."""
    for index, pair in _PAIR.findall(prompt):
        sides = {side: unescape(text) for side, text in _SIDE.findall(pair)}
        one, other = (sides[side] for side in (_OLDER if "older" in sides else _FIRST))
        yield int(index), one, other


def _fact(text: str, turn: int, quote: str) -> dict[str, Any]:
    return {"text": text, "turns": [turn], "quote": quote, "confidence": 0.9}


def _naming(passages: list[str], *names: str) -> str:
    """Return a sentence of the passages that says something of the names, of most of them; else nothing."""
    sentences = [each for passage in passages for each in _SENTENCE_END.split(passage)]
    folded = [name.casefold() for name in names]
    telling = [
        (sum(name in each.casefold() for name in folded), each)
        for each in sentences
        if each.casefold().strip() not in folded
    ]
    most, found = max(telling, key=lambda one: one[0], default=(0, ""))
    return found if most else ""
