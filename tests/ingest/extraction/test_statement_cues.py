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
        "Had Helena joined Cisco, Marco would have moved to Porto.",
        "Provided that Sparrow runs on Azure, we are fine.",
        "Once Helena joins Cisco, Marco leads Sparrow.",
        "As soon as Sparrow depends on RabbitMQ, alert Helena.",
        "What if Sparrow used MySQL?",
        "Imagine that Helena works for Cisco.",
        "Never run Sparrow on Azure.",
        "Sparrow is not based on Electron.",
        "Neither Helena nor Marco works for Cisco.",
        "None of the services depends on RabbitMQ.",
        "Helena nearly joined Cisco.",
        "Sparrow no longer uses RabbitMQ.",
        "Is it true that Helena works for Cisco?",
        "Helena works for Cisco, right?",
        "Marco asked whether Sparrow is written in Go.",
        "I doubt Helena works for Cisco.",
        "Nobody thinks Helena works for Cisco.",
        "I heard Helena joined Cisco but I'm not sure.",
        "Helena could be the daughter of Marco Rossi.",
        "The rumor that Helena joined Cisco spread.",
        "Helena is alleged to have founded Cisco.",
        "They say Helena lives in Porto.",
        "Next year Helena will join Cisco.",
        "Helena declined to join Cisco.",
        "We plan to migrate Sparrow from Oracle to Postgres.",
        "The proposal is to move billing from Oracle to Postgres.",
        "They expect Helena to lead Sparrow, owned by Cisco.",
        "Make sure Sparrow uses Postgres.",
        "Please check that Sparrow depends on Postgres.",
        "TODO: Sparrow uses Postgres",
        "Hypothesis: Sparrow depends on RabbitMQ.",
        '"Sparrow is written in Go" is what the old wiki said.',
        "The following is not true: Helena works for Cisco.",
        "Helena works for Cisco. That's not true.",
        "Helena works for Cisco. Just kidding.",
        "Contrary to the page, Sparrow is maintained by Helena.",
    ],
)
def test_what_is_not_stated_is_no_relation(text: str) -> None:
    assert triples(text) == set()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("When Helena moved to Porto, she was happy.", ("Helena", "moved_to", "Porto")),
        ("Helena does not live in Rome but works for Cisco.", ("Helena", "works_for", "Cisco")),
        ("Instead of Jenkins, Sparrow uses Argo.", ("Sparrow", "uses", "Argo")),
        ("Please note that Sparrow depends on RabbitMQ.", ("Sparrow", "depends_on", "RabbitMQ")),
        ("Remember that Helena reports to Marco.", ("Helena", "reports_to", "Marco")),
        ("The CLI uses Redis but not Kafka.", ("CLI", "uses", "Redis")),
        ("Helena works for Cisco. No service uses RabbitMQ.", ("Helena", "works_for", "Cisco")),
        ("Marco told me that Helena lives in Porto.", ("Helena", "lives_in", "Porto")),
        ("May Berg joined Cisco.", ("Berg", "member_of", "Cisco")),
    ],
)
def test_what_is_stated_is_a_relation(text: str, expected: tuple[str, str, str]) -> None:
    assert triples(text) == {expected}
