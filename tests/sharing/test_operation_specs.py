"""The table as data says what the methods say, and costs none of their code."""

import dataclasses
import inspect
import subprocess
import sys

import pytest

from hydramem.operations import OPERATIONS
from hydramem.sharing.operation_specs import SPECS

HEAVY = {
    "numpy",
    "pyarrow",
    "pydantic",
    "lancedb",
    "fastmcp",
    "rich",
    "hydramem.memory_api",
    "hydramem.storage",
}


def test_every_row_is_there_in_the_order_of_the_table():
    assert list(SPECS) == [operation.name for operation in OPERATIONS]


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_data_equals_the_row_and_its_method(operation):
    spec = SPECS[operation.name]
    assert spec.signature == operation.signature
    for name, given in operation.signature.parameters.items():
        assert type(spec.signature.parameters[name].default) is type(given.default)
    assert spec.doc == inspect.getdoc(operation.method)
    assert spec.reports_progress == operation.reports_progress
    for field in {each.name for each in dataclasses.fields(operation)} - {"method", "owners"} | {"role"}:
        assert getattr(spec, field) == getattr(operation, field)
    assert set(spec.files) <= set(spec.signature.parameters)


def test_the_types_of_every_operation_are_light():
    code = (
        "import sys; from hydramem.sharing.operation_specs import SPECS\n"
        "for spec in SPECS.values(): spec.signature\n"
        "print(*sys.modules)"
    )
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    loaded = set(told.stdout.split())
    assert "hydramem.core.results.hits" in loaded
    assert HEAVY & loaded == set()
