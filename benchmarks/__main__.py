"""`python -m benchmarks retrieval --set NAME`: run a measurement and print it."""

import argparse
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

from benchmarks.retrieval import EMBEDDERS, Report, measure, shown
from hydramem.core.errors import HydraMemError


def main(arguments: list[str] | None = None) -> int:
    """Run the measurement that the command line names; return the exit status."""
    given = _parser().parse_args(arguments)
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
    return parser


if __name__ == "__main__":
    sys.exit(main())
