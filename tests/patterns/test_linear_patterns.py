"""No regular expression of the package takes worse than linear time, whatever text it is given."""

import json
import subprocess
import sys

import pytest

from tests.patterns.measure import is_linear


@pytest.mark.slow
@pytest.mark.timeout(1800)  # a minute of processor time, whenever a busy machine gives it
def test_every_pattern_of_the_package_is_linear():
    command = [sys.executable, "-m", "tests.patterns.measure"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert found["unseen"] == []  # a pattern that is compiled late: let `_compile_late` compile it
    assert found["slow"] == []
    assert found["patterns"] > 200


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pattern", "linear"),
    [
        (r"[-=#\[<]{2,}\s{0,3}end", False),
        (r"(?<![-=#\[<])[-=#\[<]{2,}+\s{0,3}end", True),
        (r"\w+@\w+", False),
        (r"(?<!\w)\w{1,64}+@\w+", True),
        (r"\s*\(\w*\)", False),
        (r"[a-z]+ [0-9]{1,4}", False),
        (r"\bword\b", True),
    ],
)
def test_the_measure_tells_slow_patterns(pattern, linear):
    assert is_linear(pattern) == linear
