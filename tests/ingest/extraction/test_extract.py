"""Names and relations by rules and by a generator."""

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramem.core.errors import ModelUnavailableError
from hydramem.core.row_types import ABOUT
from hydramem.ingest.extraction.extract import Passage, extract
from hydramem.ingest.extraction.extraction_prompt import (
    ChunkReply,
    EntityReply,
    ExtractionReply,
    RelationReply,
    enrich,
)
from hydramem.ingest.extraction.findings import Found
from hydramem.llm.scripted_generator import ScriptedGenerator
from tests.examples import FEW


def found(text: str, *, title: str | None = None, author: str | None = None) -> Found:
    (only,) = extract([Passage(text=text, headings=(title,) if title else (), author=author)], title=title)
    return only


def names(text: str, title: str | None = None) -> set[str]:
    return {name.name for name in found(text, title=title).names}


def triples(text: str, *, title: str | None = None, author: str | None = None) -> set[tuple[str, str, str]]:
    return claims_of(found(text, title=title, author=author))


def claims_of(only: Found) -> set[tuple[str, str, str]]:
    return {(claim.subject, claim.type, claim.object) for claim in only.claims}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "She met Ludwig van Beethoven and the Queen of Sweden.",
            {"Ludwig van Beethoven", "Queen of Sweden"},
        ),
        (
            "Call numpy.linalg.norm() on search_index or `make all`.",
            {"numpy.linalg.norm()", "search_index", "make all"},
        ),
        ("東京タワーの話。", {"東京", "タワー"}),
        ("It opened on 3 May 1999.", {"1999-05-03"}),
        ("Ada moved the billing service.", {"Ada", "billing service"}),
        ("Working there is fun. People say so. However, nobody came.", set()),
        ("I'm sure. We met on Monday in May.", set()),
        ("He likes O'Donnell's farm near St. Gallen.", {"O'Donnell", "St. Gallen"}),
        ('The default of `page_size` is `256`, and `""` turns `paging` off.', {"page_size", "paging"}),
        ("The scheduler keeps its state in etcd and talks to psycopg.", {"etcd", "psycopg"}),
        ("We read the well-known paper with a user-friendly tool.", set()),
        ("See /usr/lib/etcd about `x.psycopg`.", {"x.psycopg"}),
        ("Skip to content\n\nPrivacy Policy\n\nAda met Bo Berg.", {"Ada", "Bo Berg"}),
        ("Stefan reviews all schema changes in Q3.", set()),
    ],
)
def test_names(text: str, expected: set[str]) -> None:
    assert names(text) == expected


def test_a_sentence_start_is_a_name_where_it_is_one_elsewhere() -> None:
    first, second = extract([Passage(text="Kestrel, then."), Passage(text="The old Kestrel.")])
    assert [name.name for name in first.names] == ["Kestrel"]
    assert [name.name for name in second.names] == ["Kestrel"]


def test_an_acronym_is_an_alias_and_a_title_brings_its_plain_name_and_surname() -> None:
    (who,) = found("It asked the World Health Organization (WHO) twice.").names
    assert (who.name, "WHO" in who.aliases) == ("World Health Organization", True)
    only = found("Hale was born in Bergen. He led the Harbour Office.", title="Ada Hale (engineer)")
    title = next(name for name in only.names if name.name == "Ada Hale (engineer)")
    assert "Ada Hale" in title.aliases
    assert ("Ada Hale (engineer)", "born_in", "Bergen") in claims_of(only)


def test_a_chunk_is_about_its_title_and_the_heading_above_it() -> None:
    passages = [
        Passage(text="Kings ruled the Kingdom of Mercia.", headings=("Mercia", "Kings", "Usage")),
        Passage(text="Offa ruled Mercia.", headings=("Mercia", "Kings", "Offa")),
    ]
    first, second = (
        {name.name: name.count for name in found.names} for found in extract(passages, title="Mercia")
    )
    assert {name for name, count in first.items() if count > ABOUT} == {"Mercia", "Kings"}
    assert {name for name, count in second.items() if count > ABOUT} == {"Mercia", "Offa"}
    headings = ("Guide", "Getting Started", "How it works", "Ledger API")
    (only,) = extract([Passage(text="It is simple.", headings=headings)], title="Guide")
    assert {name.name for name in only.names} == {"Guide", "Ledger API"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Red Gap is a 1943 film directed by Sam Newfield and starring Al Hale.", {
            ("Red Gap", "directed_by", "Sam Newfield"), ("Red Gap", "features", "Al Hale")}),
        ("Ada Hale (10 May 1815 – 2 June 1852) was a writer.", {
            ("Ada Hale", "born_on", "1815-05-10"), ("Ada Hale", "died_on", "1852-06-02")}),
        ("Wen Li moved the billing service from PostgreSQL to MySQL.", {
            ("billing service", "migrated_from", "PostgreSQL"), ("billing service", "migrated_to", "MySQL")}),
        ("The Lantern team is led by Priya Raman.", {("Priya Raman", "leads", "Lantern")}),
    ],
)  # fmt: skip
def test_relations(text: str, expected: set[tuple[str, str, str]]) -> None:
    assert triples(text) == expected


def test_pronouns_mean_the_topic_and_i_means_the_speaker() -> None:
    assert triples("He was born in Bergen.", title="Ada Hale") == {("Ada Hale", "born_in", "Bergen")}
    assert triples("I moved to Bergen.", author="Mel") == {("Mel", "moved_to", "Bergen")}
    assert triples("He moved to Bergen.", author="Mel") == set()


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("If Alice joined Acme, Bob would leave Globex.", set()),
        ("Neither Helena nor Marco works for Cisco.", set()),
        ("Is it true that Helena works for Cisco?", set()),
        ("I doubt Helena works for Cisco.", set()),
        ("Ada Hale, Bo Berg, Kestrel, Lantern and Oslo were on the list.", set()),
        ("We plan to migrate Sparrow from Oracle to Postgres.", set()),
        ("Helena works for Cisco. That's not true.", set()),
        ("Helena does not live in Rome but works for Cisco.", {("Helena", "works_for", "Cisco")}),
        ("Please note that Sparrow depends on RabbitMQ.", {("Sparrow", "depends_on", "RabbitMQ")}),
    ],
)
def test_what_is_supposed_denied_or_asked_is_not_stated(text: str, stated: set[tuple[str, str, str]]) -> None:
    assert triples(text) == stated


@FEW
@given(st.text(max_size=300), st.one_of(st.none(), st.text(min_size=1, max_size=20)))
def test_any_text_can_be_read(text: str, author: str | None) -> None:
    only = found(text, author=author)
    named = {name.name for name in only.names}
    assert all({claim.subject, claim.object} <= named for claim in only.claims)
    assert all(claim.subject != claim.object for claim in only.claims)


TEXT = "Ada Hale keeps the ledger of the Kestrel Works."


def reply(quote: str) -> ExtractionReply:
    relation = RelationReply(subject="Ada Hale", type="Keeps Ledger Of", object="Kestrel Works", quote=quote)
    entity = EntityReply(name="Kestrel Works", type="Company", description="A factory")
    return ExtractionReply(chunks=(ChunkReply(number=1, entities=(entity,), relations=(relation,)),))


def enriched(*replies: object) -> Found:
    generator = ScriptedGenerator(list(replies))
    return enrich({"c_1": found(TEXT)}, {"c_1": TEXT}, generator=generator, batch=8).found["c_1"]


def test_a_generator_adds_what_it_can_quote() -> None:
    only = enriched(reply("keeps the  ledger"))
    assert claims_of(only) == {("Ada Hale", "keeps_ledger_of", "Kestrel Works")}
    works = next(name for name in only.names if name.name == "Kestrel Works")
    assert (works.type, works.description) == ("company", "A factory")
    assert enriched(reply("burned the ledger")).claims == ()
    assert enriched(reply(" ")).claims == ()


def test_a_generator_that_fails_costs_only_the_enrichment_and_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    generator = ScriptedGenerator([ModelUnavailableError("down"), reply("keeps the ledger")])
    texts = {"c_1": "Bo Lind left.", "c_2": TEXT}
    with caplog.at_level(logging.WARNING):
        done = enrich({id: found(text) for id, text in texts.items()}, texts, generator=generator, batch=1)
    assert "rules alone" in caplog.text
    assert (done.failed, done.usage.calls) == ({"c_1": "down"}, 1)
    assert done.found["c_1"] == found(texts["c_1"]) and done.found["c_2"].claims


def test_a_document_states_less_than_a_memory_of_the_same_words() -> None:
    passage = Passage(text="Borealis uses Redis. Ada Hale (10 May 1815 - 2 June 1852) was a writer.")
    (document,), (memory,) = extract([passage], document=True), extract([passage])
    assert {each.type for each in document.claims} == {"born_on", "died_on"}
    assert {each.type for each in memory.claims} == {"uses", "born_on", "died_on"}


def test_equal_texts_are_asked_about_once() -> None:
    generator = ScriptedGenerator([reply("keeps the ledger")])
    both = {"c_1": found(TEXT), "c_2": found(TEXT)}
    texts = dict.fromkeys(both, TEXT)
    assert all(each.claims for each in enrich(both, texts, generator=generator, batch=1).found.values())
