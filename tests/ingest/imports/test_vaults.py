"""Markdown vaults come in: notes of basic-memory with their statements, and those of any other vault."""

from pathlib import Path

import hydramem
from hydramem import ImportCounts
from hydramem.ingest.imports.readers.basic_memory import read_basic_memory
from hydramem.ingest.imports.records import DocumentRecord, Meter
from tests.ingest.imports.conftest import Put, content

COFFEE = """---
title: Coffee
type: drink
permalink: drinks/coffee
tags: [drink]
---
# Coffee

- [method] Pour over takes four minutes #brew (tested at home)
- Grind just before #fresh
- relates_to [[Tea]] (both hot)
- "pairs with" [[drinks/cake]]
- [x] buy beans
- [ ] clean the pot
- [10:30] kettle on
- [a page](https://example.org)
- [[Bare]]
Prose with a [[Link|shown]] is here, `[[not this]]` and ![[picture.png]].

```
- [code] not an observation
```
"""
CAKE = """---
title: Cake
permalink: drinks/cake
---
- [taste] Sweet
"""


def test_a_note_of_basic_memory_becomes_what_it_states(memory: hydramem.Memory, put: Put) -> None:
    put("kb/drinks/coffee.md", COFFEE)
    put("kb/drinks/cake.md", CAKE)
    put("kb/.obsidian/hidden.md", "hidden")
    vault = str(Path(put("kb/broken.md", b"\x00\x01\x02" * 100)).parent)
    done = memory.import_memories(vault)
    assert done.format == "basic-memory"
    assert done.new == ImportCounts(memories=3, documents=1, entities=2, relations=4)
    assert [(each.place, each.reason) for each in done.skipped] == [("broken.md", "binary")]
    facts = {row.text: row for row in memory.memories(kinds=["fact"])}
    assert facts.keys() == {
        "Coffee: Pour over takes four minutes",
        "Coffee: Grind just before",
        "Cake: Sweet",
    }
    poured = facts["Coffee: Pour over takes four minutes"]
    assert (poured.scope, poured.categories) == ("/basic-memory/drinks", ("method", "brew"))
    assert poured.metadata["basic_memory"] == {"context": "tested at home"}
    stated = {(row.subject, row.type, row.object) for row in memory.relations()}
    assert stated >= {
        ("Coffee", "relates_to", "Tea"),
        ("Coffee", "pairs_with", "Cake"),
        ("Coffee", "links_to", "Bare"),
        ("Coffee", "links_to", "Link"),
    }
    assert not any("not this" in object or "picture" in object for _, _, object in stated)
    assert {row.name: row.type for row in memory.entities()}["Coffee"] == "drink"
    (document,) = memory.documents()
    assert (document.source, document.title) == ("import:basic-memory:kb/drinks/coffee.md", "Coffee")
    text = "\n".join(row.text for row in memory.document(document.source).chunks)
    assert "buy beans" in text and "not an observation" in text and "Pour over" not in text


def test_the_same_vault_twice_changes_nothing_and_an_edited_note_is_read_again(
    memory: hydramem.Memory, put: Put
) -> None:
    put("kb/cake.md", CAKE)
    vault = str(Path(put("kb/coffee.md", COFFEE)).parent)
    first = memory.import_memories(vault)
    before = content(memory)
    again = memory.import_memories(vault)
    assert (again.new, again.unchanged) == (ImportCounts(), first.new)
    assert content(memory) == before
    put("kb/coffee.md", COFFEE.replace("buy beans", "buy fresh beans"))
    edited = memory.import_memories(vault)
    assert edited.new == ImportCounts(documents=1)


def test_notes_of_any_vault_are_documents_and_links_relations(memory: hydramem.Memory, put: Put) -> None:
    put("vault/Projects/Kestrel.md", "---\naliases: [Bird]\n---\nDeployed from [[People/Ada#Work|her]].\n")
    put("vault/People/Ada.md", "# Ada\nLeads [[Kestrel]] and knows [[Ada]].\n")
    vault = Path(put("vault/empty.md", "")).parent
    (vault / "outside.md").symlink_to("/etc/hostname")
    done = memory.import_memories(str(vault), dry_run=True)
    stored = memory.import_memories(str(vault))
    assert done.new == stored.new == ImportCounts(documents=2, entities=3, relations=2)
    assert (stored.format, stored.omitted) == ("markdown", {"note without text": 1})
    assert {(row.subject, row.type, row.object) for row in memory.relations()} >= {
        ("Kestrel", "links_to", "Ada"),
        ("Ada", "links_to", "Kestrel"),
    }
    (kestrel,) = [row for row in memory.entities() if row.name == "Kestrel"]
    assert kestrel.aliases == ("Bird",)
    assert memory.import_memories(str(vault)).new == ImportCounts()


def test_hostile_notes_are_read(put: Put) -> None:
    """Work that grew with the square of these lengths would end in the timeout of tests."""
    parts = (
        "- " + " " * 300_000 + "x",
        "[[" * 100_000,
        "- [a] " + "(" * 200_000,
        "\n" * 300_000,
        "- a " * 50_000,
    )
    put("odd/long.md", "\n".join(parts))
    deep = "---\n" + "a: &a [*a]\n" * 9 + "---\n" + "[" * 5000
    vault = Path(put("odd/deep.md", deep)).parent
    assert any(
        isinstance(each, DocumentRecord) for each in read_basic_memory(vault, scope="/x", meter=Meter())
    )
