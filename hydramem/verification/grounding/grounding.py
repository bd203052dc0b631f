"""The second stage of verification (VoG): a model reads the evidence of claims and decides if it states them.

A reply is believed only as far as it can be checked: each claim is answered once, by its number and its
ends, and a claim that is called grounded comes with a quote from the evidence that names an end. Any other
reply is refused: the model is asked once more, with the problem, and then the claim waits. After an outage
the model is not called again in the run; an outage accepts and rejects nothing.
"""

import html
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import assert_never

from hydramem.core.errors import ModelError, ModelReplyError
from hydramem.core.ids import content_hash
from hydramem.core.row_types import Decision, RelationCandidate, Usage, Verdict
from hydramem.llm.contracts import Generator
from hydramem.llm.model_calls import read_reply
from hydramem.text.normalize import entity_key
from hydramem.text.quotes import find_quote
from hydramem.verification.grounding.evidence import (
    ShownEvidence,
    addressed,
    names,
    show,
    speaks_of,
)
from hydramem.verification.grounding.grounding_prompt import (
    PROMPT_VERSION,
    SYSTEM,
    ClaimReply,
    EvidenceReply,
    claim_line,
    grounding_prompt,
)
from hydramem.verification.grounding.model_replies import Kept, Replies

_CLAIMS_IN_ONE = 8


# A model less sure than this of its own word has not decided.
_SURE = 0.5
_UNDECIDED = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceReading:
    """What reading the evidence of claims decided.

    Attributes:
        verdicts: By place of the claim; those that were not decided are left out.
        waiting: Why each of the others waits, by place.
        usage: What the model calls cost.
    """

    verdicts: Mapping[int, Verdict]
    waiting: Mapping[int, str]
    usage: Usage


def read_evidence(
    candidates: Sequence[RelationCandidate],
    *,
    generator: Generator,
    replies: Replies,
    most: int,
    progress: Callable[[int, int], None] | None = None,
) -> EvidenceReading:
    """Have a model read the evidence of claims.

    Args:
        candidates: Claims with their passages, those that matter most first.
        replies: Earlier replies; a claim that is answered there costs nothing.
        most: Claims that the model may be asked about; the others wait.
        progress: Called with claims read and claims to read.
    """
    readings = {place: show(each) for place, each in enumerate(candidates) if each.passages}
    waiting = {
        place: "it has no evidence to read" for place in range(len(candidates)) if place not in readings
    }
    for place in [place for place, each in readings.items() if addressed(each)]:
        waiting[place] = "its evidence holds what reads like an instruction to its reader; let a person look"
        del readings[place]
    answers = _kept_answers(readings, generator.name, replies)
    asked = [place for place in readings if place not in answers]
    late = dict.fromkeys(asked[most:], f"the cap of {most} claims a run (vog_max_candidates) is reached")
    run = _ModelRun(generator=generator)
    for group in _groups_of_same_evidence(readings, asked[:most]):
        found = run.ask({place: readings[place] for place in group})
        _keep(found, readings, generator.name, replies)
        answers |= found
        if progress is not None:
            progress(len(answers) + len(run.refused), len(readings))
    return EvidenceReading(
        verdicts={
            place: _verdict(answer, readings[place], f"vog:{generator.name}")
            for place, answer in answers.items()
        },
        waiting=waiting | late | run.refused,
        usage=run.usage,
    )


# Asking -------------------------------------------------------------------------------------------
@dataclass(slots=True, kw_only=True)
class _ModelRun:
    """The calls of one run: what they cost, why claims were refused, and the outage that ended them."""

    generator: Generator
    usage: Usage = field(default_factory=Usage)
    refused: dict[int, str] = field(default_factory=dict)
    outage: str | None = None

    def ask(self, group: Mapping[int, ShownEvidence]) -> dict[int, ClaimReply]:
        """Ask about claims of the same evidence; those whose answer is refused are asked about once more."""
        answers, problems = self._ask_once(group, {})
        if problems and self.outage is None:
            again = {place: group[place] for place in problems}
            more, problems = self._ask_once(again, problems)
            answers |= more
        self.refused |= problems
        return answers

    def _ask_once(
        self, group: Mapping[int, ShownEvidence], refused: Mapping[int, str]
    ) -> tuple[dict[int, ClaimReply], dict[int, str]]:
        if self.outage is not None:
            return {}, dict.fromkeys(group, self.outage)
        try:
            prompt = grounding_prompt(list(group.values()), refused)
            reply = self.generator.generate(prompt, EvidenceReply, system=SYSTEM)
        except ModelReplyError as error:
            self.usage += Usage(calls=1)
            return {}, dict.fromkeys(group, f"the model's reply was refused: {error}")
        except ModelError as error:
            self.outage = f"the model cannot be asked: {error}"
            return {}, dict.fromkeys(group, self.outage)
        self.usage += reply.usage
        return _checked_answers(reply.value, group)


def _checked_answers(
    reply: EvidenceReply, group: Mapping[int, ShownEvidence]
) -> tuple[dict[int, ClaimReply], dict[int, str]]:
    """Return the answers that can be believed, and why the others cannot, both by place."""
    indexes = [each.index for each in reply.claims]
    if sorted(indexes) != list(range(1, len(group) + 1)):
        problem = f"it answered claims {indexes[:20]} where each of 1 to {len(group)} was to be answered once"
        return {}, dict.fromkeys(group, f"the model's reply was refused: {problem}")
    places = list(group)
    answers: dict[int, ClaimReply] = {}
    problems: dict[int, str] = {}
    for each in reply.claims:
        place = places[each.index - 1]
        refusal = refusal_of(each, group[place])
        if refusal is None:
            answers[place] = each
        else:
            problems[place] = f"the model's reply was refused: {refusal}"
    return answers, problems


def refusal_of(reply: ClaimReply, shown: ShownEvidence) -> str | None:
    """Return why an answer cannot be believed; None where it can."""
    ends = ((reply.subject, shown.candidate.subject), (reply.object, shown.candidate.object))
    for said, entity in ends:
        if names(entity).isdisjoint({entity_key(said), entity_key(html.unescape(said))}):
            return f"it speaks of {said[:80]!r}, which is not the claim's {entity.name[:80]!r}"
    if not 0.0 <= reply.confidence <= 1.0:
        return f"its confidence {reply.confidence} is not between 0 and 1"
    if not reply.quote.strip():
        return "it is called GROUNDED without a quote" if reply.verdict == "GROUNDED" else None
    found = find_quote(reply.quote, shown.texts)
    if found is None:
        return f"its quote does not stand in the evidence: {reply.quote[:120]!r}"
    if reply.verdict == "GROUNDED" and not speaks_of(found, shown.candidate):
        return f"its quote says nothing of either end: {found[:120]!r}"
    return None


def _verdict(reply: ClaimReply, shown: ShownEvidence, verifier: str) -> Verdict:
    decision, score, explanation = _meaning(reply, shown)
    quote = find_quote(reply.quote, shown.texts) if decision == "accepted" else None
    return Verdict(
        decision=decision,
        score=score,
        stage="vog",
        verifier=verifier,
        scores={"vog": reply.confidence},
        quote=quote,
        explanation=explanation,
    )


def _meaning(reply: ClaimReply, shown: ShownEvidence) -> tuple[Decision, float, str]:
    """Return the decision that an answer means, the probability of the claim, and a sentence why."""
    sure = f"({reply.confidence:.0%} sure)"
    match reply.verdict:
        case "GROUNDED" if reply.confidence >= _SURE:
            return "accepted", reply.confidence, f"The evidence states it {sure}."
        case "REJECTED" if reply.confidence >= _SURE and shown.whole:
            return "rejected", 1 - reply.confidence, f"The evidence was read and does not state it {sure}."
        case "REJECTED" if reply.confidence >= _SURE:
            return (
                "deferred",
                _UNDECIDED,
                f"What was read of its evidence does not state it {sure}, but there is more than was read.",
            )
        case "PARTIAL":
            return "deferred", _UNDECIDED, f"The evidence states only a part of it {sure}."
        case "GROUNDED" | "REJECTED":
            return "deferred", _UNDECIDED, f"The model that read the evidence was not sure enough {sure}."
        case _:
            assert_never(reply.verdict)


def _groups_of_same_evidence(
    readings: Mapping[int, ShownEvidence], places: Sequence[int]
) -> Iterator[list[int]]:
    """Group claims that depend on the same evidence, a bounded number in each call."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for place in places:
        groups.setdefault(readings[place].texts, []).append(place)
    for group in groups.values():
        for start in range(0, len(group), _CLAIMS_IN_ONE):
            yield group[start : start + _CLAIMS_IN_ONE]


# What is kept ---------------------------------------------------------------------------------------
def _kept_answers(
    readings: Mapping[int, ShownEvidence], model: str, replies: Replies
) -> dict[int, ClaimReply]:
    """Return kept replies of the model to the same claims and evidence, checked like new ones."""
    keys = {place: _key(each, model) for place, each in readings.items()}
    kept = replies.get(list(keys.values())) if keys else {}
    found: dict[int, ClaimReply] = {}
    for place, key in keys.items():
        if key in kept and (answer := _parsed_answer(kept[key], readings[place])) is not None:
            found[place] = answer
    return found


def _parsed_answer(text: str, shown: ShownEvidence) -> ClaimReply | None:
    try:
        answer = read_reply(text, ClaimReply, name="kept reply")
    except ModelReplyError:
        return None
    return answer if refusal_of(answer, shown) is None else None


def _keep(
    answers: Mapping[int, ClaimReply], readings: Mapping[int, ShownEvidence], model: str, replies: Replies
) -> None:
    if answers:
        replies.put(
            Kept(
                key=_key(readings[place], model),
                reply=json.dumps(asdict(answer)),
                chunks=readings[place].chunks,
            )
            for place, answer in answers.items()
        )


def _key(shown: ShownEvidence, model: str) -> str:
    asked = (model, PROMPT_VERSION, claim_line(1, shown.candidate), *shown.texts)
    return content_hash(json.dumps(asked))
