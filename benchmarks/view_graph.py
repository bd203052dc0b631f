"""What the graph of the local page costs: the rows it calls on a large store, and the browser that draws it.

The store is made up: entities fall into groups of fifty, nine relations of ten stay within a group, and one
centre is joined to a neighbourhood of its own. A picture is measured in Chromium without a graphics card: how
long until the layout rests, processor time of all of the browser's processes for each frame while the picture
is moved, and how many frames are drawn while nothing happens.
"""

import os
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import psutil

import hydramem
from benchmarks.results import table
from hydramem.core.ids import entity_id, relation_id
from hydramem.core.row_types import Change, Entity, Relation, Times
from hydramem.core.time import now
from hydramem.llm.hash_embedder import HashEmbedder
from hydramem.storage.changes import record
from hydramem.storage.write import Write
from hydramem.text.normalize import entity_key
from hydramem.view.page_server import PageServer

if TYPE_CHECKING:
    from playwright.sync_api import Page

PROJECT = "default"
CENTRE = "The centre"
CHROMIUM = os.environ.get("HYDRAMEM_TEST_CHROMIUM", "/usr/bin/chromium")
_GROUP = 50
_RELATIONS_EACH = 2
_WITHIN = 0.9
_BATCH = 5000
_MOVES = 120
_MOVE_SECONDS = 0.016
_IDLE_SECONDS = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RowCost:
    """What a row of the table costs, in milliseconds.

    Attributes:
        first, later: Wall time of the first call on an opened store, and the median of three later ones.
        first_cpu, later_cpu: Processor time of the process in these calls, steady on a busy machine too.
    """

    row: str
    first: float
    first_cpu: float
    later: float
    later_cpu: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureCost:
    """What a drawn neighbourhood costs.

    Attributes:
        settled: Seconds from the start of the navigation until the layout rests.
        settled_cpu: Seconds of processor time of all processes of the browser in that time.
        frame_cpu: Milliseconds of processor time a frame while it is moved, of all processes of the browser.
        frames: Frames drawn while it was moved.
        idle_frames: Frames drawn in two seconds in which nothing happened.
    """

    nodes: int
    edges: int
    settled: float
    settled_cpu: float
    frame_cpu: float
    frames: int
    idle_frames: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewGraph:
    """The whole measurement; `load` is the load average of the last minute as it began, and the cores."""

    entities: int
    relations: int
    rows: tuple[RowCost, ...]
    picture: PictureCost | None
    load: float
    cores: int


def measure(*, entities: int = 50_000, nodes: int = 300, edges: int = 900, browser: bool = True) -> ViewGraph:
    """Fill a store, call the rows that the page calls, and draw a neighbourhood in a browser.

    Args:
        entities: Entities beside the neighbourhood.
        nodes, edges: Size of the neighbourhood that is drawn.
        browser: Whether to draw it; needs the extra `test-view` and Chromium.
    """
    load = os.getloadavg()[0]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "store"
        with hydramem.connect(path, embedder=HashEmbedder()) as memory:
            relations = fill(memory, entities=entities, nodes=nodes, edges=edges)
        with hydramem.connect(path, embedder=HashEmbedder()) as memory:
            rows = tuple(_rows(memory))
            picture = _picture(memory, nodes, edges) if browser else None
    return ViewGraph(
        entities=entities + nodes,
        relations=relations,
        rows=rows,
        picture=picture,
        load=load,
        cores=os.cpu_count() or 1,
    )


def fill(memory: hydramem.Memory, *, entities: int, nodes: int, edges: int) -> int:
    """Write entities and relations past the flows that read text; return how many relations there are."""
    chance, at = random.Random(1), now()
    many = [_entity(f"Thing {number}", at, type=f"kind {number % 6}") for number in range(entities)]
    near = [_entity(CENTRE, at)]
    near += [_entity(f"Neighbour {number}", at, type=f"kind {number % 6}") for number in range(1, nodes)]
    pairs = [(near[0], other) for other in near[1:]]
    while len(pairs) < edges:
        one, other = chance.sample(near[1:], 2)
        pairs.append((one, other))
    for number, one in enumerate(many):
        first = number - number % _GROUP
        group = range(first, min(first + _GROUP, entities))
        for _ in range(_RELATIONS_EACH):
            other = many[chance.choice(group) if chance.random() < _WITHIN else chance.randrange(entities)]
            if other is not one:
                pairs.append((one, other))
    rows = {row.id: row for row in (_relation(*pair, at) for pair in pairs)}
    mirror = memory._opened.mirror
    for start in range(0, len(near) + len(many), _BATCH):
        some = tuple([*near, *many][start : start + _BATCH])
        mirror.commit(Write(changes=(_written(some[0].id),), entities=some))
    relations = list(rows.values())
    for start in range(0, len(relations), _BATCH):
        stated = tuple(relations[start : start + _BATCH])
        mirror.commit(Write(changes=(_written(stated[0].id),), relations=stated))
    return len(relations)


def _written(target: str) -> Change:
    return record("ingest", project=PROJECT, target=target)


def _entity(name: str, at: datetime, *, type: str = "thing") -> Entity:
    key = entity_key(name)
    return Entity(
        id=entity_id(PROJECT, key),
        project=PROJECT,
        key=key,
        name=name,
        type=type,
        first_seen=at,
        last_seen=at,
    )


def _relation(subject: Entity, object: Entity, at: datetime) -> Relation:
    return Relation(
        id=relation_id(PROJECT, subject.id, "knows", object.id, None),
        project=PROJECT,
        subject=subject.id,
        type="knows",
        object=object.id,
        origin="asserted",
        times=Times(recorded_at=at),
    )


def _rows(memory: hydramem.Memory) -> Iterator[RowCost]:
    (centre,) = memory.graph(CENTRE, depth=1, limit=1, chunks=False).nodes  # loads the snapshot
    drawn = [node.id for node in memory.graph(CENTRE, depth=2, limit=300, chunks=False).nodes]
    states = ("active", "superseded")
    calls: Sequence[tuple[str, Callable[[], object]]] = (
        ("graph, 60 nodes", lambda: memory.graph(CENTRE, limit=60, chunks=False, states=states)),
        ("graph, 300 nodes", lambda: memory.graph(CENTRE, limit=300, chunks=False, states=states)),
        (
            "graph, 300 drawn again",
            lambda: memory.graph(CENTRE, depth=1, limit=21, also=drawn, chunks=False, states=states),
        ),
        ("entities by id", lambda: memory.entities(containing=centre.id, limit=1)),
        ("entities, most mentioned", lambda: memory.entities(limit=20)),
        ("entities containing", lambda: memory.entities(containing="thing 4999", limit=20)),
        ("relations of one", lambda: memory.relations(centre.id, limit=31)),
        ("memories of one", lambda: memory.memories(entity=centre.id, limit=21)),
        ("history of one", lambda: memory.history(centre.id)),
        ("communities", lambda: memory.communities(limit=31, members=5)),
    )
    for row, run in calls:
        (first, first_cpu), *later = [_milliseconds(run) for _ in range(4)]
        yield RowCost(
            row=row,
            first=first,
            first_cpu=first_cpu,
            later=median(wall for wall, _ in later),
            later_cpu=median(cpu for _, cpu in later),
        )


def _milliseconds(run: Callable[[], object]) -> tuple[float, float]:
    started, used = time.perf_counter(), time.process_time()
    run()
    return (time.perf_counter() - started) * 1000, (time.process_time() - used) * 1000


@contextmanager
def _served(memory: hydramem.Memory) -> Iterator[str]:
    server, ready = PageServer(memory, project=PROJECT), threading.Event()
    thread = threading.Thread(target=server.serve, args=(lambda address: ready.set(),), name="page")
    thread.start()
    try:
        ready.wait(30)
        yield server.address
    finally:
        server.stop()
        thread.join(30)


def _picture(memory: hydramem.Memory, nodes: int, edges: int) -> PictureCost:
    from playwright.sync_api import sync_playwright

    with _served(memory) as address, sync_playwright() as browsers:
        before = {each.pid for each in psutil.Process().children(recursive=True)}
        browser = browsers.chromium.launch(executable_path=CHROMIUM, args=["--disable-gpu"])
        page = browser.new_page(viewport={"width": 1200, "height": 800})
        page.goto(address)
        page.locator("main h1").wait_for()
        started, used = time.perf_counter(), _processor_seconds(before)
        page.evaluate("route => { location.hash = route }", f"#/entity/{CENTRE}?limit={nodes}")
        page.locator("canvas[data-settled=true]").wait_for(timeout=60_000)
        settled, settled_cpu = time.perf_counter() - started, _processor_seconds(before) - used
        time.sleep(1)  # the lists below the picture are laid out
        frames, cpu = _moved(page, before)
        resting = _frames(page)
        time.sleep(_IDLE_SECONDS)
        idle = _frames(page) - resting
        browser.close()
    return PictureCost(
        nodes=nodes,
        edges=edges,
        settled=settled,
        settled_cpu=settled_cpu,
        frame_cpu=1000 * cpu / max(frames, 1),
        frames=frames,
        idle_frames=idle,
    )


def _moved(page: "Page", others: set[int]) -> tuple[int, float]:
    """Drag the picture to and fro; return the frames that were drawn and seconds of processor time."""
    page.locator("canvas.graph").scroll_into_view_if_needed()
    box = page.locator("canvas.graph").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    frames, cpu = _frames(page), _processor_seconds(others)
    for move in range(_MOVES):
        page.mouse.move(x + (move % 40) * 4, y + (move % 24) * 3)
        time.sleep(_MOVE_SECONDS)
    page.mouse.up()
    return _frames(page) - frames, _processor_seconds(others) - cpu


def _frames(page: "Page") -> int:
    return int(page.locator("canvas.graph").get_attribute("data-frames") or 0)


def _processor_seconds(others: set[int]) -> float:
    """Return the processor time of the browser's processes, without Playwright's own driver."""
    total = 0.0
    for each in psutil.Process().children(recursive=True):
        if each.pid not in others and "chrom" in each.name():
            times = each.cpu_times()
            total += times.user + times.system
    return total


def shown(found: ViewGraph) -> str:
    """Return the measurement as tables."""
    rows = [
        (row.row, *(f"{each:.0f}" for each in (row.first, row.first_cpu, row.later, row.later_cpu)))
        for row in found.rows
    ]
    lines = [
        f"{found.entities:,} entities, {found.relations:,} relations; "
        f"load average {found.load:.1f} on {found.cores} cores.",
        "",
        *table(("row", "first call, ms", "its CPU, ms", "later, ms", "their CPU, ms"), rows),
    ]
    if (one := found.picture) is not None:
        lines += [
            "",
            f"{one.nodes} nodes and {one.edges} edges: settled in {one.settled:.1f} s "
            f"({one.settled_cpu:.1f} s of CPU), moved at {one.frame_cpu:.1f} CPU ms a frame "
            f"({one.frames} frames), {one.idle_frames} frames when idle.",
        ]
    return "\n".join(lines)
