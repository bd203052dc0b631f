"""Verify relations: the graph and the text decide first; a model reads what they leave open, and a sample.

Nothing is accepted because a budget ran out or a model did not answer: it is deferred, with the reason, and
the deferred relations of a project are the queue of the next run.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from hydramem.core.config import VerificationConfig
from hydramem.core.errors import ModelUnavailableError
from hydramem.core.ids import content_hash
from hydramem.core.row_types import Chunk, Layer, RelationCandidate, Usage, Verdict
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.ingest.extraction.statement_cues import is_stated
from hydramem.ingest.knowledge.graph_rows import is_given
from hydramem.ingest.knowledge.trust_layers import sources_of
from hydramem.llm.contracts import Generator
from hydramem.verification.first_stage import first_stage, text_features
from hydramem.verification.first_stage.weights import Weights
from hydramem.verification.grounding.grounding import read_evidence
from hydramem.verification.grounding.model_replies import Replies

NO_MODEL = "no model is configured to read evidence (llm.provider, or llm.roles.verify)"

# How near the words for a relation are to its object where a sentence states it: within about two words.
_STATED_NEAR = 0.5
_INDEPENDENT = 2
_HASHES = 2.0**32


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationVerdicts:
    """What a run of verification decided.

    Attributes:
        verdicts: One for each candidate, in order.
        usage: What the model calls cost.
        reasons: Why claims wait that a model should have read, each reason once.
    """

    verdicts: tuple[Verdict, ...]
    usage: Usage
    reasons: tuple[str, ...]


_NOTHING = RelationVerdicts(verdicts=(), usage=Usage(), reasons=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """Verifies a project's relations.

    Attributes:
        snapshot: Returns the project's graph as it is.
        generator: Returns the model that reads evidence, None where there is none; called once a run.
        settings: Thresholds, and how much a model may be asked.
    """

    snapshot: Callable[[], Snapshot]
    generator: Callable[[], Generator | None]
    weights: Weights
    settings: VerificationConfig
    replies: Replies

    def __call__(
        self, candidates: Sequence[RelationCandidate], *, progress: Callable[[int, int], None] | None = None
    ) -> RelationVerdicts:
        """Verify relations by both stages.

        Args:
            candidates: The relations, their ends and passages.
            progress: Called with claims that a model has read and those that it is to read.
        """
        if not candidates:
            return _NOTHING
        generator, absent = self.model()
        return self._verify(candidates, generator, absent, progress)

    def without_model(
        self, candidates: Sequence[RelationCandidate], *, why: str = NO_MODEL
    ) -> RelationVerdicts:
        """Verify relations by the first stage alone, where a writer cannot wait for a model.

        Args:
            candidates: The relations, their ends and passages.
            why: Why no model reads what stays open, for the explanations.
        """
        return self._verify(candidates, None, why, None) if candidates else _NOTHING

    def model(self) -> tuple[Generator | None, str]:
        """Return the model, or why there is none; an unavailable model does not fail the verification."""
        try:
            return self.generator(), NO_MODEL
        except ModelUnavailableError as error:
            return None, f"the model cannot be asked: {error}"

    def is_sampled(self, candidate: RelationCandidate) -> bool:
        """Say whether a model reads the evidence of a relation though the first stage decided on it.

        The relation's id decides, so that it is the same every time.
        """
        share = int(content_hash(candidate.relation.id)[:8], 16)
        return bool(candidate.passages) and share < self.settings.vog_sample_share * _HASHES

    def _verify(
        self,
        candidates: Sequence[RelationCandidate],
        generator: Generator | None,
        absent: str,
        progress: Callable[[int, int], None] | None,
    ) -> RelationVerdicts:
        """Have both stages decide; say of each deferred relation why it waits; give each its layer."""
        verdicts = self._first_stage(candidates)
        open_ = [
            place
            for place, each in enumerate(candidates)
            if verdicts[place].decision == "deferred" and each.passages
        ]
        waiting, usage = dict.fromkeys(open_, absent), Usage()
        if generator is not None:
            decided = [place for place in range(len(candidates)) if place not in waiting]
            places = [*open_, *(place for place in decided if self.is_sampled(candidates[place]))]
            read = read_evidence(
                [candidates[place] for place in places],
                generator=generator,
                replies=self.replies,
                most=self.settings.vog_max_candidates,
                progress=progress,
            )
            for number, verdict in read.verdicts.items():
                verdicts[places[number]] = _with_first_scores(verdict, verdicts[places[number]])
            waiting, usage = {places[number]: why for number, why in read.waiting.items()}, read.usage
        reasons = {place: why for place, why in waiting.items() if verdicts[place].decision == "deferred"}
        for place, why in reasons.items():
            verdicts[place] = _explained(verdicts[place], f"It waits: {why}.")
        layered = (
            replace(verdict, layer=layer_for(verdict, each))
            for verdict, each in zip(verdicts, candidates, strict=True)
        )
        return RelationVerdicts(
            verdicts=tuple(layered), usage=usage, reasons=tuple(dict.fromkeys(reasons.values()))
        )

    def _first_stage(self, candidates: Sequence[RelationCandidate]) -> list[Verdict]:
        verdicts = first_stage.first_verdicts(
            candidates,
            self.snapshot(),
            weights=self.weights,
            accept_at=self.settings.accept_at,
            reject_below=self.settings.reject_below,
        )
        return [_bounded(verdict, each) for verdict, each in zip(verdicts, candidates, strict=True)]


def _bounded(verdict: Verdict, candidate: RelationCandidate) -> Verdict:
    """Limit the first stage: it refutes no assertion, and defers nothing without evidence."""
    if candidate.relation.origin == "asserted":
        if verdict.decision == "accepted" or (verdict.decision == "deferred" and candidate.passages):
            return verdict
        why = "It was asserted, so only what its evidence says can refute it"
        lacks = "" if candidate.passages else ", and it has no passage as evidence"
        return replace(_explained(verdict, f"{why}{lacks}."), decision="deferred")
    if verdict.decision == "deferred" and not candidate.passages:
        return replace(_explained(verdict, "No passage that is believed states it."), decision="rejected")
    return verdict


def _explained(verdict: Verdict, sentence: str) -> Verdict:
    """Return a verdict with a sentence added to its explanation."""
    before = verdict.explanation.rstrip(" .")
    return replace(verdict, explanation=f"{before}. {sentence}" if before else sentence)


def _with_first_scores(verdict: Verdict, first: Verdict) -> Verdict:
    """Return a model's verdict with the scores of the first stage's verdict added to its own."""
    return replace(verdict, scores={**first.scores, "srmkg": first.score, **verdict.scores})


def layer_for(verdict: Verdict, candidate: RelationCandidate) -> Layer:
    """Return the layer that a relation belongs to with a verdict.

    Confirmed by a person, read and quoted by a model, or accepted and stated by sentences of two independent
    sources: verified. Otherwise, accepted: shared where two sources say it, and no lower than it is; what was
    inferred and is stated nowhere stays at working. What is not accepted is not verified.
    """
    row = candidate.relation
    layer: Layer = "working" if row.layer == "verified" and not is_given(row) else row.layer
    if verdict.decision != "accepted":
        return "working" if layer == "verified" else layer
    if verdict.stage == "person" or layer == "verified":
        return "verified"
    if verdict.stage == "vog":
        return "verified" if verdict.quote else layer
    sources = _passages_by_source(candidate)
    several = len(sources) >= _INDEPENDENT
    # Reading a passage takes long, and most relations have one source.
    if several and _stating(candidate, sources) >= _INDEPENDENT:
        return "verified"
    if row.origin == "inferred" and not (verdict.quote or row.quote):
        return "working"  # it was inferred because several passages name both ends: they are no sources
    return "shared" if several else layer


def _passages_by_source(candidate: RelationCandidate) -> list[list[Chunk]]:
    """Group the passages of a candidate by who states them; a passage that several state is in each group."""
    groups: dict[str, list[Chunk]] = {}
    for chunk in candidate.passages:
        for source in sources_of(chunk):
            groups.setdefault(source, []).append(chunk)
    return list(groups.values())


def _stating(candidate: RelationCandidate, sources: Sequence[Sequence[Chunk]]) -> int:
    """Return how many sources state a relation."""
    return sum(_is_stated(replace(candidate, passages=tuple(rows))) for rows in sources)


def _is_stated(candidate: RelationCandidate) -> bool:
    """Say whether one sentence of the passages states both ends with words for the relation."""
    (stated,) = text_features.stated_evidence([candidate])
    scores = dict(zip(text_features.NAMES, stated.features, strict=True))
    if scores["same_sentence"] < 1 or scores["cue_near"] < _STATED_NEAR:
        return False
    if any(scores[name] for name in ("rival", "negated", "turned")) or stated.sentence is None:
        return False
    sentence, ends = stated.sentence.casefold(), (candidate.subject.name, candidate.object.name)
    last = max(sentence.rfind(name.casefold()) for name in ends)
    return is_stated(stated.sentence, 0, len(stated.sentence), max(last, 0))
