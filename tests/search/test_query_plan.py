import pytest

from hydramem.core.errors import InvalidInputError
from hydramem.graph.snapshot.snapshot_writer import load
from hydramem.search.query_plan import check_query, plan
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
