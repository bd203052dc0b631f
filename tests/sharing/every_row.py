"""Calls every operation of the table, and notes what each returned or raised."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hydramem import CuratedChange, ItemInput, MemoryInput, NamespaceCondition, SaidTurn
from hydramem.core.inputs import ExtractedChunk, ExtractedEntity, ExtractedRelation

_ID = re.compile(r"\b[a-z]{1,3}_[0-9A-Za-z]{8,}\b|\b[0-9a-f]{16,64}\b|\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d\S*")


class Recorder:
    """Passes calls on to a memory and notes their outcomes in order.

    Args:
        memory: A Memory, or a Client.
        folder: Files of the calls lie there; its name is left out of what is noted.
    """

    def __init__(self, memory: Any, folder: Path) -> None:
        self.memory = memory
        self.folder = folder
        self.outcomes: list[tuple[str, object]] = []

    def __getattr__(self, name: str) -> Any:
        def call(*args: object, **options: object) -> Any:
            try:
                result = getattr(self.memory, name)(*args, **options)
            except Exception as error:  # noqa: BLE001 -- the same on both sides, whatever it is
                self.outcomes.append((name, (type(error), str(error))))
                return None
            self.outcomes.append((name, result))
            return result

        return call


def every_row(memory: Any, folder: Path) -> list[tuple[str, object]]:
    """Call every operation at least once; return the outcomes in order."""
    folder.mkdir(exist_ok=True)
    do = Recorder(memory, folder)
    write(do, folder)
    _know(do)
    read(do)
    look(do)
    _items(do)
    _check(do, folder)
    _keep(do, folder)
    return do.outcomes


def write(do: Recorder, folder: Path) -> None:
    """Call what writes memories and documents."""
    (folder / "docs").mkdir()
    (folder / "docs" / "billing.md").write_text(
        "# Billing\n\nAda Lovelace leads the Billing Service. The Billing Service uses LadybugDB.\n"
    )
    (folder / "docs" / "empty.txt").write_text("")
    do.ingest([str(folder / "docs")])
    do.ingest(str(folder / "docs" / "billing.md"), wait=False)
    do.drain()
    do.ingest([str(folder / "nowhere.md")])
    chunk = ExtractedChunk(text="Grace visits Oslo.", heading_path=("Day", "One"), metadata={"a": 1})
    grace = ExtractedEntity(name="Grace", type="person", aliases=("Admiral Hopper",))
    visits = ExtractedRelation(subject="Grace", type="visits", object="Oslo", quote="Grace visits Oslo")
    do.ingest_extracted("talk", [chunk], entities=[grace], relations=[visits], title="A talk")
    do.ingest_extracted("wrong", [ExtractedChunk(text="")])
    about = {"scope": "/people/ada", "categories": ["taste"], "keywords": ["tea"], "entities": ["Ada"]}
    nested = {"nested": {"list": [1, 2.5, None, True, "é"]}}
    one = do.remember("Ada prefers tea at nine.", kind="fact", valid_from="2024-05", metadata=nested, **about)
    do.remember("Ada prefers coffee at nine.", replaces=[one.id])
    at = datetime(2024, 3, 1, tzinfo=UTC)
    do.remember("The release went out.", kind="event", event_type="release", happened_at=at)
    do.remember("A secret walk.", private=True, wait=False)
    do.remember("An event without a time.", kind="event")
    many = do.remember_many([MemoryInput(text="Bo keeps bees."), MemoryInput(text="Cy keeps cats.")])
    do.remember_many([MemoryInput(text=" ")])
    do.revise(many[0].id, text="Bo keeps twelve bees.", reason="counted")
    do.revise("c_nothing", text="x")
    question = SaidTurn(author="user", text="Where do we deploy?", happened_at=at)
    do.capture("standup", [question, SaidTurn(author="assistant", text="We deploy to Oslo.")])
    do.distill("standup")
    do.distill("no such session")
    do.curate("memory", [CuratedChange(action="add", content="Prefers short answers.")])
    do.curate("memory", [CuratedChange(action="replace", content="x", old_text="not there")])
    do.curate("memory", entries=["Prefers short answers.", "Prefers tea."])
    do.curate("memory", entries=["Lost."], expect="0000000000000000")
    do.memory.drain()  # whether a job of links is done before what it links is forgotten is chance
    do.forget([many[1].id])
    do.forget(categories=["taste"], dry_run=True)
    do.revive([many[1].id])
    do.forget()


def _know(do: Recorder) -> None:
    do.relate("Ada", "works with", "Grace", confidence=0.8, valid_from="2020", reason="said so")
    do.relate("", "works with", "Grace")
    do.relate("Ada", "owns", "Boat")
    do.unrelate("Ada", "owns", "Boat", ended="2024-01-01")
    do.unrelate("Ada", "flies", "Boat")
    do.entity("Boat", type="vessel", description="A small one.", aliases=["Dinghy"])
    do.relate("Ada L.", "lives in", "Oslo")
    do.merge("Ada", ["Ada L."], reason="one person")
    do.split("Ada L.", of="Ada", reason="two after all")
    do.scopes()
    row = do.remember("Move me elsewhere.", scope="/old/place")
    do.move("/old", "/new", reason="tidy")
    do.promote([row.id], "shared", reason="useful")
    do.relabel([row.id], categories=["labels"], reason="order")
    change = do.remember("To be undone at once.")
    history = do.history(change.id)
    do.undo(history.entries[0].run)
    do.undo(change.id)


def read(do: Recorder) -> None:
    """Call what reads memories and documents; some calls are wrong."""
    do.recall("Who prefers tea?")
    do.recall("billing service", explain=True, context=1, limit=3, arms={"vector": 1.0, "text": 2.0})
    do.recall("tea", mode="deep", traversal="ppr", kinds=["fact", "note"], max_tokens=100)
    do.recall("")
    do.recall("tea", limit=0)
    do.prime("tea")
    do.prime()
    rows = do.memories(limit=100)
    do.get(rows[0].id)
    do.get("c_nothing")
    do.memories(states=["superseded"])
    do.timeline("2024", "2024-12")
    do.timeline(datetime(2024, 1, 1, tzinfo=UTC), relative_to="2024-06-01")
    do.timeline("gibberish")
    do.curated()
    documents = do.documents()
    do.document(documents[0].source)
    do.document("no such document")
    do.projects()
    do.sessions()
    do.sessions(session="chat")
    do.recalled(id=rows[0].id)
    do.recalled("no such session")
    do.recalled()
    do.history(rows[0].id)
    do.history("c_nothing")
    do.changes(actor="cli", since="2020-01-01", limit=5)


def look(do: Recorder) -> None:
    """Call what reads the graph."""
    do.entities()
    do.entities(containing="ad", limit=3)
    do.relations()
    do.relations(entity="Ada")
    do.memories(entity="Ada", kinds=["passage", "note"])
    do.expand(["Ada"])
    do.expand(["Nobody At All"])
    do.neighbors("Ada")
    do.path("Grace", "Billing Service")
    do.path("Ada", "Grace", count=2)
    do.central()
    do.central(by="betweenness", limit=2)
    do.communities()
    do.graph()
    do.graph(center="Ada", depth=1, limit=1, also=["Grace", "Nobody At All"], as_of="2024-01-01")


def _items(do: Recorder) -> None:
    """Call what keeps items; some calls are wrong."""
    tea = ItemInput(namespace=["users", "ada"], key="tea", value={"t": "Green.", "n": 1}, search_paths=["t"])
    do.put_items([tea, ItemInput(namespace=["users", "bo"], key="x", value={"n": [2.5, None]}, ttl=90.0)])
    do.put_items([ItemInput(namespace=[], key="x", value={})])
    do.get_items(["users", "ada"], ["tea", "nothing"])
    do.search_items(["users"], query="green", filter={"n": {"$gte": 1}})
    do.search_items(filter={"n": {"$near": 1}})
    do.list_namespaces(conditions=[NamespaceCondition(match="suffix", labels=["*"])], max_depth=1)
    do.append_session_items("run", ['{"a":  1}', "2"])
    do.append_session_items("run", ["{"])
    do.session_items("run", limit=1)
    do.pop_session_items("run")


def _check(do: Recorder, folder: Path) -> None:
    do.verify()
    do.conflicts()
    do.calibrate()
    do.calibrate(labels=str(folder / "nowhere.jsonl"))
    do.garden(plan=True, out=str(folder / "plan.json"))
    do.garden(apply=str(folder / "plan.json"))
    do.garden(status=True, limit=3)
    do.garden(plan=True, keep=True, phases=["prune"])
    do.garden(apply_kept="w_missing", leave_out=["missing"])
    do.train()
    do.review()
    do.review(export=str(folder / "questions.json"))
    do.stats()
    do.stats(days=0)
    do.wipe_telemetry()
    do.jobs()
    do.drain(timeout=20.0)
    do.doctor()
    do.reindex()
    do.reindex("no-such-model")


def _keep(do: Recorder, folder: Path) -> None:
    do.dump(str(folder / "dump"))
    do.load(str(folder / "dump"))
    do.load(str(folder / "nowhere"))
    do.export_memories(str(folder / "vault"))
    do.import_memories(str(folder / "vault"))
    do.import_memories(str(folder / "nowhere"))
    do.backup(str(folder / "backup.tar.gz"))
    rows = do.memories(limit=100)
    do.erase([rows[-1].id], dry_run=True)
    do.erase([rows[-1].id])
    do.restore(str(folder / "nowhere.tar.gz"))
    do.restore(str(folder / "backup.tar.gz"))
    do.memories(limit=100)


def kinds(outcomes: list[tuple[str, object]], *folders: Path) -> list[tuple[str, str]]:
    """Return the type of each result, and each error without what differs between any two stores."""
    kinds = []
    for name, value in outcomes:
        told = type(value).__name__
        if isinstance(value, tuple) and value[:1] != () and isinstance(value[0], type):
            told = f"{value[0].__name__}: {value[1]}"
            for number, folder in enumerate(folders):
                told = told.replace(str(folder), f"FOLDER{number}")
            told = (
                _ID.sub("ID", told) if value[0] is not TypeError else "TypeError"
            )  # names the method's class
        kinds.append((name, told))
    return kinds
