"""Edits of TOML by position: the table is there, is gone again, and all else stays as it was."""

import tomllib

import pytest
from hypothesis import example, given

from hydramem.core.errors import InvalidInputError
from hydramem.hosts.host_files.toml_edits import put_table, read_toml, take_table
from tests.examples import FEW
from tests.hosts.host_files.toml_texts import toml_files

PATH = ("mcp_servers", "hydramem")
ENTRY = {"command": 'C:\\a\x7f"b"', "args": ["serve"], "env": {"HYDRAMEM_HOME": "/x y"}}


def servers(text: str) -> dict[str, object]:
    return tomllib.loads(text).get("mcp_servers", {})


@FEW
@given(toml_files())
@example("\n\n")
def test_the_table_is_added_behind_all_that_is_there_and_taken_out_again(text):
    after = put_table(text, PATH, ENTRY)
    assert after.startswith(text)
    expected = tomllib.loads(text)
    expected.setdefault("mcp_servers", {})["hydramem"] = ENTRY
    assert tomllib.loads(after) == expected
    assert put_table(after, PATH, ENTRY) == after
    end = "\r\n" if "\r\n" in text else "\n"
    # Only a line end that the file lacked stays.
    assert take_table(after, PATH) == (text if not text or text.endswith("\n") else text + end)


@FEW
@given(toml_files(), toml_files())
def test_what_was_written_behind_it_stays(before, behind):
    behind = "\n[[later]]\n" + behind.replace("[", "[later.") if "[" not in behind else "\n[[later]]\nx = 1\n"
    after = take_table(put_table(before, PATH, ENTRY) + behind, PATH)
    assert after.endswith(behind)
    assert after.startswith(before)


def test_other_keys_and_comments_of_the_table_stay_when_it_is_updated():
    text = (
        "[mcp_servers.hydramem] # mine\n# slow disk\nstartup_timeout_sec = 30\n"
        'command = "/old" # where\n\n[mcp_servers.hydramem.env]\nA = "1"\n[tui]\nx = 1\n'
    )
    assert put_table(text, PATH, {"command": "hydramem", "args": ["serve"], "env": {"B": "2"}}) == (
        '[mcp_servers.hydramem] # mine\nargs = ["serve"]\n# slow disk\nstartup_timeout_sec = 30\n'
        'command = "hydramem" # where\n\n[mcp_servers.hydramem.env]\nB = "2"\nA = "1"\n[tui]\nx = 1\n'
    )


def test_tables_that_the_host_has_added_to_it_go_with_it():
    text = put_table('model = "x"\n', PATH, ENTRY)
    text += '\n[mcp_servers.hydramem.tools.recall]\napproval_mode = "approve"\n\n[tui]\nx = 1\n'
    assert take_table(text, PATH) == 'model = "x"\n\n[tui]\nx = 1\n'


@pytest.mark.parametrize(
    "text",
    [
        "[mcp_servers]\nhydramem.command = 'x'\ny.z = 1\n",
        "mcp_servers.hydramem = {command = 'x'}\nmcp_servers.y.z = 1\n",
    ],
)
def test_a_server_written_with_dots_is_taken_too(text):
    assert servers(take_table(text, PATH)) == {"y": {"z": 1}}


@pytest.mark.parametrize("text", ["mcp_servers = {}\n", "mcp_servers = { hydramem = { command = 'x' } }\n"])
def test_servers_within_braces_are_refused(text):
    with pytest.raises(InvalidInputError, match=r"braces|table of its own"):
        put_table(text, PATH, ENTRY)
    if "hydramem" in text:
        with pytest.raises(InvalidInputError, match="braces"):
            take_table(text, PATH)


@pytest.mark.parametrize("text", ["a = ", "[a", "\ufeffa = 1", "a = 1\na = 2", "x"])
def test_what_is_no_toml_is_refused(text):
    with pytest.raises(InvalidInputError, match="TOML"):
        read_toml(text)
