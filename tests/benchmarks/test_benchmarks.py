import json
from pathlib import Path

import pytest

from benchmarks import scale_page
from benchmarks.__main__ import main
from benchmarks.retrieval import Answered, mean_reciprocal_rank, recall_at


def lines(path: Path, rows: list[dict]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def passages(folder: Path) -> None:
    texts = {
        "7": "Ada Lovelace\nAda Lovelace leads billing.",
        "8": "Harbour\nIt rained.",
        "9": "MySQL\nA database.",
    }
    rows = [{"case": "small", "id": id, "text": text, "meta": {"title": text}} for id, text in texts.items()]
    lines(folder / "docs.jsonl", rows)
    question = {"case": "small", "qid": "q", "query": "Who leads billing?", "gold": ["7"], "category": "fact"}
    lines(folder / "queries.jsonl", [question, question | {"qid": "r", "query": "rain", "gold": ["8"]}])


def turns(folder: Path) -> None:
    said = ["Hello there.", "I painted a sunrise.", "Lovely!", "The kiln broke."]
    rows = [
        {
            "case": case,
            "id": f"D1:{number}",
            "text": f"Mel: {text}",
            "meta": {"speaker": "Mel", "time": "1:56 pm on 8 May, 2023", "session": "S1", "seq": number},
        }
        for case in ("one", "two")
        for number, text in enumerate(said)
    ]
    lines(folder / "docs.jsonl", rows)
    asked = [
        {"case": case, "qid": case, "query": "What broke, the kiln?", "gold": ["D1:3"], "category": "fact"}
        for case in ("one", "two")
    ]
    lines(folder / "queries.jsonl", asked)


@pytest.mark.parametrize(("write", "documents", "queries"), [(passages, 3, 2), (turns, 8, 2)])
def test_measures_a_set_through_the_public_surface(
    write, documents: int, queries: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "tiny")
    arguments = [
        "retrieval",
        "--set",
        "tiny",
        "--data",
        str(tmp_path),
        "--embedder",
        "hash",
        "--engine",
        "memory",
    ]
    assert main([*arguments, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["documents"], report["queries"]) == (documents, queries)
    assert report["recall"]["@1"] == 1
    assert report["mrr"] == 1
    assert report["ingest_ratio"] > 0
    assert main(arguments) == 0
    assert "recall   @1 100.0" in capsys.readouterr().out


def test_says_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["retrieval", "--set", "nothing", "--data", str(tmp_path)]) == 2
    assert "docs.jsonl" in capsys.readouterr().err


def test_metrics_by_hand() -> None:
    def answered(gold: str, found: str) -> Answered:
        return Answered(category="fact", gold=frozenset(gold), found=tuple(found), seconds=0.0)

    all_of = [answered("ab", "acb"), answered("x", "yzw"), answered("q", "pq")]
    assert recall_at(1, all_of) == pytest.approx((0.5 + 0 + 0) / 3)
    assert recall_at(3, all_of) == pytest.approx((1 + 0 + 1) / 3)
    assert mean_reciprocal_rank(all_of) == pytest.approx((1 + 0 + 0.5) / 3)


def test_a_page_is_written_from_kept_runs(tmp_path: Path) -> None:
    passages(tmp_path / "tiny")
    arguments = ["results", "--data", str(tmp_path), "--runs", str(tmp_path / "runs"), "--sets", "tiny"]
    arguments += ["--embedders", "hash", "--engine", "memory", "--ablate", "--out", str(tmp_path / "page.md")]
    assert main(arguments) == 0
    page = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert "| tiny | hash | 2 | 100.0 |" in page.replace("hash/384", "hash")
    assert page.count("| graph |") == 1
    kept = next((tmp_path / "runs").iterdir())
    kept.write_text(
        kept.read_text(encoding="utf-8").replace('"queries": 2', '"queries": 77'), encoding="utf-8"
    )
    section = "\n## Of another benchmark\n\n| a | b |\n"
    (tmp_path / "page.md").write_text(page + section, encoding="utf-8")
    assert main(arguments) == 0
    again = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert "| 77 |" in again and again.endswith(section)
    assert again.count("## Speed and memory") == 1


@pytest.mark.slow
def test_stores_of_some_sizes_are_measured_kept_and_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    passages(tmp_path / "tiny")
    arguments = ["scale", "--data", str(tmp_path), "--set", "tiny", "--embedder", "hash", "--json"]
    arguments += ["--sizes", "30", "--queries", "2", "--writes", "3", "--keep", str(tmp_path)]
    assert main(arguments) == 0
    (measured,) = json.loads(capsys.readouterr().out)
    assert measured["chunks"] == 30 and measured["edges"] > 30
    assert {"vector", "text", "graph"} <= measured["rounds"][0]["stages"].keys()
    assert measured["after_writes"]["recall"][0] > 0
    assert measured["fill_seconds"] > 0
    assert main(arguments) == 0
    (again,) = json.loads(capsys.readouterr().out)
    assert again["fill_seconds"] == measured["fill_seconds"] and again["edges"] == measured["edges"]


def test_the_page_of_scale_compares_figures_with_targets() -> None:
    one = {"embed": [4.0, 6.0], "recall": [20.0, 50.0], "stages": {"text": [5.0, 9.0]}}
    run = {
        "chunks": 100_000,
        "edges": 7,
        "rounds": [one | {"recall": [90, 99]}, one],
        "after_writes": one,
        "write_ms": [1, 2],
        "fill_seconds": None,
        "snapshot_seconds": 1.0,
        "snapshot_mb": 120.0,
        "vectors_mb": 9.0,
        "rss_mb": 700.0,
        "embedder": "some",
        "date": "today",
        "machine": "mine",
    }
    smaller = run | {"chunks": 10_000, "rounds": [one | {"recall": [16.0, 17.0]}]}
    page = scale_page.page([run, smaller], [])
    assert "| recall at 100,000 chunks, as a multiple of the embedding, p50 | ≤ 8 | 5.0 |" in page
    assert "| growth of the latency with ten times the chunks | ≤ 1.5 | 1.25 |" in page
    assert "| 100,000 | 7 | 20.0 / 50.0 | 4.0 / 6.0 | 5.0 | 5.0 to 22.5 |" in page
