"""What a sentence supposes, asks, denies, doubts, plans or orders is not stated; what it says plainly is."""

import pytest

from hydramem.ingest.extraction.extract import Passage, extract


def triples(text: str) -> set[tuple[str, str, str]]:
    (found,) = extract([Passage(text=text, author="Mel")])
    return {(claim.subject, claim.type, claim.object) for claim in found.claims}


@pytest.mark.parametrize(
    "text",
    [
        "If Alice joined Acme, Bob would leave Globex.",
        "Never run Sparrow on Azure.",
        "Neither Helena nor Marco works for Cisco.",
        "Sparrow no longer uses RabbitMQ.",
        "Is it true that Helena works for Cisco?",
        "I doubt Helena works for Cisco.",
        "The rumor that Helena joined Cisco spread.",
        "Next year Helena will join Cisco.",
        "We plan to migrate Sparrow from Oracle to Postgres.",
        "Make sure Sparrow uses Postgres.",
        "TODO: Sparrow uses Postgres",
        '"Sparrow is written in Go" is what the old wiki said.',
        "Helena works for Cisco. That's not true.",
    ],
)
def test_what_is_not_stated_is_no_relation(text: str) -> None:
    assert triples(text) == set()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("When Helena moved to Porto, she was happy.", ("Helena", "moved_to", "Porto")),
        ("Helena does not live in Rome but works for Cisco.", ("Helena", "works_for", "Cisco")),
        ("Please note that Sparrow depends on RabbitMQ.", ("Sparrow", "depends_on", "RabbitMQ")),
        ("Helena works for Cisco. No service uses RabbitMQ.", ("Helena", "works_for", "Cisco")),
        ("May Berg joined Cisco.", ("Berg", "member_of", "Cisco")),
    ],
)
def test_what_is_stated_is_a_relation(text: str, expected: tuple[str, str, str]) -> None:
    assert triples(text) == {expected}
