"""Memories told again in other words: one hit that names the others, until that is undone."""

from pathlib import Path

from tests.garden.memories import night, opened, rows

FIRST = "The greenhouse of Anneke gets its water at six in the morning, except on Sundays."
AGAIN = "Anneke's greenhouse is watered at 6 a.m. on every day of the week but Sunday."
RIVAL = "The greenhouse of Benedek gets its water at nine in the evening, except on Mondays."
QUESTION = "When does the greenhouse of Anneke get its water?"


def test_a_memory_told_again_is_one_hit_that_names_the_other(tmp_path: Path) -> None:
    with opened(tmp_path, MEMORY_COGNITIVE="true") as memory:
        first, rival, again = (
            memory.remember(text, session=f"work {place}").id
            for place, text in enumerate((FIRST, RIVAL, AGAIN))
        )
        hits = memory.recall(QUESTION).hits
        assert len(hits) == 2
        told = next(hit for hit in hits if hit.id != rival)
        assert sorted((told.id, *told.also)) == sorted((first, again))
        assert "stands for other matches that say the same" in told.why
        assert next(hit for hit in hits if hit.id == rival).also == ()
        assert memory.get(told.also[0]).state == "active", "nothing ends by it"


def test_a_night_joins_what_was_not_compared_and_undo_parts_it(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        ids = [memory.remember(text, session=f"work {place}").id for place, text in enumerate((FIRST, RIVAL))]
        ids.append(memory.remember(AGAIN, session="work 3").id)
        memory.drain()
        before = rows(memory)
        assert len(memory.recall(QUESTION).hits) == 3
        report = night(memory, "supersede", "merge")
        packed = [sorted((hit.id, *hit.also)) for hit in memory.recall(QUESTION).hits]
        assert sorted(packed, key=len) == [[ids[1]], sorted((ids[0], ids[2]))]
        links = rows(memory)["LINKS"]
        assert [phase.proposals for phase in night(memory, "supersede", "merge").phases] == [0, 0]
        assert rows(memory)["LINKS"] == links
        memory.undo(report.run)
        assert len(memory.recall(QUESTION).hits) == 3
        assert [row.state for row in rows(memory)["Chunk"]] == [row.state for row in before["Chunk"]]
        assert not [link for link in rows(memory)["LINKS"] if link.state == "active"]
        again = night(memory, "supersede", "merge")
        assert again.phases[0].proposals == 0, "what a person took back is not proposed again"
