"""The memory that adapters are given, projects for their users, and the index of records with vectors."""

import pytest

import hydramem
from hydramem.hosts.frameworks.given_memory import GivenMemory, project_of
from hydramem.hosts.frameworks.record_index import RecordIndex, with_vector
from tests.owner_process import owner

SETTINGS = "storage:\n  graph: memory\nembedding:\n  model: hash\n"


def test_a_folder_is_opened_and_closed_and_an_open_memory_is_left_alone(tmp_path, memory):
    (tmp_path / "config.yml").write_text(SETTINGS)
    given = GivenMemory(tmp_path)
    given.memory.remember("Tea is green.")
    given.close()
    given.close()
    with pytest.raises(hydramem.StorageError):
        given.memory.recall("tea")
    GivenMemory(memory).close()
    assert memory.recall("tea").hits == ()


def test_names_have_projects_of_their_own():
    long = "ü" * 100
    names = [("a", "b c"), ("a b", "c"), ("a%20b", "c"), ("", "ab"), ("ab", ""), ("%", "ab"), ("a", "..")]
    names += [("a", long), (long, "a")]
    projects = [project_of("adk", *each) for each in names]
    assert len(set(projects)) == len(names)
    assert max(map(len, projects)) <= 200


@pytest.mark.parametrize("name", ["..", "a/b", "\\\\x", ".hidden", "tab\tend", " ", "ü" * 300, "\ud800"])
def test_any_name_makes_a_project(memory, name):
    memory.remember("Tea is green.", project=project_of("adk", name, name))


def item(key, text, vector, *labels):
    value = with_vector({"text": text}, vector)
    return hydramem.ItemInput(namespace=["records", *labels], key=key, value=value)


def keys(index):
    return sorted((row.key, row.value["text"]) for row in index.rows())


def test_an_index_follows_what_another_one_puts(memory):
    one, two = (RecordIndex(memory, ["records"], None) for _ in range(2))
    one.write([item("a", "first", [1.0, 0.0]), item("b", "second", None, "inner")])
    assert keys(two) == [("a", "first"), ("b", "second")]
    two.write([item("a", "revised", [0.0, 1.0]), *(item(f"n{number}", "more", None) for number in range(50))])
    assert len(keys(one)) == 52
    assert one.record("a").value["text"] == "revised"
    assert one.record("a").vector.tolist() == [0.0, 1.0]
    assert RecordIndex(memory, ["records", "inner"], None).record("a") is None


def test_a_key_moves_with_its_namespace(memory):
    index = RecordIndex(memory, ["records"], None)
    index.write([item("a", "here", None, "x")])
    index.write([item("a", "there", None, "y")])
    assert keys(RecordIndex(memory, ["records"], None)) == [("a", "there")]
    assert index.record("a").namespace == ("records", "y")


def test_what_another_process_deletes_is_noticed_when_all_is_read_again(memory):
    one, two = RecordIndex(memory, ["records"], None), RecordIndex(memory, ["records"], None, seconds=0.0)
    one.write([item("a", "first", None), item("b", "second", None)])
    assert len(keys(two)) == 2
    stale = one.record("a")
    two.write([], ["a", "nothing"])
    assert one.stored([stale]) == {}
    assert keys(two) == [("b", "second")]
    two.write([item("a", "again", None)])
    run = memory.put_items([hydramem.ItemInput(namespace=["records"], key="a")]).run
    memory.undo(run)
    assert keys(two) == [("a", "again"), ("b", "second")]


@pytest.mark.slow
def test_an_index_works_on_a_memory_that_another_process_holds(tmp_path):
    (tmp_path / "config.yml").write_text("embedding:\n  model: hash\n")
    with owner(tmp_path), hydramem.connect(tmp_path) as client:
        index = RecordIndex(client, ["records"], project_of("adk", "shop", "ada/x"))
        index.write([item("a", "first", [1.0, 0.0])])
        assert keys(index) == [("a", "first")]
        assert index.stored(index.rows())["a"].value["text"] == "first"
        given = GivenMemory(tmp_path)
        assert type(given.memory) is type(client) is not hydramem.Memory
        given.close()
