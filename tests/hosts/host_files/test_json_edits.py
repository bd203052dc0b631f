"""Edits of JSON by position: what is set is there, what is taken is gone, all else stays as it was."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramem.core.errors import InvalidInputError
from hydramem.hosts.host_files.json_edits import append, put, take
from hydramem.hosts.host_files.json_text import MOST_LEVELS, read_json
from tests.examples import FEW
from tests.hosts.host_files.json_texts import PLAIN, files

ENTRY = {"command": "hydramem", "args": ["serve"]}


@FEW
@given(st.recursive(PLAIN, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=9))
def test_every_value_that_python_writes_is_read(value):
    assert read_json(json.dumps(value)).data == value


@FEW
@given(files())
def test_what_is_put_is_there_once_and_taken_out_again_to_the_byte(text):
    before = read_json(text)
    after = put(text, ("hydramem",), ENTRY)
    assert read_json(after).data == {**before.data, "hydramem": ENTRY}
    rest = iter(after)
    assert all(character in rest for character in text if not character.isspace()), "in its order"
    assert put(after, ("hydramem",), ENTRY) == after
    if before.items:
        assert take(after, ("hydramem",)) == text
    inner = put(text, ("hydramem", "inner"), ENTRY)
    assert read_json(inner).data == {**before.data, "hydramem": {"inner": ENTRY}}


@FEW
@given(files(), st.data())
def test_any_member_is_taken_or_replaced_and_the_others_stay(text, data):
    root = read_json(text)
    if not root.items:
        return
    key = data.draw(st.sampled_from([item.key for item in root.items]))
    assert read_json(take(text, (key,))).data == {k: v for k, v in root.data.items() if k != key}
    replaced = read_json(put(text, (key,), ENTRY)).data
    assert list(replaced.items()) == [(k, ENTRY if k == key else v) for k, v in root.data.items()]


@FEW
@given(files())
def test_elements_are_appended_and_taken(text):
    once = append(text, ("hooks", "Stop"), {"hooks": [1]})
    twice = append(once, ("hooks", "Stop"), {"hooks": [2]})
    assert read_json(twice).find(("hooks", "Stop")).data == [{"hooks": [1]}, {"hooks": [2]}]
    assert take(twice, ("hooks", "Stop", 1)) == once


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{}", '{\n  "k": 1\n}'),
        ('{"a": 1}', '{"a": 1, "k": 1}'),
        ('{\n    "a": 1\n}\n', '{\n    "a": 1,\n    "k": 1\n}\n'),
        ('{\n\t"a": 1, // why\n}\n', '{\n\t"a": 1, // why\n\t"k": 1,\n}\n'),
        ('{\r\n  "a": 1 // why\r\n}', '{\r\n  "a": 1, // why\r\n  "k": 1\r\n}'),
        ("{\n  // nothing yet\n}", '{\n  // nothing yet\n  "k": 1\n}'),
    ],
)
def test_an_item_is_written_as_its_neighbours_are(before, after):
    assert put(before, ("k",), 1) == after


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[1",
        '{"a" 1}',
        "{a: 1}",
        '{"a": 01}',
        '{"a": "\n"}',
        "{,}",
        "{} {}",
        '{"a": "\\x"}',
        "{/*}",
        '{"a": NaN}',
        "[" * (MOST_LEVELS + 2),
    ],
)
def test_what_is_no_json_is_refused(text):
    with pytest.raises(InvalidInputError):
        read_json(text)


def test_the_line_of_a_mistake_is_named():
    with pytest.raises(InvalidInputError, match="line 3"):
        read_json('{\n  "a": 1\n  "b": 2\n}')


@pytest.mark.parametrize(
    ("text", "path", "said"),
    [
        ('{"a": [1]}', ("a", "b"), "a: is no object"),
        ('{"a": [1]}', ("a", "b", "c"), "a: is no object"),
        ('{"a": {}, "a": {}}', ("a", "b"), "twice"),
    ],
)
def test_nothing_is_put_where_it_is_not_clear_into_what(text, path, said):
    with pytest.raises(InvalidInputError, match=said):
        put(text, path, 1)


def test_a_large_file_is_read_in_linear_time():
    text = json.dumps({"projects": {f"p{n}": {"history": ["x" * 50] * 5} for n in range(1_500)}}, indent=2)
    assert take(put(text, ("mcpServers", "hydramem"), ENTRY), ("mcpServers",)) == text
