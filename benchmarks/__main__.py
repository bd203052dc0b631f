"""Measurements, one command each; the folder of the sets is --data or HYDRAMEM_BENCH_DATA.

python -m benchmarks retrieval --set NAME [--ablate]   recall, latency and ingest rate on one set
python -m benchmarks results --runs DIR [--ablate]     every set and embedder, written to docs/results.md
python -m benchmarks scale [--out docs/scale.md]       latency by stage, memory, load time as a store grows
python -m benchmarks walks                             walks over a large graph
python -m benchmarks checkpoints [--engine E]          how long others wait for a checkpoint of a large graph
python -m benchmarks verification [--out PAGE]         how well true claims are told from false, and how fast
python -m benchmarks writes [--out docs/writes.md]     what a memory costs, and what many single ones leave
python -m benchmarks consolidation [--out PAGE]        what a new memory does to older ones, harm first
python -m benchmarks relevance [--fit] [--out PAGE]    how well relevance tells answers from noise
python -m benchmarks conversations [--out PAGE]        what the learned order of turns brings
python -m benchmarks reranker [--models DIR]           what the reranker brings, and what it costs
python -m benchmarks chunking [--out PAGE]             what stays whole where documents are cut
python -m benchmarks recency [--out PAGE]              what newness may add to a score
python -m benchmarks matching [--fit] [--out PAGE]     how well things that are one are told from two
python -m benchmarks garden [--out PAGE]               how well false relations are told; nights at scale
python -m benchmarks aging [--out PAGE]                what a year of use costs, and what nights give back
python -m benchmarks inferring [--nights N]            how often what is inferred from a graph is so
python -m benchmarks screening [--before RUN]          how much is held back that should not be, or missed
python -m benchmarks risk [--out PAGE]                 whether calibrated thresholds carry the risk asked for
python -m benchmarks server [--out PAGE]               a memory on PostgreSQL beside the embedded folder
python -m benchmarks sharing [--out PAGE]              what a store costs that another process holds
python -m benchmarks telemetry [--held N]              what telemetry adds to a recall
python -m benchmarks hooks                             what each event of a coding agent costs
python -m benchmarks view [--out PAGE]                 what the local page waits for
python -m benchmarks mcp_start [--runs N]              how soon the MCP server lists its tools
python -m benchmarks view_graph [--entities N]         what the graph of the local page costs
python -m benchmarks disk [--out PAGE]                 how much disk a passage takes
"""

import argparse
import json
import os
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path
from typing import Any, get_args

from benchmarks import (
    checkpoints,
    disk,
    edge_sizes,
    false_edges,
    false_edges_page,
    hooks,
    inferring,
    inferring_nights,
    matching,
    mcp_start,
    nights,
    nights_page,
    nights_recall,
    recency,
    reranking,
    risk,
    scale,
    scale_page,
    screening,
    sharing,
    telemetry_cost,
    verification,
    verification_page,
    view,
    view_graph,
    walks,
    writes,
    writes_page,
)
from benchmarks.aging import measure as aging
from benchmarks.aging import section as aging_section
from benchmarks.aging.texts import TEXTS, read_texts
from benchmarks.chunking import measure as chunking
from benchmarks.chunking import section as chunking_section
from benchmarks.chunking.texts import all_texts
from benchmarks.consolidation import measure as consolidation
from benchmarks.consolidation import section as consolidation_section
from benchmarks.consolidation.sets import read_sets
from benchmarks.conversations import run as conversations
from benchmarks.relevance import run as relevance
from benchmarks.relevance import section as relevance_section
from benchmarks.relevance.sizes import SIZES
from benchmarks.results import SETS, collect, others, page, where
from benchmarks.retrieval import EMBEDDERS, Report, measure, shown
from benchmarks.server import measure as server
from benchmarks.server import section as server_section
from hydramem.core.config import GardenConfig
from hydramem.core.errors import HydraMemError
from hydramem.core.row_types import Phase


def main(arguments: list[str] | None = None) -> int:
    """Run the measurement that the command line names; return the exit status."""
    given = _parser().parse_args(arguments)
    run: Callable[[argparse.Namespace], int] = given.run
    try:
        return run(given)
    except HydraMemError as error:
        print(error, file=sys.stderr)
        return 1


def _checkpoints(given: argparse.Namespace) -> int:
    row = checkpoints.measure(
        given.engine, entities=given.entities, relations=given.relations, checkpoints=given.repeats
    )
    print(json.dumps([asdict(row)], indent=2) if given.json else checkpoints.shown([row]))
    return 0


def _walks(given: argparse.Namespace) -> int:
    rows = walks.measure(repeats=given.repeats)
    print(json.dumps([asdict(row) for row in rows], indent=2) if given.json else walks.shown(rows))
    return 0


def _retrieval(given: argparse.Namespace) -> int:
    folder = _folder(given, given.set)
    if folder is None:
        return 2
    report = measure(
        folder,
        embedder=given.embedder,
        engine=given.engine,
        limit_queries=given.limit_queries,
        ablate=given.ablate,
    )
    _show(report, as_json=given.json)
    return 0


def _results(given: argparse.Namespace) -> int:
    folders = [_folder(given, name) for name in given.sets]
    if None in folders or folders[0] is None:
        return 2
    runs = collect(
        folders[0].parent,
        Path(given.runs),
        sets=given.sets,
        embedders=given.embedders,
        engine=given.engine,
        ablate=given.ablate,
    )
    out = Path(given.out)
    before = out.read_text(encoding="utf-8") if out.is_file() else ""
    out.write_text(page(runs) + others(before), encoding="utf-8")
    return 0


def _scale(given: argparse.Namespace) -> int:
    folder = _folder(given, given.set)
    if folder is None:
        return 2
    keep = None if given.keep is None else Path(given.keep)
    runs = []
    measure = scale.measure if len(given.sizes) == 1 else _apart
    for size in given.sizes:
        measured = measure(
            folder, size, embedder=given.embedder, queries=given.queries, writes=given.writes, keep=keep
        )
        runs.append(asdict(measured))
        if not given.json:
            print(scale.shown(measured), flush=True)
    if given.json:
        print(json.dumps(runs, indent=2))
    if given.out is not None:
        walked = [asdict(row) for row in walks.measure()]
        Path(given.out).write_text(scale_page.page(runs, walked), encoding="utf-8")
    return 0


def _verification(given: argparse.Namespace) -> int:
    data = _data(given)
    if data is None:
        return 2
    report = verification.measure(data, fast=given.fast)
    found = asdict(report) | where()
    text = verification.shown(report)
    return _publish(given, found, text, lambda page: verification_page.placed(page, found))


def _risk(given: argparse.Namespace) -> int:
    data = _data(given)
    if data is None:
        return 2
    rows = risk.measure(data, splits=given.splits, labels=given.labels)
    found = [asdict(row) for row in rows]
    return _publish(given, found, risk.shown(rows), lambda page: risk.placed(page, rows, where()))


def _garden(given: argparse.Namespace) -> int:
    data = _data(given)
    if data is None:
        return 2
    told = _told(given, data)
    scorers = [name for name in ("logistic", "gnn") if name in false_edges.SCORERS]
    sized = [_sized(count, name) for name in scorers for count in given.sizes]
    print(false_edges_page.shown(told, sized), flush=True)
    keep = None if given.keep is None else Path(given.keep)
    tended = []
    for count in given.nights:
        tended.append(nights.measure(count, engine=given.engine, keep=keep, alone=given.alone))
        print(nights_page.shown(tended[-1]), flush=True)
    asked = []
    for name in given.sets:
        asked.append(nights_recall.measure(data / name, embedder=given.embedder, engine=given.engine))
        print(nights_recall.shown(asked[-1]), flush=True)
    if given.out is not None:
        out = Path(given.out)
        page = out.read_text(encoding="utf-8")
        page = false_edges_page.placed(page, told, sized) if told or sized else page
        page = nights_page.placed(page, tended) if tended else page
        out.write_text(nights_recall.placed(page, asked) if asked else page, encoding="utf-8")
    return 0


def _told(given: argparse.Namespace, data: Path) -> list[false_edges.Told]:
    with ProcessPoolExecutor(given.jobs, mp_context=get_context("spawn")) as processes:
        parts = [
            processes.submit(false_edges.measure, data, names=[name], kinds=[kind], shares=given.shares)
            for name in given.graphs
            for kind in false_edges.KINDS
        ]
        return [told for part in parts for told in part.result()]


def _sized(entities: int, scorer: str) -> edge_sizes.Sized:
    """Measure in a process of its own: what another graph took is not counted."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(edge_sizes.size, entities, scorer).result()


def _writes(given: argparse.Namespace) -> int:
    data = _data(given)
    if data is None:
        return 2
    keep = None if given.keep is None else Path(given.keep)
    latencies = [
        writes.latency(data, held, embedder=given.embedder, count=given.count, keep=keep)
        for held in given.held
    ]
    asked = writes.asked(data, count=given.asked, embedder=given.embedder) if given.asked else ()
    endured = [
        writes.endurance(data, int(count), embedder=name, keep=keep)
        for name, count in (each.split(":") for each in given.endurance)
    ]
    written = writes_page.page(latencies, asked, endured)
    print(written)
    if given.out is not None:
        Path(given.out).write_text(written, encoding="utf-8")
    return 0


def _sharing(given: argparse.Namespace) -> int:
    data = _data(given)
    if data is None:
        return 2
    found = sharing.measure(
        data,
        held=given.held,
        count=given.count,
        each=given.each,
        sessions=given.sessions,
        embedder=given.embedder,
    )
    return _publish(given, asdict(found), sharing.shown(found), lambda page: sharing.placed(page, found))


def _server(given: argparse.Namespace) -> int:
    data = _data(given)
    if data is None:
        return 2
    found = server.measure(
        data,
        chunks=given.chunks,
        entities=given.entities,
        relations=given.relations,
        count=given.count,
        each=given.each,
        embedder=given.embedder,
    )
    text = server_section.shown(found)
    return _publish(given, asdict(found), text, lambda page: server_section.placed(page, found))


def _telemetry(given: argparse.Namespace) -> int:
    found = telemetry_cost.measure(given.held, given.count, given.embedder)
    print(json.dumps(asdict(found), indent=2))
    return 0


def _view(given: argparse.Namespace) -> int:
    found = view.measure(memories=given.memories, entities=given.entities, count=given.count)
    return _publish(given, asdict(found), view.shown(found), lambda page: view.placed(page, found))


def _hooks(given: argparse.Namespace) -> int:
    found = hooks.measure(held=given.held, count=given.count)
    print(json.dumps([asdict(row) for row in found], indent=2) if given.json else hooks.shown(found))
    return 0


def _view_graph(given: argparse.Namespace) -> int:
    found = view_graph.measure(
        entities=given.entities, nodes=given.nodes, edges=given.edges, browser=given.browser
    )
    print(json.dumps(asdict(found), indent=2) if given.json else view_graph.shown(found))
    return 0


def _disk(given: argparse.Namespace) -> int:
    if (data := _data(given)) is None:
        return 2
    found = disk.measure(data)
    return _publish(given, asdict(found), disk.shown(found), lambda page: disk.placed(page, found, where()))


def _mcp_start(given: argparse.Namespace) -> int:
    found = mcp_start.measure(given.runs)
    print(json.dumps(asdict(found), indent=2) if given.json else mcp_start.shown(found))
    return 0


def _consolidation(given: argparse.Namespace) -> int:
    report = consolidation.measure(read_sets(given.set), held=given.held, timed=given.timed)
    found = asdict(report) | where()
    text = consolidation_section.shown(report)
    return _publish(given, found, text, lambda page: consolidation_section.placed(page, report))


def _relevance(given: argparse.Namespace) -> int:
    data = _data(given)
    if data is None:
        return 2
    keep = None if given.keep is None else Path(given.keep)
    report = relevance.run(data, embedder=given.embedder, refit=given.fit, keep=keep, sizes=given.sizes)
    found = asdict(report) | where()
    text = relevance_section.shown(report)
    return _publish(given, found, text, lambda page: relevance_section.placed(page, report))


def _recency(given: argparse.Namespace) -> int:
    data = _data(given)
    if data is None:
        return 2
    keep = None if given.keep is None else Path(given.keep)
    report = recency.measure(data, embedder=given.embedder, limit_queries=given.limit_queries, keep=keep)
    found = asdict(report) | where()
    return _publish(given, found, recency.shown(report), lambda page: recency.placed(page, report))


def _aging(given: argparse.Namespace) -> int:
    data = _data(given)
    if data is None:
        return 2
    runs = aging.measure(
        aging.Plan(
            data=data,
            texts=read_texts(Path(given.texts)),
            sizes=given.sizes,
            ailments=given.ailments,
            models=given.models,
            nights=given.nights,
            phases=given.phases,
            without=given.without,
            seeds=given.seeds,
            embedder=given.embedder,
            limit_questions=given.limit_questions,
            keep=None if given.keep is None else Path(given.keep),
        )
    )
    found = [asdict(run) for run in runs] + [where()]
    return _publish(given, found, aging_section.shown(runs), lambda page: aging_section.placed(page, runs))


def _conversations(given: argparse.Namespace) -> int:
    data = _data(given)
    if data is None:
        return 2
    stores = None if given.stores is None else Path(given.stores)
    rows = conversations.run(data, embedder=given.embedder, refit=given.fit, stores=stores)
    found = [asdict(row) for row in rows] + [where()]
    text, embedder = conversations.shown(rows), given.embedder
    return _publish(given, found, text, lambda page: conversations.placed(page, rows, embedder=embedder))


def _reranker(given: argparse.Namespace) -> int:
    data = _data(given)
    if data is None:
        return 2
    models, stores = (None if each is None else Path(each) for each in (given.models, given.stores))
    rows = reranking.run(data, models=models, stores=stores, embedder=given.embedder, sets=given.sets)
    found = [asdict(row) for row in rows] + [where()]
    text, embedder = reranking.shown(rows), given.embedder
    return _publish(given, found, text, lambda page: reranking.placed(page, rows, embedder=embedder))


def _chunking(given: argparse.Namespace) -> int:
    figures = chunking.measure(all_texts())
    found = [asdict(one) for one in figures] + [where()]
    text = chunking_section.shown(figures)
    return _publish(given, found, text, lambda page: chunking_section.placed(page, figures))


def _matching(given: argparse.Namespace) -> int:
    data = _data(given)
    if data is None:
        return 2
    scores = matching.measure(data, refit=matching.SHIPPED if given.fit else None)
    found = [asdict(one) for one in scores] + [where()]
    text = matching.shown(scores)
    return _publish(given, found, text, lambda page: matching.placed(page, scores, where()))


def _screening(given: argparse.Namespace) -> int:
    rates = screening.measure(screening.read_sets(Path(given.set)))
    before = [] if given.before is None else json.loads(Path(given.before).read_text(encoding="utf-8"))
    found = [asdict(one) for one in rates] + [where()]
    text = screening.shown(rates, before)
    return _publish(given, found, text, lambda page: screening.placed(page, rates, before))


def _inferring(given: argparse.Namespace) -> int:
    data = _data(given)
    if data is None:
        return 2
    if given.nights:
        nights = inferring_nights.measure(data, nights=given.nights)
        print(json.dumps([asdict(one) for one in nights]) if given.json else inferring_nights.shown(nights))
        return 0
    scores = inferring.measure(data)
    found = [asdict(one) for one in scores] + [where()]
    text = inferring.shown(scores)
    return _publish(given, found, text, lambda page: inferring.placed(page, scores, where()))


def _publish(given: argparse.Namespace, found: object, text: str, placed: Callable[[str], str]) -> int:
    """Print what was found, as JSON or text, and put it into the results page that the command names."""
    print(json.dumps(found, indent=2) if given.json else text)
    if given.out is not None:
        out = Path(given.out)
        page = out.read_text(encoding="utf-8") if out.exists() else ""
        out.write_text(placed(page), encoding="utf-8")
    return 0


def _data(given: argparse.Namespace) -> Path | None:
    data = given.data or os.environ.get("HYDRAMEM_BENCH_DATA")
    if not data:
        print("say where the sets are: --data DIR or HYDRAMEM_BENCH_DATA", file=sys.stderr)
        return None
    return Path(data)


def _apart(folder: Path, size: int, **options: Any) -> scale.Scale:
    """Measure in a process of its own: memory that another store left behind would be taken for free."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(scale.measure, folder, size, **options).result()


def _folder(given: argparse.Namespace, name: str) -> Path | None:
    data = _data(given)
    if data is None:
        return None
    folder = data / name
    if not (folder / "docs.jsonl").is_file():
        print(f"{folder}: holds no docs.jsonl", file=sys.stderr)
        return None
    return folder


def _show(report: Report, *, as_json: bool) -> None:
    print(json.dumps(asdict(report), indent=2) if as_json else shown(report))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True)
    retrieval = commands.add_parser("retrieval", help="recall, latency and ingest rate on a set of questions")
    retrieval.add_argument("--set", required=True, help="name of the set's folder")
    retrieval.add_argument("--data", help="folder of the sets; else HYDRAMEM_BENCH_DATA")
    retrieval.add_argument("--embedder", choices=EMBEDDERS, default="auto")
    retrieval.add_argument("--engine", choices=("ladybug", "kuzu", "memory"), default="ladybug")
    retrieval.add_argument("--limit-queries", type=int, metavar="N", help="ask only the first N of each case")
    retrieval.add_argument("--ablate", action="store_true", help="ask again without each part of the search")
    retrieval.add_argument("--json", action="store_true")
    retrieval.set_defaults(run=_retrieval)
    walked = commands.add_parser(
        "walks", help="latency of walks over a made-up graph, and how exact they are"
    )
    walked.add_argument("--repeats", type=int, default=50, metavar="N", help="walks of each kind")
    walked.add_argument("--json", action="store_true")
    walked.set_defaults(run=_walks)
    waited = commands.add_parser("checkpoints", help="how long others wait for a checkpoint of a large graph")
    waited.add_argument("--engine", choices=("ladybug", "kuzu"), default="ladybug", help="graph engine")
    waited.add_argument("--entities", type=int, default=100_000, metavar="N", help="entities to make up")
    waited.add_argument("--relations", type=int, default=500_000, metavar="N", help="relations to make up")
    waited.add_argument("--repeats", type=int, default=2, metavar="N", help="checkpoints")
    waited.add_argument("--json", action="store_true", help="print JSON")
    waited.set_defaults(run=_checkpoints)
    _add_results(commands.add_parser("results", help="run what is missing and write the results page"))
    _add_scale(commands.add_parser("scale", help="latency by stage, memory and load time as a store grows"))
    _add_verification(
        commands.add_parser("verification", help="how well true claims are told from false ones")
    )
    _add_writes(commands.add_parser("writes", help="latency, model calls and growth of single memories"))
    _add_consolidation(commands.add_parser("consolidation", help="what a new memory does to older ones"))
    relevant = commands.add_parser("relevance", help="how well relevance tells answers from noise")
    relevant.add_argument("--data", help="folder of the sets; else HYDRAMEM_BENCH_DATA")
    relevant.add_argument("--embedder", choices=EMBEDDERS, default="minilm")
    relevant.add_argument(
        "--fit", action="store_true", help="fit the weights that come with the package anew"
    )
    relevant.add_argument(
        "--sizes", nargs="*", choices=SIZES, default=SIZES, help="other sizes of stores to measure"
    )
    relevant.add_argument("--keep", metavar="FILE", help="keep what is measured in a file, or read it there")
    relevant.add_argument("--out", metavar="PAGE", help="put the figures into this results page")
    relevant.add_argument("--json", action="store_true")
    relevant.set_defaults(run=_relevance)
    talked = commands.add_parser("conversations", help="what the learned order of turns brings")
    talked.add_argument("--data", help="folder of the sets; else HYDRAMEM_BENCH_DATA")
    talked.add_argument("--embedder", choices=EMBEDDERS, default="minilm")
    talked.add_argument("--fit", action="store_true", help="fit the weights that come with the package anew")
    talked.add_argument(
        "--stores", metavar="FOLDER", help="keep the ingested sets in a folder, or read them there"
    )
    talked.add_argument("--out", metavar="PAGE", help="put the figures into this results page")
    talked.add_argument("--json", action="store_true")
    talked.set_defaults(run=_conversations)
    read = commands.add_parser("reranker", help="what the reranker brings, and what it costs")
    read.add_argument("--data", help="folder of the sets; else HYDRAMEM_BENCH_DATA")
    read.add_argument("--embedder", choices=EMBEDDERS, default="minilm")
    read.add_argument("--models", metavar="DIR", help="rerankers that were trained without a set")
    read.add_argument(
        "--stores", metavar="DIR", help="keep the ingested sets in a folder, or read them there"
    )
    read.add_argument("--sets", nargs="*", choices=reranking.SETS, default=reranking.SETS)
    read.add_argument("--out", metavar="PAGE", help="put the figures into this results page")
    read.add_argument("--json", action="store_true")
    read.set_defaults(run=_reranker)
    cut = commands.add_parser("chunking", help="what stays whole where documents are cut, and what is lost")
    cut.add_argument("--out", metavar="PAGE", help="put the figures into this results page")
    cut.add_argument("--json", action="store_true")
    cut.set_defaults(run=_chunking)
    _add_recency(commands.add_parser("recency", help="what newness may add to a score"))
    alike = commands.add_parser("matching", help="how well things that are one are told from two")
    alike.add_argument("--data", help="folder of the sets; else HYDRAMEM_BENCH_DATA")
    alike.add_argument("--fit", action="store_true", help="fit the model that comes with the package anew")
    alike.add_argument("--out", metavar="PAGE", help="put the figures into this results page")
    alike.add_argument("--json", action="store_true")
    alike.set_defaults(run=_matching)
    _add_garden(commands.add_parser("garden", help="how well false relations are told from true ones"))
    _add_aging(commands.add_parser("aging", help="what a year of use costs, and what nights give back"))
    inferred = commands.add_parser("inferring", help="how often what is inferred from a graph is so")
    inferred.add_argument("--data", help="folder of the sets; else HYDRAMEM_BENCH_DATA")
    inferred.add_argument("--out", metavar="PAGE", help="put the figures into this results page")
    inferred.add_argument("--nights", type=int, default=0, help="let so many nights in a row infer instead")
    inferred.add_argument("--json", action="store_true")
    inferred.set_defaults(run=_inferring)
    _add_screening(
        commands.add_parser("screening", help="how much is held back wrongly, and how much is missed")
    )
    _add_risk(commands.add_parser("risk", help="whether calibrated thresholds carry the risk asked for"))
    _add_server(commands.add_parser("server", help="a memory on PostgreSQL beside the embedded folder"))
    _add_sharing(commands.add_parser("sharing", help="what a store costs that another process holds"))
    noted = commands.add_parser("telemetry", help="what telemetry adds to a recall")
    noted.add_argument("--held", type=int, default=1_000, metavar="N", help="memories in each store")
    noted.add_argument("--count", type=int, default=200, metavar="N", help="recalls of each store")
    noted.add_argument("--embedder", choices=EMBEDDERS, default="minilm")
    noted.set_defaults(run=_telemetry)
    _add_view(commands.add_parser("view", help="what the local page waits for"))
    timed = commands.add_parser("hooks", help="what each event of a coding agent costs beside an owner")
    timed.add_argument("--held", type=int, default=500, metavar="N", help="memories in the store")
    timed.add_argument("--count", type=int, default=50, metavar="N", help="events of each kind")
    timed.add_argument("--json", action="store_true")
    timed.set_defaults(run=_hooks)
    _add_view_graph(commands.add_parser("view_graph", help="what the graph of the local page costs"))
    _add_disk(commands.add_parser("disk", help="how much disk a passage takes"))
    _add_mcp_start(commands.add_parser("mcp_start", help="how soon the MCP server lists its tools"))
    return parser


def _add_consolidation(judged: argparse.ArgumentParser) -> None:
    judged.add_argument("--set", choices=("test", "calibration"), default="test", help="set of pairs")
    judged.add_argument("--held", type=int, default=consolidation.HELD, metavar="N", help="before timing")
    judged.add_argument("--timed", type=int, default=consolidation.TIMED, metavar="N", help="0 times none")
    judged.add_argument("--out", metavar="PAGE", help="put the figures into this results page")
    judged.add_argument("--json", action="store_true")
    judged.set_defaults(run=_consolidation)


def _add_recency(measured: argparse.ArgumentParser) -> None:
    measured.add_argument("--data", help="folder of the sets; else HYDRAMEM_BENCH_DATA")
    measured.add_argument("--embedder", choices=EMBEDDERS, default="minilm")
    measured.add_argument("--limit-queries", type=int, metavar="N", help="questions of each conversation")
    measured.add_argument("--keep", metavar="DIR", help="where filled stores are kept and found again")
    measured.add_argument("--out", metavar="PAGE", help="put the figures into this results page")
    measured.add_argument("--json", action="store_true")
    measured.set_defaults(run=_recency)


def _add_verification(judged: argparse.ArgumentParser) -> None:
    judged.add_argument("--data", help="folder of the sets; else HYDRAMEM_BENCH_DATA")
    judged.add_argument("--fast", action="store_true", help="leave out the speed on a large graph")
    judged.add_argument("--out", metavar="FILE", help="write the section into this page")
    judged.add_argument("--json", action="store_true")
    judged.set_defaults(run=_verification)


def _add_writes(written: argparse.ArgumentParser) -> None:
    written.add_argument("--data", help="folder of the sets; else HYDRAMEM_BENCH_DATA")
    written.add_argument("--embedder", choices=EMBEDDERS, default="auto", help="of latency and model calls")
    written.add_argument("--held", nargs="*", type=int, default=(1_000, 10_000), metavar="N")
    written.add_argument("--count", type=int, default=200, metavar="N", help="memories timed of each kind")
    written.add_argument("--asked", type=int, default=50, metavar="N", help="memories told to a model")
    written.add_argument(
        "--endurance",
        nargs="*",
        default=("hash:100000", "auto:5000"),
        metavar="EMBEDDER:N",
        help="memories written one by one and in bulk",
    )
    written.add_argument("--keep", metavar="DIR", help="where stores are kept: a stopped run goes on there")
    written.add_argument("--out", metavar="FILE", help="write the page")
    written.set_defaults(run=_writes)


def _add_garden(measured: argparse.ArgumentParser) -> None:
    measured.add_argument("--data", help="folder of the sets; else HYDRAMEM_BENCH_DATA")
    measured.add_argument("--graphs", nargs="*", default=false_edges.GRAPHS, metavar="NAME")
    measured.add_argument(
        "--shares",
        nargs="*",
        type=float,
        default=false_edges.SHARES,
        help="false relations for each true one",
    )
    measured.add_argument("--jobs", type=int, default=1, metavar="N", help="graphs measured at a time")
    measured.add_argument("--sizes", nargs="*", type=int, default=(1_000, 10_000, 100_000), metavar="N")
    measured.add_argument(
        "--nights",
        nargs="*",
        type=int,
        default=nights.SIZES,
        metavar="N",
        help="entities of memories to tend",
    )
    measured.add_argument("--alone", action="store_true", help="nights without others that read and write")
    measured.add_argument("--keep", metavar="DIR", help="where filled memories are kept and found again")
    measured.add_argument("--sets", nargs="*", default=nights_recall.SETS, help="questions around nights")
    measured.add_argument("--embedder", choices=EMBEDDERS, default="hash", help="of the sets")
    measured.add_argument("--engine", choices=("ladybug", "kuzu"), default="ladybug", help="of the nights")
    measured.add_argument("--out", metavar="PAGE", help="put the figures into this results page")
    measured.set_defaults(run=_garden)


def _add_aging(measured: argparse.ArgumentParser) -> None:
    phases, every = GardenConfig().phases, get_args(Phase)
    measured.add_argument("--data", help="folder of the sets; else HYDRAMEM_BENCH_DATA")
    measured.add_argument(
        "--texts", default=str(TEXTS), help="folder of the texts, one folder for each author"
    )
    measured.add_argument("--sizes", nargs="*", type=int, default=aging.SIZES, metavar="N", help="memories")
    measured.add_argument("--ailments", nargs="*", choices=aging.AILMENTS, default=aging.AILMENTS)
    measured.add_argument("--models", nargs="*", choices=aging.MODELS, default=aging.MODELS)
    measured.add_argument("--nights", type=int, default=3, metavar="N", help="nights in a row")
    measured.add_argument("--phases", nargs="*", choices=every, default=phases, help="phases that run")
    measured.add_argument(
        "--without", nargs="*", choices=every, default=(), help="measure again without each of these phases"
    )
    measured.add_argument("--seeds", type=int, default=3, help="draws of the memory without an ailment")
    measured.add_argument("--embedder", choices=EMBEDDERS, default="auto")
    measured.add_argument("--limit-questions", type=int, metavar="N", help="questions of each kind")
    measured.add_argument("--keep", metavar="DIR", help="where filled memories are kept and found again")
    measured.add_argument("--out", metavar="PAGE", help="put the figures into this results page")
    measured.add_argument("--json", action="store_true")
    measured.set_defaults(run=_aging)


def _add_risk(measured: argparse.ArgumentParser) -> None:
    measured.add_argument("--data", help="folder of the sets; else HYDRAMEM_BENCH_DATA")
    measured.add_argument(
        "--splits", type=int, default=risk.SPLITS, metavar="N", help="random splits of each set"
    )
    measured.add_argument("--labels", type=int, default=1000, metavar="N", help="most labels to calibrate on")
    measured.add_argument("--out", metavar="PAGE", help="put the figures into this results page")
    measured.add_argument("--json", action="store_true")
    measured.set_defaults(run=_risk)


def _add_view(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--memories", type=int, default=10_000, metavar="N", help="memories in the store")
    parser.add_argument("--entities", type=int, default=50_000, metavar="N", help="entities in the store")
    parser.add_argument("--count", type=int, default=20, metavar="N", help="requests of each kind")
    parser.add_argument("--out", metavar="PAGE", help="put the figures into this results page")
    parser.add_argument("--json", action="store_true")
    parser.set_defaults(run=_view)


def _add_sharing(measured: argparse.ArgumentParser) -> None:
    measured.add_argument("--data", help="folder of the sets; else HYDRAMEM_BENCH_DATA")
    measured.add_argument("--embedder", choices=EMBEDDERS, default="minilm")
    measured.add_argument("--held", type=int, default=2_000, metavar="N", help="passages in the store")
    measured.add_argument("--count", type=int, default=200, metavar="N", help="calls timed of each kind")
    measured.add_argument("--each", type=int, default=30, metavar="N", help="memories of each writer")
    measured.add_argument("--sessions", type=int, default=100, metavar="N", help="short commands")
    measured.add_argument("--out", metavar="PAGE", help="put the figures into this results page")
    measured.add_argument("--json", action="store_true")
    measured.set_defaults(run=_sharing)


def _add_server(measured: argparse.ArgumentParser) -> None:
    measured.add_argument("--data", help="folder of the sets; else HYDRAMEM_BENCH_DATA")
    measured.add_argument("--embedder", choices=EMBEDDERS, default="minilm")
    measured.add_argument("--chunks", type=int, default=20_000, metavar="N")
    measured.add_argument("--entities", type=int, default=20_000, metavar="N")
    measured.add_argument("--relations", type=int, default=100_000, metavar="N")
    measured.add_argument("--count", type=int, default=100, metavar="N", help="questions of a measurement")
    measured.add_argument("--each", type=int, default=100, metavar="N", help="memories of each writer")
    measured.add_argument("--out", metavar="PAGE", help="put the figures into this results page")
    measured.add_argument("--json", action="store_true")
    measured.set_defaults(run=_server)


def _add_view_graph(measured: argparse.ArgumentParser) -> None:
    measured.add_argument("--entities", type=int, default=50_000, metavar="N", help="entities of the store")
    measured.add_argument("--nodes", type=int, default=300, metavar="N", help="entities that are drawn")
    measured.add_argument("--edges", type=int, default=900, metavar="N", help="relations that are drawn")
    measured.add_argument(
        "--browser", action=argparse.BooleanOptionalAction, default=True, help="draw it in Chromium"
    )
    measured.add_argument("--json", action="store_true", help="print JSON")
    measured.set_defaults(run=_view_graph)


def _add_disk(measured: argparse.ArgumentParser) -> None:
    measured.add_argument("--data", help="folder of the sets; else HYDRAMEM_BENCH_DATA")
    measured.add_argument("--json", action="store_true")
    measured.add_argument("--out", metavar="FILE", help="write the section into this page")
    measured.set_defaults(run=_disk)


def _add_mcp_start(measured: argparse.ArgumentParser) -> None:
    measured.add_argument("--runs", type=int, default=10, metavar="N", help="starts of each kind")
    measured.add_argument("--json", action="store_true")
    measured.set_defaults(run=_mcp_start)


def _add_screening(measured: argparse.ArgumentParser) -> None:
    measured.add_argument("--set", default=str(screening.SETS), help="folder of the labelled texts")
    measured.add_argument("--before", help="a run of an earlier version (--json), to stand beside this one")
    measured.add_argument("--json", action="store_true")
    measured.add_argument("--out", help="write the section into this page")
    measured.set_defaults(run=_screening)


def _add_results(results: argparse.ArgumentParser) -> None:
    results.add_argument("--runs", required=True, help="folder of finished runs, kept as JSON")
    results.add_argument("--data", help="folder of the sets; else HYDRAMEM_BENCH_DATA")
    results.add_argument("--sets", nargs="+", default=SETS)
    results.add_argument("--embedders", nargs="+", choices=EMBEDDERS, default=("bge-small", "minilm"))
    results.add_argument("--engine", choices=("ladybug", "kuzu", "memory"), default="ladybug")
    results.add_argument("--ablate", action="store_true", help="ask again without each part of the search")
    results.add_argument("--out", default="docs/results.md")
    results.set_defaults(run=_results)


def _add_scale(scaled: argparse.ArgumentParser) -> None:
    scaled.add_argument("--data", help="folder of the sets; else HYDRAMEM_BENCH_DATA")
    scaled.add_argument("--set", default="2wiki", help="set whose text fills the store")
    scaled.add_argument("--sizes", nargs="+", type=int, default=(1_000, 10_000, 100_000), metavar="CHUNKS")
    scaled.add_argument("--embedder", choices=EMBEDDERS, default="auto", help="of the queries")
    scaled.add_argument("--queries", type=int, default=120, metavar="N", help="questions in each round")
    scaled.add_argument("--writes", type=int, default=scale.WRITES, metavar="N", help="before the last round")
    scaled.add_argument("--keep", metavar="DIR", help="where filled stores are kept and found again")
    scaled.add_argument("--out", metavar="FILE", help="write the page, walks over large graphs included")
    scaled.add_argument("--json", action="store_true")
    scaled.set_defaults(run=_scale)


if __name__ == "__main__":
    sys.exit(main())
