"""Verify: the graph and the text decide first; what they leave open, and a sample, a model reads.

Nothing is accepted because a budget ran out or a model did not answer: it is deferred, with the reason,
and the deferred relations of a project are the queue that the next run takes up.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hydramem.core.config import VerificationConfig
from hydramem.core.errors import ModelUnavailableError
from hydramem.core.ids import content_hash
from hydramem.core.row_types import Layer, RelationCandidate, Usage, Verdict
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.llm.contracts import Generator
from hydramem.verification.first_stage import first_stage
from hydramem.verification.first_stage.weights import Weights
from hydramem.verification.grounding.evidence import is_quoted
from hydramem.verification.grounding.grounding import Read, read
from hydramem.verification.grounding.model_replies import Replies

NO_MODEL = "no model is configured to read evidence (llm.provider, or llm.roles.verify)"

# How near the words for a relation stand to its object where a sentence states it: within about two words.
_STATED_NEAR = 0.5
_INDEPENDENT = 2
_HASHES = 2.0**32


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What a run of verification decided.

    Attributes:
        verdicts: One for each candidate, in order.
        usage: What the model calls cost.
        reasons: Why claims wait that a model should have read, each reason once.
    """

    verdicts: tuple[Verdict, ...]
    usage: Usage
    reasons: tuple[str, ...]


def verify(
    candidates: Sequence[RelationCandidate],
    snapshot: Snapshot,
    *,
    weights: Weights,
    settings: VerificationConfig,
    generator: Generator | None,
    replies: Replies,
    absent: str = NO_MODEL,
    similarity: NDArray[np.floating] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Judged:
    """Judge relations.

    Args:
        candidates: The relations, their ends and passages.
        snapshot: The graph around them, as it was before they came.
        weights: Of the first stage.
        settings: Thresholds, and what a model may be asked.
        generator: Reads evidence; None leaves what is open deferred.
        replies: What models said before.
        absent: Why there is no generator, where there is none.
        similarity: As for `srmkg.features`.
        progress: Called with claims that a model has read and those that it is to read.
    """
    first = first_stage.judge(
        candidates,
        snapshot,
        weights=weights,
        accept_at=settings.accept_at,
        reject_below=settings.reject_below,
        similarity=similarity,
    )
    verdicts = [_bounded(verdict, each) for verdict, each in zip(first, candidates, strict=True)]
    open_ = [
        place
        for place, each in enumerate(candidates)
        if verdicts[place].decision == "deferred" and each.passages
    ]
    told, usage = dict.fromkeys(open_, absent), Usage()
    if generator is not None:
        sampled = [
            place
            for place, each in enumerate(candidates)
            if place not in told and each.passages and _is_sampled(each, settings.vog_sample_share)
        ]
        places = [*open_, *sampled]
        found = read(
            [candidates[place] for place in places],
            generator=generator,
            replies=replies,
            most=settings.vog_max_candidates,
            progress=progress,
        )
        told, usage = _merge(verdicts, places, found), found.usage
    for place, reason in told.items():
        if verdicts[place].decision == "deferred":
            verdicts[place] = _saying(verdicts[place], f"It waits: {reason}.")
    waiting = [reason for place, reason in told.items() if verdicts[place].decision == "deferred"]
    return Judged(
        verdicts=tuple(
            replace(verdict, layer=layer_for(verdict, each))
            for verdict, each in zip(verdicts, candidates, strict=True)
        ),
        usage=usage,
        reasons=tuple(dict.fromkeys(waiting)),
    )


def layer_for(verdict: Verdict, candidate: RelationCandidate) -> Layer:
    """Return the layer that a relation belongs to with a verdict.

    Read and quoted by a model, confirmed by a person, or stated by a sentence of its evidence: verified.
    Else, accepted: shared where two sources say it, and no lower than it is; what was inferred and nobody
    says stays at working. What is not accepted is not verified.
    """
    layer = candidate.relation.layer
    if verdict.decision != "accepted":
        return "working" if layer == "verified" else layer
    if verdict.stage == "person" or layer == "verified":
        return "verified"
    if verdict.stage == "vog":
        return "verified" if verdict.quote else layer
    if _is_stated(verdict, candidate):
        return "verified"
    if candidate.relation.origin == "inferred" and not (verdict.quote or candidate.relation.quote):
        return "working"  # that several passages name both ends is why it was supposed
    return "shared" if len(first_stage.documents(candidate)) >= _INDEPENDENT else layer


def _is_stated(verdict: Verdict, candidate: RelationCandidate) -> bool:
    """Say whether one sentence of the evidence names both ends with words for the relation, and is quoted."""
    quote, scores = verdict.quote or candidate.relation.quote, verdict.scores
    stated = (
        scores.get("same_sentence", 0.0) >= 1
        and scores.get("cue_near", 0.0) >= _STATED_NEAR
        and not scores.get("rival", 0.0)
        and not scores.get("negated", 0.0)
    )
    if not stated or quote is None:
        return False
    return is_quoted(quote, [chunk.text for chunk in candidate.passages])


def _bounded(verdict: Verdict, candidate: RelationCandidate) -> Verdict:
    """Keep the first stage to its bounds: it refutes no assertion, and defers nothing without evidence."""
    if candidate.relation.origin == "asserted":
        if verdict.decision == "accepted" or (verdict.decision == "deferred" and candidate.passages):
            return verdict
        said = "It was asserted, so only what its evidence says can refute it"
        lacks = "" if candidate.passages else ", and it has no passage as evidence"
        return replace(_saying(verdict, f"{said}{lacks}."), decision="deferred")
    if verdict.decision == "deferred" and not candidate.passages:
        return replace(_saying(verdict, "No passage that is believed states it."), decision="rejected")
    return verdict


def _saying(verdict: Verdict, sentence: str) -> Verdict:
    said = verdict.explanation.rstrip(" .")
    return replace(verdict, explanation=f"{said}. {sentence}" if said else sentence)


def _is_sampled(candidate: RelationCandidate, share: float) -> bool:
    """Say whether a model reads a claim though it is decided: by its id, so that it is so every time."""
    return int(content_hash(candidate.relation.id)[:8], 16) < share * _HASHES


def _merge(verdicts: list[Verdict], places: Sequence[int], found: Read) -> dict[int, str]:
    """Put what a model decided in place of the first stage's verdicts; return why others wait, by place."""
    for number, verdict in found.verdicts.items():
        first = verdicts[places[number]]
        scores = {**first.scores, "srmkg": first.score, **verdict.scores}
        verdicts[places[number]] = replace(verdict, scores=scores)
    return {places[number]: reason for number, reason in found.waiting.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """What a project's relations are judged with.

    Attributes:
        snapshot: Returns the project's graph as it is.
        generator: Returns the model that reads evidence, None where there is none; asked once a run.
        weights, settings, replies: As for `verify`.
    """

    snapshot: Callable[[], Snapshot]
    generator: Callable[[], Generator | None]
    weights: Weights
    settings: VerificationConfig
    replies: Replies

    def __call__(
        self, candidates: Sequence[RelationCandidate], *, progress: Callable[[int, int], None] | None = None
    ) -> Judged:
        """Judge relations by both stages."""
        if not candidates:
            return _NOTHING
        generator, absent = self.model()
        return self._run(candidates, generator, absent, progress)

    def model(self) -> tuple[Generator | None, str]:
        """Return the model, or why there is none: one that cannot be had must not fail what is judged."""
        try:
            return self.generator(), NO_MODEL
        except ModelUnavailableError as error:
            return None, f"the model cannot be asked: {error}"

    def without_model(self, candidates: Sequence[RelationCandidate]) -> Judged:
        """Judge relations by the first stage alone, where a writer cannot wait for a model."""
        return self._run(candidates, None, NO_MODEL, None) if candidates else _NOTHING

    def is_sampled(self, candidate: RelationCandidate) -> bool:
        """Say whether a model reads the evidence of a relation though the first stage decided on it."""
        return bool(candidate.passages) and _is_sampled(candidate, self.settings.vog_sample_share)

    def _run(
        self,
        candidates: Sequence[RelationCandidate],
        generator: Generator | None,
        absent: str,
        progress: Callable[[int, int], None] | None,
    ) -> Judged:
        return verify(
            candidates,
            self.snapshot(),
            weights=self.weights,
            settings=self.settings,
            generator=generator,
            replies=self.replies,
            absent=absent,
            progress=progress,
        )


_NOTHING = Judged(verdicts=(), usage=Usage(), reasons=())
