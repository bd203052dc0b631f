"""Counts labelled claims into `hydramem/data/relation_confidence.toml`, which extraction reads.

python -m benchmarks.relation_confidence LABELS.jsonl [OUT.toml]

A line of the labels is {"source": "document" or "memory", "how": ..., "type": ..., "right": true or false}: a
claim of `extract`, its `how` and `type`, and whether a reader finds that its sentence states it.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

LEAST = {"document": 0.7, "memory": 0.6}
"""Claims below this confidence are not kept."""

_TABLE = Path(__file__).parents[1] / "hydramem" / "data" / "relation_confidence.toml"
_HEAD = """\
# How many claims of each type were right and wrong, by what found them: [right, wrong]. Labelled by reading
# the sentences of documents (encyclopedia articles and READMEs) and of memories;
# `benchmarks/relation_confidence.py` counts labels anew.
"""


def counted(labels: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str], dict[str, list[int]]]:
    """Count labels: [right, wrong] by (source, how) and type."""
    counts: dict[tuple[str, str], dict[str, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))
    for label in labels:
        counts[label["source"], label["how"]][label["type"]][not label["right"]] += 1
    return counts


def table(counts: Mapping[tuple[str, str], Mapping[str, list[int]]]) -> str:
    """Return counts as the text of the table."""
    least = "\n".join(f"{source} = {value}" for source, value in LEAST.items())
    parts = [_HEAD, f"# Claims below this confidence are not kept.\n[least]\n{least}\n"]
    for (source, how), types in sorted(counts.items()):
        rows = "\n".join(f"{type} = [{right}, {wrong}]" for type, (right, wrong) in sorted(types.items()))
        parts.append(f"[{source}.{how}]\n{rows}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    lines = Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()
    out = Path(sys.argv[2]) if len(sys.argv) > 2 else _TABLE
    out.write_text(table(counted(map(json.loads, lines))), encoding="utf-8")
