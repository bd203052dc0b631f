"""The bill of materials names packages, and nothing of the machine on which it was made."""

import importlib.util

from tests import ROOT


def test_places_of_this_machine_are_left_out() -> None:
    spec = importlib.util.spec_from_file_location("bill_of_materials", ROOT / ".ci" / "sbom.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    local = {"type": "distribution", "url": "file:///build/dist/hydramem-1.0-py3-none-any.whl"}
    website = {"type": "website", "url": "https://numpy.org"}
    component = {"name": "numpy", "version": "2.4.6", "externalReferences": [local, website]}
    found = module.without_places({"components": [component], "version": 1})
    assert found == {"components": [{**component, "externalReferences": [website]}], "version": 1}
