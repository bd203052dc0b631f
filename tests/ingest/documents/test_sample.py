"""The sample conversation that ships with the package: facts of several turns join in the graph."""

from pathlib import Path

import hydramem
from tests.ingest.conftest import Kit

SAMPLE = Path(hydramem.__file__).parent / "data" / "sample" / "conversation.jsonl"


def test_the_sample_is_four_sessions_whose_facts_join(kit: Kit) -> None:
    done = kit.ingest(SAMPLE)
    assert (done.documents, done.chunks, done.skipped) == (1, 40, ())
    assert len({row.session for row in kit.chunks()}) == 4
    assert {
        ("board service", "depends_on", "Kestrel"),
        ("Kestrel", "owned_by", "Lantern"),
        ("Priya Raman", "leads", "Lantern"),
        ("berth service", "migrated_to", "SQLite"),
    } <= kit.triples()
