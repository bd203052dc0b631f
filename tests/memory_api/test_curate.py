"""Curating relations on a real store: what a read of another time answers, against a plain model."""

import random
from datetime import UTC, datetime
from pathlib import Path

import pytest

import hydramem
from hydramem.core.errors import InvalidInputError, NotFoundError
from hydramem.core.time import now
from tests.engines import DISK_ENGINE

COMPANIES = ("Acme", "Beta", "Cyan")


class Model:
    """What a store should answer: facts of one slot, and what was believed after every step."""

    def __init__(self) -> None:
        self.facts: dict[tuple[str, datetime], datetime | None] = {}
        self.gone: dict[str, tuple[datetime, tuple[str, datetime], datetime | None]] = {}
        self.log: list[tuple[datetime, dict[tuple[str, datetime], datetime | None]]] = []

    def relate(self, company: str, start: datetime) -> None:
        for (other, begun), end in self.facts.items():
            if other != company and end is None:
                self.facts[other, begun] = start
        self.facts.setdefault((company, start), None)

    def end(self, company: str, ended: datetime) -> None:
        for (other, begun), end in self.facts.items():
            if other == company and end is None:
                self.facts[other, begun] = ended

    def withdraw(self, ids: dict[str, tuple[str, datetime]]) -> None:
        for id, fact in ids.items():
            self.gone[id] = (now(), fact, self.facts.pop(fact))

    def revive(self, id: str) -> None:
        since, fact, end = self.gone.pop(id)
        self.facts[fact] = end
        for moment, believed in self.log:  # as if it had never been forgotten
            if moment > since:
                believed[fact] = end

    def step(self) -> None:
        self.log.append((now(), dict(self.facts)))

    def answer(self, as_of: datetime, known_at: datetime) -> list[str]:
        believed = next((facts for moment, facts in reversed(self.log) if moment <= known_at), {})
        return sorted(
            name for (name, start), end in believed.items() if start <= as_of and (end is None or as_of < end)
        )


def objects(memory: hydramem.Memory, **when: object) -> list[str]:
    return sorted(row.object for row in memory.relations("Ada", type="works_for", **when))


def month(number: int) -> datetime:
    return datetime(2000 + number // 12, number % 12 + 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("seed", [1, 2])
def test_reads_of_other_times_answer_as_a_plain_model_does(memory: hydramem.Memory, seed: int) -> None:
    chance, model = random.Random(seed), Model()
    memory.relate("Ada", "knows", "Grace")
    for number in range(1, 13):
        open_ones = sorted({name for (name, _), end in model.facts.items() if end is None})
        step = chance.choice(["relate", "relate", "relate", "end", "withdraw", "revive"])
        if step == "end" and open_ones:
            company = chance.choice(open_ones)
            memory.unrelate("Ada", "works_for", company, ended=month(number * 3))
            model.end(company, month(number * 3))
        elif step == "withdraw" and open_ones:
            company = chance.choice(open_ones)
            went = memory.unrelate("Ada", "works_for", company)
            model.withdraw({row.id: (row.object, row.valid_from) for row in went})
        elif step == "revive" and model.gone:
            id = chance.choice(sorted(model.gone))
            assert memory.revive([id]).relations == 1
            model.revive(id)
        else:
            company = chance.choice(COMPANIES)
            memory.relate("Ada", "works_for", company, valid_from=month(number * 3))
            model.relate(company, month(number * 3))
        model.step()
    for moment, _ in model.log:
        for as_of in (month(chance.randrange(1, 40)) for _ in range(3)):
            expected = model.answer(as_of, moment)
            assert objects(memory, as_of=as_of, known_at=moment) == expected, (moment, as_of)
    for as_of in (month(number) for number in range(0, 40, 3)):
        assert objects(memory, as_of=as_of) == model.answer(as_of, now())
    assert objects(memory) == model.answer(now(), now())


@pytest.mark.engine
@pytest.mark.costly
@pytest.mark.parametrize("memory", [DISK_ENGINE], indirect=True)
def test_a_new_fact_of_a_functional_type_ends_the_one_before(memory: hydramem.Memory) -> None:
    first = memory.relate("Ada", "works for", "Acme", subject_type="person")
    then = now()
    second = memory.relate("ada", "works_for", "Beta", reason="she told us")
    assert (first.created, second.created) == (True, True)
    assert [(row.object, row.state) for row in second.superseded] == [("Acme", "superseded")]
    assert second.conflicts == ()
    assert objects(memory) == ["Beta"]
    assert objects(memory, as_of=then) == objects(memory, as_of="2020") == ["Acme"]
    assert objects(memory, known_at=then) == ["Acme"]
    assert objects(memory, known_at=now()) == ["Beta"]
    assert [one.entity for one in memory.neighbors("Ada")] == ["Beta"]
    assert [one.entity for one in memory.neighbors("Ada", as_of=then)] == ["Acme"]
    assert not memory.path("Ada", "Acme").found
    assert memory.path("Ada", "Acme", known_at=then).found
    again = memory.relate("Ada", "works_for", "Acme")
    assert again.created
    assert [row.object for row in again.superseded] == ["Beta"]
    assert objects(memory) == ["Acme"]


def test_what_was_taken_out_on_purpose_stays_out_until_somebody_says_so(memory: hydramem.Memory) -> None:
    kept = memory.remember("Ada Lovelace leads Billing.")
    stated = memory.relations("Ada Lovelace", type="leads")
    assert [row.object for row in stated] == ["Billing"]
    (gone,) = memory.unrelate("Ada Lovelace", "leads", "Billing", reason="wrong Ada")
    assert gone.state == "archived"
    assert memory.relations("Ada Lovelace", type="leads") == ()
    memory.forget([kept.id])
    memory.revive([kept.id])
    assert [entry.operation for entry in memory.history(kept.id).entries] == ["remember", "forget", "revive"]
    assert memory.relations("Ada Lovelace", type="leads") == ()
    assert memory.unrelate("Ada Lovelace", "leads", "Billing") == ()
    back = memory.relate("Ada Lovelace", "leads", "Billing")
    assert (back.created, back.relation.id, back.relation.state) == (False, gone.id, "active")
    memory.unrelate("Ada Lovelace", "leads", "Billing")
    assert memory.revive([gone.id]).relations == 1
    assert memory.revive([gone.id]).relations == 0
    assert [row.id for row in memory.relations("Ada Lovelace", type="leads")] == [gone.id]


def test_a_wrong_statement_is_refused_and_nothing_is_written(memory: hydramem.Memory) -> None:
    for arguments, wrong in (
        (("Ada", "knows", " "), "object"),
        (("", "knows", "Bo"), "subject"),
        (("Ada", "\x00", "Bo"), "type"),
        (("Ada", "knows", "ADA "), "one entity"),
    ):
        with pytest.raises(InvalidInputError, match=wrong):
            memory.relate(*arguments)
    assert memory.entities() == ()
    assert memory.stats().counts.changes == 0


def test_evidence_is_there_and_says_it(memory: hydramem.Memory) -> None:
    kept = memory.remember("She signed the lease of   the old mill\nin 1990.")
    other = memory.remember("Kept elsewhere.", project="other")
    for evidence in (["c_nowhere"], [other.id]):
        with pytest.raises(NotFoundError, match="no chunk of project"):
            memory.relate("Ada", "rents", "Old Mill", evidence=evidence)
    with pytest.raises(InvalidInputError, match="quote"):
        memory.relate("Ada", "rents", "Old Mill", evidence=[kept.id], quote="sold the mill")
    with pytest.raises(InvalidInputError, match="valid_to"):
        memory.relate("Ada", "rents", "Old Mill", valid_from="2020", valid_to="2019")
    done = memory.relate(
        "Ada", "rents", "Old Mill", evidence=[kept.id], quote="the lease of the old mill in 1990"
    )
    assert done.relation.evidence == (kept.id,)
    mentions = {entity.name: entity.mention_count for entity in memory.entities()}
    assert mentions["Ada"] == mentions["Old Mill"] == 1
    before = memory.stats().counts.changes
    again = memory.relate("Ada", "rents", "Old Mill", evidence=[kept.id])
    assert (again.created, again.relation) == (False, done.relation)
    assert memory.stats().counts.changes == before
    memory.forget([kept.id])
    assert memory.relations("Ada") == ()
    with pytest.raises(InvalidInputError, match="archived"):
        memory.relate("Ada", "rents", "Old Mill", evidence=[kept.id])
    memory.revive([kept.id])
    assert [row.object for row in memory.relations("Ada")] == ["Old Mill"]


def test_memories_of_another_time(memory: hydramem.Memory) -> None:
    old = memory.remember("The mill was rented.", valid_from="2019", valid_to="2021")
    then = now()
    new = memory.remember("The mill is ours.", valid_from="2021-01")
    memory.forget([new.id])
    assert memory.memories() == ()
    assert [row.id for row in memory.memories(as_of="2020-06")] == [old.id]
    assert [row.id for row in memory.memories(known_at=then, as_of="2020")] == [old.id]
    assert [row.id for row in memory.memories(states=["archived"])] == [new.id]
    assert "was rented" in memory.prime("who rented the mill?", as_of="2020").text
    assert "was rented" not in memory.prime("who rented the mill?").text


def test_the_history_of_a_relation_that_was_asserted(memory: hydramem.Memory) -> None:
    first = memory.relate("Ada", "works_for", "Acme", reason="her card")
    memory.relate("Ada", "works_for", "Beta", reason="she told us")
    told = memory.history(first.relation.id)
    assert (told.kind, told.text) == ("relation", "Ada -[works_for]-> Acme")
    born, ended = told.entries
    assert (born.created, born.operation, born.actor, born.reason) == (True, "relate", "python", "her card")
    assert "superseded by" in str(ended.reason)
    assert "she told us" in str(ended.reason)
    changed = {one.field: (one.before, one.after) for one in ended.fields}
    assert changed["state"] == ("active", "superseded")
    assert changed["valid_to"][0] is None
    then = first.relation.recorded_at
    (version,) = memory.relations("Ada", known_at=then)
    assert memory.history(version.id) == told
    for id in ("c_nowhere", "r_nowhere", "", "\ud800", "r_'; DROP"):
        with pytest.raises(NotFoundError):
            memory.history(id)


def test_a_document_of_another_time_and_its_history(memory: hydramem.Memory, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("Ada Lovelace leads Billing.\n")
    memory.ingest([str(page)])
    then = now()
    (relation,) = memory.relations("Ada Lovelace", type="leads")
    (chunk,) = memory.document(str(page)).chunks
    for id in (chunk.id, relation.id, next(row.id for row in memory.entities() if row.name == "Billing")):
        (born,) = memory.history(id).entries
        assert (born.created, born.operation, born.actor) == (True, "ingest", "python")
        assert born.through == chunk.document
    page.write_text("Grace Hopper leads Billing.\n")
    memory.ingest([str(page)])
    gone = memory.history(chunk.id).entries[-1]
    assert [(one.field, one.after) for one in gone.fields] == [("state", "superseded")]
    went = memory.history(relation.id).entries[-1]
    assert [(one.field, one.after) for one in went.fields] == [("state", "archived")]
    assert [entry.operation for entry in memory.history(str(chunk.document)).entries] == ["ingest"] * 2
    old = memory.document(str(page), known_at=then)
    assert [chunk.text for chunk in old.chunks] == ["Ada Lovelace leads Billing."]
