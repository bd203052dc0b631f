import pytest

from hydramem.core.errors import InvalidInputError
from hydramem.graph.snapshot.snapshot_writer import load
from hydramem.search.query_plan import by_meaning, check_query, plan
from hydramem.storage.vector_rows import Scored
from tests.graph.graphs import P, chunk, entity, mention, tables

ADA, FILM, PARIS = entity("Ada Lovelace", aliases=("Ada",)), entity("Film"), entity("paris")
CHUNKS = [chunk(f"c{number}") for number in range(50)]
SNAPSHOT = load(
    P,
    *tables(
        *(ADA, FILM, PARIS, entity("Unmentioned"), *CHUNKS),
        *(mention(one, ADA) for one in CHUNKS),
        *(mention(CHUNKS[0], FILM), mention(CHUNKS[0], PARIS), mention(CHUNKS[1], PARIS)),
    ),
)


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("Where in Paris did Ada live?", ["paris", "Ada Lovelace"]),
        ("Which film did Ada see in paris?", ["Ada Lovelace", "paris"]),
        ("Who saw Film?", ["Film"]),
        ("Unmentioned Ada Ada", ["Ada Lovelace"]),
        ("nothing here", []),
    ],
)
def test_finds_what_a_query_names(query: str, names: list[str]) -> None:
    assert [entity.name for entity in plan(query, SNAPSHOT).entities] == names


def test_trusts_rare_names() -> None:
    assert plan("ada", SNAPSHOT).trust < 0.05
    assert plan("film", SNAPSHOT).trust == 1
    assert plan("ada in paris", SNAPSHOT).trust > 0.7
    assert plan("nobody", SNAPSHOT).trust == 0


def near(*scores: float) -> tuple[Scored, ...]:
    return tuple(Scored(id=FILM.id, score=score) for score in scores)


def test_a_name_that_stands_out_by_meaning_is_taken_where_none_is_named() -> None:
    field = [0.5 + number / 1000 for number in range(60, 0, -1)]
    [found] = by_meaning(plan("nobody", SNAPSHOT), near(0.8, *field)).entities
    assert (found.name, found.by) == ("Film", "embedding")
    assert by_meaning(plan("nobody", SNAPSHOT), near(0.9, *field)).trust == 1
    assert not by_meaning(plan("nobody", SNAPSHOT), near(0.58, *field)).entities
    assert not by_meaning(plan("nobody", SNAPSHOT), near(0.9, 0.1)).entities
    named = plan("ada", SNAPSHOT)
    assert by_meaning(named, near(0.9, *field)) is named


@pytest.mark.parametrize(
    ("query", "limit", "named"),
    [
        ("", 5, "query"),
        ("x" * 101, 5, "query"),
        ("x", 0, "limit"),
        ("x", True, "limit"),
        ("x", 2.5, "limit"),
        (None, 5, "query"),
    ],
)
def test_bad_input_is_refused_by_name(query, limit, named: str) -> None:
    with pytest.raises(InvalidInputError, match=f"^{named}:"):
        check_query(query, limit, max_chars=100, max_limit=1000)
