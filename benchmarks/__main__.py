"""`python -m benchmarks retrieval --set NAME`, `... walks`: run a measurement and print it."""

import argparse
import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from benchmarks import walks
from benchmarks.retrieval import EMBEDDERS, Report, measure, shown
from hydramem.core.errors import HydraMemError


def main(arguments: list[str] | None = None) -> int:
    """Run the measurement that the command line names; return the exit status."""
    given = _parser().parse_args(arguments)
    run: Callable[[argparse.Namespace], int] = given.run
    return run(given)


def _walks(given: argparse.Namespace) -> int:
    rows = walks.measure(repeats=given.repeats)
    print(json.dumps([asdict(row) for row in rows], indent=2) if given.json else walks.shown(rows))
    return 0


def _retrieval(given: argparse.Namespace) -> int:
    data = given.data or os.environ.get("HYDRAMEM_BENCH_DATA")
    if not data:
        print("say where the sets are: --data DIR or HYDRAMEM_BENCH_DATA", file=sys.stderr)
        return 2
    folder = Path(data) / given.set
    if not (folder / "docs.jsonl").is_file():
        print(f"{folder}: holds no docs.jsonl", file=sys.stderr)
        return 2
    try:
        report = measure(
            folder, embedder=given.embedder, engine=given.engine, limit_queries=given.limit_queries
        )
    except HydraMemError as error:
        print(error, file=sys.stderr)
        return 1
    _show(report, as_json=given.json)
    return 0


def _show(report: Report, *, as_json: bool) -> None:
    print(json.dumps(asdict(report), indent=2) if as_json else shown(report))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(required=True)
    retrieval = commands.add_parser("retrieval", help="recall, latency and ingest rate on a set of questions")
    retrieval.add_argument("--set", required=True, help="name of the set's folder")
    retrieval.add_argument("--data", help="folder of the sets; else HYDRAMEM_BENCH_DATA")
    retrieval.add_argument("--embedder", choices=EMBEDDERS, default="auto")
    retrieval.add_argument("--engine", choices=("ladybug", "kuzu", "memory"), default="ladybug")
    retrieval.add_argument("--limit-queries", type=int, metavar="N", help="ask only the first N of each case")
    retrieval.add_argument("--json", action="store_true")
    retrieval.set_defaults(run=_retrieval)
    walked = commands.add_parser(
        "walks", help="latency of walks over a made-up graph, and how exact they are"
    )
    walked.add_argument("--repeats", type=int, default=50, metavar="N", help="walks of each kind")
    walked.add_argument("--json", action="store_true")
    walked.set_defaults(run=_walks)
    return parser


if __name__ == "__main__":
    sys.exit(main())
