"""Confidence is counted on labels, and weak claims are dropped."""

from hydramem.ingest.extraction.claim_confidence import confidence_of, united
from hydramem.ingest.extraction.extract import Passage, extract
from hydramem.ingest.extraction.findings import Claim


def claim(subject: str, type: str, object: str, how: str) -> Claim:
    return Claim(subject=subject, type=type, object=object, confidence=0.5, quote="q", how=how)


def test_more_and_better_evidence_is_surer() -> None:
    agreed, alone = (confidence_of("founded_by", how, document=True) for how in ("both", "parse"))
    assert 0 < alone < agreed < 1
    assert confidence_of("died_on", "rules", document=True) > confidence_of("uses", "rules", document=True)


def test_a_type_without_labels_has_the_mean_of_its_finder() -> None:
    unseen = {confidence_of(f"unheard_of_{n}", "rules", document=True) for n in range(3)}
    assert len(unseen) == 1
    assert confidence_of("leads", "given", document=False) == 0.5


def test_a_document_states_less_than_a_memory_of_the_same_words() -> None:
    passage = Passage(text="Borealis uses Redis. Ada Hale (10 May 1815 - 2 June 1852) was a writer.")
    (document,), (memory,) = extract([passage], document=True), extract([passage])
    assert {each.type for each in document.claims} == {"born_on", "died_on"}
    assert {each.type for each in memory.claims} == {"uses", "born_on", "died_on"}


def test_what_both_find_is_one_claim_and_a_supplied_subject_yields() -> None:
    rules = [claim("A", "leads", "B", "rules"), claim("A", "leads", "C", "indirect")]
    parsed = [claim("A", "manage", "B", "parse"), claim("D", "leads", "C", "parse")]
    found = [(each.subject, each.type, each.object, each.how) for each in united(rules, parsed)]
    assert found == [("A", "leads", "B", "both"), ("D", "leads", "C", "parse")]
