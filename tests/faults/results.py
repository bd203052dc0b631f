"""How long the suites run, and where their counts go.

HYDRAMEM_TEST_FAULTS=full runs each long suite in full, as `docs/reliability.json` records it; else a part
of it runs. HYDRAMEM_TEST_RESULTS names the file that the counts are written to, by engine and suite.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path

_SETTINGS = {name: os.environ.get(name, "") for name in ("HYDRAMEM_TEST_FAULTS", "HYDRAMEM_TEST_RESULTS")}


def rounds(few: int, *, full: int) -> int:
    """Return how many rounds of a suite to run."""
    return full if _SETTINGS["HYDRAMEM_TEST_FAULTS"] == "full" else few


def note_results(engine: str, suite: str, counts: Mapping[str, float]) -> None:
    """Write the counts of a suite to the file of results, where one is wanted."""
    if not _SETTINGS["HYDRAMEM_TEST_RESULTS"]:
        return
    file = Path(_SETTINGS["HYDRAMEM_TEST_RESULTS"])
    found = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    found.setdefault(suite, {})[engine] = dict(counts)
    file.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
