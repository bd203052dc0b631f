"""The questions about passages: files are as FORMAT.md says, and no text of the test part is trained on."""

import json
from pathlib import Path

from benchmarks import consolidation

DATA = Path(consolidation.__file__).parents[1] / "data" / "questions"


def items(part: str) -> list[dict]:  # type: ignore[type-arg]
    files = sorted((DATA / part).glob("*.jsonl"))
    return [json.loads(line) for path in files for line in path.read_text(encoding="utf-8").splitlines()]


def test_gold_passages_are_there() -> None:
    for part, least in (("train", 2000), ("test", 400)):
        found = items(part)
        assert sum(len(item["questions"]) for item in found) >= least
        for item in found:
            ids = [passage["id"] for passage in item["passages"]]
            assert len(ids) == len(set(ids)), item["title"]
            for question in item["questions"]:
                assert question["gold"] and set(question["gold"]) <= set(ids), question["q"]


def test_the_test_part_is_not_trained_on() -> None:
    trained = {passage["text"] for item in items("train") for passage in item["passages"]}
    asked = {question["q"] for item in items("train") for question in item["questions"]}
    for item in items("test"):
        assert trained.isdisjoint(
            passage["text"] for passage in item["passages"] if len(passage["text"]) > 40
        )
        assert asked.isdisjoint(question["q"] for question in item["questions"])
