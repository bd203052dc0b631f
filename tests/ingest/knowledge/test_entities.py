"""Entities by hand: made, named, described, and never two things under one name."""

from pathlib import Path

import pytest

from hydramem.core.errors import InvalidInputError
from hydramem.core.results.knowledge_results import EntityChange
from hydramem.core.row_types import Entity
from hydramem.ingest.knowledge.entities import MOST_ALIASES, Naming, set_entity
from hydramem.storage.store import Listing
from tests.ingest.conftest import PROJECT, Kit


def say(kit: Kit, name: str, **fields: object) -> EntityChange:
    return set_entity(Naming(name=name, **fields), target=kit.target())  # type: ignore[arg-type]


def entities(kit: Kit) -> dict[str, Entity]:
    return {row.name: row for row in kit.graph.list_entities(PROJECT, Listing())}


def test_an_entity_is_made_once_and_added_to(kit: Kit) -> None:
    made = say(kit, "Ada  Lovelace", type="Person", aliases=("Ada", "ADA", "Ada Lovelace"))
    assert (made.created, made.entity.name, made.entity.type) == (True, "Ada Lovelace", "person")
    assert made.entity.aliases == ("Ada",)
    more = say(kit, "ada", aliases=("Countess",), description="Wrote the first program.")
    assert (more.created, more.changed) == (False, ("aliases", "description"))
    assert entities(kit) == {"Ada Lovelace": more.entity}
    assert say(kit, "Ada", description="").entity.description is None
    writes = len(kit.writes)
    assert say(kit, "Countess", aliases=("Ada",)).changed == ()
    assert len(kit.writes) == writes
    assert [row.operation for row in kit.graph.changes(target=made.entity.id)] == ["entity"] * 3


def test_a_renamed_entity_is_found_by_both_names(kit: Kit, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("Kestrel runs on MySQL.\n")
    kit.ingest(page)
    done = say(kit, "Kestrel", rename="Falcon", reason="new brand")
    assert (done.changed, done.entity.aliases) == (("name", "aliases"), ("Kestrel",))
    (change,) = kit.graph.changes(target=done.entity.id)
    assert change.reason == "new brand"
    assert say(kit, "falcon").entity == say(kit, "KESTREL").entity == done.entity
    page.write_text("Kestrel runs on MySQL. Falcon flies.\n\nKestrel rests.\n")
    kit.ingest(page)
    assert {"Kestrel", "Falcon"} & entities(kit).keys() == {"Falcon"}
    assert say(kit, "Falcon", rename="Kestrel").entity.aliases == ("Falcon",)
    assert kit.counted_right()


def test_a_name_of_another_is_refused_and_merge_is_named(kit: Kit) -> None:
    say(kit, "Ada", aliases=("Countess",))
    say(kit, "Grace")
    for fields in ({"aliases": ("Countess",)}, {"aliases": ("ada",)}, {"rename": "Ada"}):
        with pytest.raises(InvalidInputError, match=r"is the entity 'Ada' already.*merge"):
            say(kit, "Grace", **fields)
    with pytest.raises(InvalidInputError, match="merge"):
        say(kit, "Byron", aliases=("Ada",))
    assert entities(kit).keys() == {"Ada", "Grace"}


@pytest.mark.parametrize("text", ["'; MATCH (n) DETACH DELETE n; //", "`x` $y {z}", "%_*", "Москва 東京 🦀"])
def test_names_are_never_syntax(kit: Kit, text: str) -> None:
    say(kit, text, aliases=(text + "2",), description=text)
    assert entities(kit)[text].aliases == (text + "2",)


@pytest.mark.parametrize(
    "fields",
    [
        {"name": "a\0b"},
        {"name": "x" * 201},
        {"name": "Ada", "aliases": ("",)},
        {"name": "Ada", "description": "x" * 10_001},
        {"name": "Ada", "aliases": tuple(f"a{n}" for n in range(MOST_ALIASES + 1))},
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_written(kit: Kit, fields: dict[str, object]) -> None:
    with pytest.raises(InvalidInputError):
        say(kit, **fields)  # type: ignore[arg-type]
    assert kit.writes == []
