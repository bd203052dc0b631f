"""The bill of materials of an installation: CycloneDX in JSON, the same bytes for the same packages.

cyclonedx-py reads an environment and leaves out serial number and time. It also says where each distribution
was installed from, which is a path of this machine for the wheel itself; that goes, too.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TOOL = Path(sys.executable).parent / "cyclonedx-py"


def bill_of_materials(python: Path, version: str) -> str:
    """Return the bill of materials of an interpreter's environment.

    Args:
        python: The interpreter of an environment with the package and nothing beside its dependencies.
        version: The version of the package, which its `pyproject.toml` does not say.

    Raises:
        CalledProcessError: The environment cannot be read.
    """
    options = ["--output-reproducible", "--of", "JSON", "--pyproject", ROOT / "pyproject.toml"]
    told = subprocess.run(  # noqa: S603 - the tool beside this interpreter
        [TOOL, "environment", *options, python], capture_output=True, check=True, timeout=300, text=True
    )
    bill = without_places(json.loads(told.stdout))
    bill["metadata"]["component"]["version"] = version
    return json.dumps(bill, indent=2, sort_keys=True) + "\n"


def without_places(bill: Any) -> Any:
    """Return a bill without references to files of this machine."""
    if isinstance(bill, list):
        return [without_places(item) for item in bill if not _is_a_file(item)]
    if isinstance(bill, dict):
        return {key: without_places(value) for key, value in bill.items()}
    return bill


def _is_a_file(item: Any) -> bool:
    return isinstance(item, dict) and str(item.get("url", "")).startswith("file:")
