"""A memory whose graph is large enough to be left out in part, and has a past, layers and hostile names."""

from typing import TYPE_CHECKING

from hydramem.core.inputs import ExtractedChunk, ExtractedEntity, ExtractedRelation

if TYPE_CHECKING:
    from hydramem import Memory

SPOKES = 40
"""Entities that the hub is joined to."""

LEAVES = 25
"""Entities that the first spoke is joined to besides: more than one expansion adds."""

SCRIPT = '<img src=x onerror="window.hit = 1">'
RIGHT_TO_LEFT = "ميناء بيرغن\u202e"
LONG = "Überlandkraftwerk" * 11


def fill_graph(memory: "Memory") -> None:
    """Fill an empty memory: a hub, spokes, leaves, a past, what was withdrawn, islands, hostile names."""
    spokes = [f"Spoke {number}" for number in range(SPOKES)]
    leaves = [f"Leaf {number}" for number in range(LEAVES)]
    types = ("person", "service", "place")
    entities = [ExtractedEntity(name="Hub", type="service")]
    entities += [
        ExtractedEntity(name=name, type=types[number % 3]) for number, name in enumerate([*spokes, *leaves])
    ]
    relations = [ExtractedRelation(subject="Hub", type="uses", object=name) for name in spokes]
    relations += [ExtractedRelation(subject="Spoke 0", type="knows", object=name) for name in leaves]
    island = [f"Isle {number}" for number in range(6)]
    entities += [ExtractedEntity(name=name, type="island") for name in island]
    relations += [
        ExtractedRelation(subject=one, type="lies near", object=other)
        for one in island
        for other in island
        if one < other
    ]
    memory.ingest_extracted(
        "graph.md",
        [
            # A relation that its evidence does not state is not stored.
            ExtractedChunk(
                text=" ".join(f"{row.subject} {row.type} {row.object}." for row in relations[at : at + 10])
            )
            for at in range(0, len(relations), 10)
        ],
        entities=entities,
        relations=relations,
    )
    memory.relate("Old Port", "supplies", "Hub", valid_from="2019-01-01", valid_to="2021-01-01")
    memory.relate("New Port", "supplies", "Hub", valid_from="2021-01-01")
    memory.relate("Hub", "orbits", "Moon")
    memory.unrelate("Hub", "orbits", "Moon", reason="never did")
    for name in (SCRIPT, RIGHT_TO_LEFT, LONG):
        memory.relate("Oddities", "contains", name)
    memory.remember("The Oddities stand in a cupboard.", entities=["Oddities"])
    (near,) = memory.relations("New Port")
    memory.promote([near.id], layer="shared", reason="two of us know it")
