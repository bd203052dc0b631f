"""Labels become the table that extraction reads."""

import tomllib

from benchmarks.relation_confidence import counted, table


def test_labels_are_counted_by_source_finder_and_type() -> None:
    label = {"source": "memory", "how": "rules", "type": "leads", "right": True}
    counts = counted([label, label, {**label, "right": False}, {**label, "how": "parse"}])
    read = tomllib.loads(table(counts))
    assert read["memory"] == {"rules": {"leads": [2, 1]}, "parse": {"leads": [1, 0]}}
    assert set(read["least"]) == {"document", "memory"}
