"""Relate: what verification says of an assertion, and what it then does to others."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from hydramem.core.config import MemoryConfig
from hydramem.core.row_types import Decision, RelationCandidate, Verdict
from hydramem.ingest.knowledge.relation_input import RelationInput
from hydramem.ingest.knowledge.relations import Asserted, Functional, relate
from hydramem.storage.store import Listing
from tests.ingest.conftest import PROJECT, Kit

AS_GIVEN = MemoryConfig(cognitive=False)
FUNCTIONAL = Functional(types=("works_for",))
YEAR_2019, YEAR_2022 = (datetime(year, 1, 1, tzinfo=UTC) for year in (2019, 2022))


class Judge:
    """Gives one decision, and keeps what it was asked."""

    def __init__(self, decision: Decision) -> None:
        self.decision = decision
        self.asked: list[RelationCandidate] = []

    def __call__(self, candidates: Sequence[RelationCandidate]) -> list[Verdict]:
        self.asked.extend(candidates)
        verdict = Verdict(
            decision=self.decision, score=0.5, stage="srmkg", verifier="srmkg:test", explanation="Because."
        )
        return [verdict for _ in candidates]


def noted(kit: Kit, text: str) -> str:
    return kit.remember(text, settings=AS_GIVEN).id


def state(
    kit: Kit,
    object: str,
    judge: Judge | None = None,
    *,
    functional: Functional = FUNCTIONAL,
    **values: object,
) -> Asserted:
    said = RelationInput(subject="Ada", type="works_for", object=object, **values)
    return relate(said, target=kit.target(judge), functional=functional)


def test_what_its_evidence_leaves_open_is_stored_and_ends_nothing(kit: Kit) -> None:
    chunk = noted(kit, "She may have gone to Beta.")
    state(kit, "Acme")
    done = state(kit, "Beta", Judge("deferred"), evidence=(chunk,))
    assert (done.relation.verdict, done.relation.layer) == ("deferred", "working")
    assert [row.object for row in done.clashing] == [row.object for row in kit.relations()[1:]]
    assert done.superseded == ()
    assert {row.state for row in kit.relations()} == {"active"}


def test_what_is_rejected_is_kept_in_the_history_alone(kit: Kit) -> None:
    done = state(kit, "Acme", Judge("rejected"), reason="hearsay")
    assert not done.kept
    assert kit.graph.list_entities(PROJECT, Listing()) == ()
    assert kit.relations() == []
    (change,) = kit.graph.changes(target=done.relation.id)
    assert (change.before, change.reason) == (None, "Because.")
    assert '"verdict": "rejected"' in str(change.after)


def test_a_stored_relation_is_judged_again_only_for_more_evidence(kit: Kit) -> None:
    chunk = noted(kit, "She went to Acme.")
    judge = Judge("accepted")
    state(kit, "Acme", judge)
    state(kit, "Acme", judge)
    assert len(judge.asked) == 1
    done = state(kit, "Acme", judge, evidence=(chunk,))
    assert [row.id for row in judge.asked[1].passages] == [chunk]
    assert (done.created, done.relation.verdict, done.relation.evidence) == (False, "accepted", (chunk,))
    names = {row.name: row.mention_count for row in kit.graph.list_entities(PROJECT, Listing())}
    assert (names["Ada"], names["Acme"]) == (1, 1)


def test_a_name_that_an_evidence_makes_common_gets_a_vector(kit: Kit) -> None:
    state(kit, "Acme", evidence=tuple(noted(kit, f"Note {number} says so.") for number in range(3)))
    query = kit.embedder.embed_query("Acme")
    assert kit.vectors.nearest_entities(query, (PROJECT,), 1)[0].score > 0.99


@pytest.mark.parametrize("seems", [True, False])
def test_a_type_that_only_seems_functional_clashes_and_ends_nothing(kit: Kit, seems: bool) -> None:
    functional = Functional(seems=lambda type: seems)
    state(kit, "Acme", functional=functional)
    done = state(kit, "Beta", functional=functional)
    assert (len(done.clashing), len(done.superseded)) == (int(seems), 0)


def test_an_older_statement_does_not_end_a_newer_one(kit: Kit) -> None:
    state(kit, "Beta", valid_from=YEAR_2022)
    done = state(kit, "Acme", valid_from=YEAR_2019)
    assert (len(done.clashing), len(done.superseded)) == (1, 0)
    ended = state(kit, "Acme", valid_from=YEAR_2019, valid_to=YEAR_2022)
    assert (ended.clashing, ended.created) == ((), False)


def test_both_directions_of_a_mutual_relation_are_one(kit: Kit) -> None:
    first = state(kit, "Acme", bidirectional=True)
    turned = RelationInput(subject="Acme", type="works_for", object="Ada", bidirectional=True)
    again = relate(turned, target=kit.target(), functional=FUNCTIONAL)
    assert (again.created, again.relation) == (False, first.relation)


def test_confirming_what_was_extracted_ends_the_one_before_and_dates_it(kit: Kit) -> None:
    for company in ("Acme", "Beta"):
        noted(kit, f"Ada Lovelace works for {company}.")
    acme, beta = sorted(kit.relations(), key=lambda row: row.times.recorded_at)
    said = RelationInput(subject="Ada Lovelace", type="works_for", object="Beta")
    done = relate(said, target=kit.target(), functional=FUNCTIONAL)
    assert (done.relation.id, done.created) == (beta.id, False)
    assert done.relation.times.valid_from == done.superseded[0].times.valid_to
    assert done.superseded[0].id == acme.id
    before = kit.graph.list_relations(
        PROJECT, Listing(), states=("archived",), known_at=beta.times.recorded_at
    )
    assert {row.times.valid_from for row in before} == {None}
    assert len(before) == 2
