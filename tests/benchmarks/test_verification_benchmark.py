import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks import verification, verification_page
from benchmarks.__main__ import main


def test_the_areas_are_those_of_scikit_learn() -> None:
    from sklearn.metrics import average_precision_score, roc_auc_score

    draw = np.random.default_rng(0)
    true, scores = draw.random(300) < 0.3, draw.integers(0, 20, 300) / 20  # many are equal
    assert verification.auc(true, scores) == pytest.approx(roc_auc_score(true, scores))
    assert verification.average_precision(true, scores) == pytest.approx(
        average_precision_score(true, scores)
    )


def lines(path: Path, rows: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")


def test_sets_are_judged_and_written_into_the_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("codex-s", "umls"):
        folder = tmp_path / "kg" / name
        lines(folder / "train.txt", [f"p{n}\tleads\tt{n}" for n in range(9)])
        lines(folder / "valid.txt", ["p1\tlikes\tt1"])
        lines(folder / "test.txt", [f"p{n}\tlikes\tt{n}" for n in range(3)])
    lines(tmp_path / "kg" / "codex-s" / "test_negatives.txt", ["p1\tlikes\tt2", "p2\tlikes\tt0"])
    lines(tmp_path / "2wiki" / "docs.jsonl", [json.dumps({"id": "d", "text": "Ada\nAda leads billing."})])
    rows = [
        {"s": "Ada", "r": "leads", "o": object, "label": int(kind == "gold"), "doc": "d", "kind": kind}
        | {"qid": str(qid)}
        for qid in range(9)
        for kind, object in (("gold", "billing"), ("neg-a", "Rome"), ("neg-b", "Ada"))
    ]
    for number, row in enumerate(rows):
        row["s"] += str(number // 3)
    lines(tmp_path / "relverify" / "triples.jsonl", [json.dumps(row) for row in rows])
    page = tmp_path / "results.md"
    page.write_text("# Results\n\n## Verification\n\nstale\n", encoding="utf-8")
    arguments = ["verification", "--data", str(tmp_path), "--fast", "--json", "--out", str(page)]
    assert main(arguments) == 0
    report = json.loads(capsys.readouterr().out)
    assert {row["set"] for row in report["judged"]} == {"codex-s", "umls", "relverify"}
    assert {row["against"] for row in report["judged"]} == {"all", "neg-a", "neg-b"}
    written = page.read_text(encoding="utf-8")
    assert "stale" not in written
    assert written.count("\n| ") == 2 + len(report["judged"])
    assert verification_page.placed(written, report) == written


def test_candidates_are_timed_on_a_graph() -> None:
    speed = verification.speed(200, 900, 100)
    assert (speed.candidates, speed.per_second > 0) == (100, True)
