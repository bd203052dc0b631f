"""Haystack's own tests of document stores, on the store of the page."""

import pytest

pytest.importorskip("haystack", reason="tests of frameworks run in an environment of their own")
from haystack import Document
from haystack.document_stores.errors import DuplicateDocumentError
from haystack.document_stores.types import DuplicatePolicy
from haystack.testing.document_store import DocumentStoreBaseTests

from tests.hosts.frameworks.test_pages import shown

SETTINGS = "storage:\n  graph: memory\nembedding:\n  model: hash\n"


@pytest.fixture(scope="module")
def store_class(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        return shown("haystack", tmp_path_factory.mktemp("page"), patch)["HydraMemDocumentStore"]


class TestDocumentStore(DocumentStoreBaseTests):
    """The tests that Haystack gives to the authors of stores."""

    @pytest.fixture
    def document_store(self, store_class, tmp_path):
        (tmp_path / "config.yml").write_text(SETTINGS)
        store = store_class(tmp_path)
        yield store
        store.memory.close()

    @staticmethod
    def assert_documents_are_equal(received, expected):
        """Compare them in any order: the store has none."""
        assert sorted(received, key=lambda each: each.id) == sorted(expected, key=lambda each: each.id)

    @pytest.mark.smoke
    def test_write_documents(self, document_store):
        written = Document(content="Billing runs on MySQL.", meta={"page": 3})
        assert document_store.write_documents([written]) == 1
        assert document_store.filter_documents() == [written]
        with pytest.raises(DuplicateDocumentError):
            document_store.write_documents([written])
        assert document_store.write_documents([written], DuplicatePolicy.OVERWRITE) == 1
        assert document_store.write_documents([written], DuplicatePolicy.SKIP) == 0
        assert document_store.memory.recall("billing", project="haystack").hits
