import json
from pathlib import Path

import pytest

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
    assert main(arguments) == 0
    assert "| 77 |" in (tmp_path / "page.md").read_text(encoding="utf-8")


def test_a_store_of_a_size_is_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    passages(tmp_path / "tiny")
    arguments = ["scale", "--data", str(tmp_path), "--set", "tiny", "--embedder", "hash", "--json"]
    assert main([*arguments, "--sizes", "30", "--queries", "2"]) == 0
    measured = json.loads(capsys.readouterr().out)
    assert measured["chunks"] == 30 and measured["edges"] > 30
    assert measured["recall"][0] > 0 and {"vector", "text", "graph"} <= measured["stages"].keys()
