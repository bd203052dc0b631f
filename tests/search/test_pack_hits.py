"""What leaves recall: nothing twice, within a budget, and passages that read on."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from hydramem.core.row_types import Chunk
from hydramem.search.candidate_scores import RecallCandidate
from hydramem.search.pack_hits import distinct, within
from hydramem.search.passages import joined, stitched
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.in_memory.graph import InMemoryGraph
from hydramem.storage.store import Stretch
from hydramem.text.tokens import count_tokens
from tests.examples import FEW
from tests.graph.graphs import P, chunk, turn
from tests.search.candidates import candidate
from tests.search.test_recall import Memory


def candidates(*chunks: Chunk) -> list[RecallCandidate]:
    return [candidate(one, 1 / n) for n, one in enumerate(chunks, start=1)]


def ids(found: object) -> list[str]:
    return [one.chunk.id for one in found]


def note(id: str, text: str, **fields: object) -> Chunk:
    return replace(chunk(id, text), kind="note", **fields)


# Nothing twice --------------------------------------------------------------------------------------


def test_memories_of_the_same_words_come_once() -> None:
    given = candidates(
        note("a", "The key is blue."),
        note("b", "the key  is blue"),
        note("red", "The key is red."),
        note("said", "The key is blue.", author="Ada"),
        note("other", "The key is blue.", project="other"),
        chunk("page", "The key is blue.", document="d"),
        turn("s", 1, "The key is blue."),
        turn("s", 2, "The key is blue."),
    )
    assert ids(distinct(given)) == ["a", "red", "said", "page", "s-1", "s-2"]


# The budget -----------------------------------------------------------------------------------------


def test_no_source_takes_more_than_half_while_others_wait() -> None:
    own = [chunk(f"d{n}", f"word {n} " * 10, document="d") for n in range(8)]
    others = [chunk(f"e{n}", f"term {n} " * 10, document=f"e{n}") for n in range(2)]
    size = count_tokens(own[0].text)
    assert ids(within(candidates(*own, *others), size * 6)) == ["d0", "d1", "d2", "d3", "e0", "e1"]
    assert ids(within(candidates(*own), size * 6)) == ["d0", "d1", "d2", "d3", "d4", "d5"]


def test_the_best_takes_the_room_that_it_needs() -> None:
    large, small = chunk("large", "word " * 80, document="d"), chunk("small", "word", document="e")
    assert ids(within(candidates(large, small), 90)) == ["large", "small"]
    assert ids(within(candidates(large, small), 20)) == ["small"]


def test_a_passage_that_does_not_fit_gives_way_to_the_chunk() -> None:
    (one,) = candidates(chunk("a", "The key is blue."))
    wide = replace(one, context="word " * 50)
    assert within([wide], 200) == (wide,)
    assert within([wide], 20) == (one,)
    assert within([wide], 2) == ()


@FEW
@given(
    st.lists(st.tuples(st.text(max_size=60), st.sampled_from("de"), st.text(max_size=90))), st.integers(1, 60)
)
def test_what_is_chosen_fits_and_keeps_its_order(rows: list[tuple[str, str, str]], most: int) -> None:
    chunks = [chunk(f"c{n}", text, document=document) for n, (text, document, _) in enumerate(rows)]
    given = [
        replace(one, context=context) for one, (_, _, context) in zip(candidates(*chunks), rows, strict=True)
    ]
    chosen = within(given, most)
    assert sum(count_tokens(one.context or one.chunk.text) for one in chosen) <= most
    places = [ids(given).index(id) for id in ids(chosen)]
    assert places == sorted(set(places))


# Passages -------------------------------------------------------------------------------------------


class Counted(InMemoryGraph):
    """Counts the reads of stretches."""

    reads = 0

    def between(self, stretches: list[Stretch]) -> tuple[Chunk, ...]:
        self.reads += 1
        return super().between(stretches)


def store(*chunks: Chunk) -> Counted:
    memory = Memory()
    memory.graph = Counted()
    memory.keep(*chunks)
    return memory.graph


def passages() -> list[Chunk]:
    texts = ["It began in the spring.", "in the spring. Then came rain.", "A new part.", "The end."]
    return [chunk(f"p{n}", text, document="d", position=n) for n, text in enumerate(texts)]


def test_neighbours_are_stitched_in_one_read() -> None:
    rows, turns = passages(), [turn("s", n, f"line {n}") for n in range(5)]
    graph = store(*rows, *turns, note("n", "alone"))
    given = candidates(rows[1], turns[3], note("n", "alone"))
    found = stitched(given, reach=1, where=ChunkFilter(projects=(P,)), graph=graph)
    assert [one.context for one in found] == [
        "It began in the spring. Then came rain.\nA new part.",
        "line 2\nline 3\nline 4",
        "",
    ]
    assert [one.chunk for one in found] == [one.chunk for one in given]
    assert stitched(given, reach=0, where=ChunkFilter(), graph=graph) == tuple(given)
    assert graph.reads == 1, "without reach nothing is read"


def test_a_passage_holds_nothing_that_the_filter_keeps_out() -> None:
    first, second, third, last = passages()
    rows = (replace(first, private=True), replace(third, state="archived"), last)
    graph = store(second, *rows)
    where = ChunkFilter(projects=(P,), include_private=False, kinds=("passage",), min_confidence=0.5)
    (found,) = stitched(candidates(second), reach=3, where=where, graph=graph)
    assert found.context == "in the spring. Then came rain.\nThe end."


def test_speakers_are_named_parts_of_a_turn_joined_and_another_heading_stands_above_its_part() -> None:
    parts = [replace(turn("s", 1, text, author="Ada"), id=text) for text in ("One.", "Two.")]
    assert joined([*parts, turn("s", 2, "Three.", author="Bo")]) == "Ada: One. Two.\nBo: Three."
    first, second = (chunk(id, f"{id}.", document="d", heading_path=("Top", id)) for id in ("One", "Two"))
    assert joined([first, replace(first, text="More."), second]) == "One.\nMore.\n\nTwo\nTwo."


@FEW
@given(st.text(min_size=12, max_size=40), st.text(max_size=20), st.text(max_size=20))
def test_shared_words_are_written_once(shared: str, before: str, after: str) -> None:
    first, second = chunk("a", before + shared, document="d"), chunk("b", shared + after, document="d")
    whole = joined([first, second])
    assert whole.startswith(first.text)
    assert len(whole) <= len(first.text) + len(after)


def test_recall_gives_context_and_keeps_its_budget() -> None:
    memory = Memory(*passages())
    plain, with_context = (memory.recall("rain", limit=2, context=size) for size in (0, 1))
    assert [replace(hit, context="") for hit in with_context.hits] == list(plain.hits)
    assert with_context.hits[0].context.startswith("It began in the spring. Then came rain.")
    assert all(hit.context == "" for hit in plain.hits)
    few = memory.recall("rain", limit=4, max_tokens=8)
    assert 0 < sum(count_tokens(hit.text) for hit in few.hits) <= 8
