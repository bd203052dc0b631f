"""Any valid file of settings: ours in, ours out again, equal bytes; whatever else was there stays."""

import stat
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramem.core.errors import InvalidInputError
from hydramem.hosts.host_files.file_changes import apply_changes
from hydramem.hosts.host_files.json_text import read_json
from hydramem.hosts.host_files.settings_file import BACKUP_SUFFIX, plan_taking, plan_writing
from hydramem.hosts.host_files.settings_formats import JsonSettings, OurSettings, TomlSettings
from tests.examples import FEW
from tests.hosts.host_files.json_texts import files
from tests.hosts.host_files.toml_texts import toml_files

JSON, TOML = JsonSettings("mcpServers"), TomlSettings("mcp_servers")

SERVER = OurSettings(server={"command": "hydramem", "args": ["serve"]})
HOOKS = OurSettings(
    hooks=tuple(
        (event, {"hooks": [{"type": "command", "command": "hydramem hook gemini", "timeout": 9}]})
        for event in ("SessionStart", "Stop")
    )
)
BOTH = OurSettings(server=SERVER.server, hooks=HOOKS.hooks)
EMPTY = st.sampled_from(
    ("", " \n", "{}", "{\n}\n", "{ // none\n}", '{"mcpServers": {}, "hooks": {"Stop": []}}')
)


def names(folder: str | Path) -> list[str]:
    return [path.name for path in Path(folder).iterdir()]


def written(path: Path, form: JsonSettings | TomlSettings, ours: OurSettings) -> bytes:
    apply_changes(plan_writing(path, form, ours), within=())
    return path.read_bytes()


def taken(path: Path, form: JsonSettings | TomlSettings, ours: OurSettings) -> bytes | None:
    apply_changes(plan_taking(path, form, ours), within=())
    return path.read_bytes() if path.exists() else None


@FEW
@given(files() | EMPTY, st.sampled_from((SERVER, HOOKS, BOTH)))
def test_json_comes_back_to_the_byte(text, ours):
    with TemporaryDirectory() as folder:
        path = Path(folder, "settings.json")
        path.write_bytes(text.encode())
        with_server = written(path, JSON, SERVER) if ours is BOTH else b""
        assert written(path, JSON, ours) == written(path, JSON, ours)
        found = JSON.find(path.read_bytes().decode())
        assert (found.server, sorted(dict(found.hooks))) == (ours.server, sorted(dict(ours.hooks)))
        if ours is BOTH:
            assert taken(path, JSON, HOOKS) == with_server, "one part can go before the other"
        assert taken(path, JSON, ours) == text.encode()
        assert names(folder) == ["settings.json"]


@FEW
@given(toml_files())
def test_toml_comes_back_to_the_byte(text):
    with TemporaryDirectory() as folder:
        path = Path(folder, "config.toml")
        path.write_bytes(text.encode())
        written(path, TOML, SERVER)
        assert taken(path, TOML, SERVER) == text.encode()


@FEW
@given(files(), st.sampled_from((SERVER, BOTH)))
def test_what_others_write_meanwhile_stays(text, ours):
    with TemporaryDirectory() as folder:
        path = Path(folder, "settings.json")
        path.write_bytes(text.encode())
        after = written(path, JSON, ours).decode()
        place = read_json(after).end - 1
        comma = "" if after[:place].rstrip().endswith(",") else ","
        path.write_bytes(f'{after[:place]}/* */\n{comma} "theirs": [1] }}'.encode())
        left = read_json(taken(path, JSON, ours).decode()).data
        assert left == {**read_json(text).data, "theirs": [1]}
        assert Path(folder, f"settings.json{BACKUP_SUFFIX}").read_bytes() == text.encode()


@pytest.mark.parametrize(("name", "form"), [("a.json", JSON), ("a.toml", TOML)])
def test_a_file_that_only_we_have_written_goes_again(tmp_path, name, form):
    path = tmp_path / name
    written(path, form, SERVER)
    assert names(tmp_path) == [name], "nothing was there to back up"
    assert taken(path, form, SERVER) is None


def test_a_hook_that_a_person_put_beside_ours_stays(tmp_path):
    path = tmp_path / "settings.json"
    path.write_text('{"a": 1}')
    text = written(path, JSON, HOOKS).decode()
    path.write_text(text.replace('"timeout": 9}', '"timeout": 9}, {"type": "command", "command": "mine"}', 1))
    mine = {"hooks": [{"type": "command", "command": "mine"}]}
    assert read_json(taken(path, JSON, HOOKS).decode()).data == {"a": 1, "hooks": {"SessionStart": [mine]}}


def test_an_older_entry_is_brought_up_to_date_and_keeps_what_a_person_added(tmp_path):
    path = tmp_path / "mcp.json"
    path.write_text(
        '{"mcpServers": {"hydramem": {"command": "/old/hydramem", "args": ["serve"], "disabled": true,'
        ' "env": {"HYDRAMEM_HOME": "/x", "LOG": "1"}}}}'
    )
    written(path, JSON, SERVER)
    entry = {"command": "hydramem", "args": ["serve"], "disabled": True, "env": {"LOG": "1"}}
    assert read_json(path.read_text()).data == {"mcpServers": {"hydramem": entry}}
    assert read_json(taken(path, JSON, SERVER).decode()).data == {"mcpServers": {}}, "it was there before us"


def test_hooks_of_an_earlier_version_and_path_are_found_again(tmp_path):
    path = tmp_path / "hooks.json"
    hook = '{"type": "command", "command": "\'/a b/hydramem\' --store /x hook gemini", "timeout": 70}'
    path.write_text(
        f'{{"hooks": {{"SessionStart": [{{"hooks": [{hook}]}}], "Gone": [{{"hooks": [{hook}]}}]}}}}'
    )
    written(path, JSON, HOOKS)
    data = read_json(path.read_text()).data
    kept = {"type": "command", "command": "hydramem hook gemini", "timeout": 70}
    assert data["hooks"]["SessionStart"] == [{"hooks": [kept]}]
    assert list(data["hooks"]) == ["SessionStart", "Stop"]


@pytest.mark.parametrize(
    "text", [b'{"a": 1', b"[]", b'{"mcpServers": []}', b"\xff{}", b'{"mcpServers": {"hydramem": 1}}']
)
def test_a_file_that_cannot_be_changed_is_named_and_left(tmp_path, text):
    path = tmp_path / "mcp.json"
    path.write_bytes(text)
    with pytest.raises(InvalidInputError, match=r"mcp\.json: .*nothing is"):
        written(path, JSON, SERVER)
    assert path.read_bytes() == text
    assert names(tmp_path) == ["mcp.json"]


def test_links_stay_links_and_permissions_stay(tmp_path):
    real, link = tmp_path / "dotfiles" / "claude.json", tmp_path / ".claude.json"
    real.parent.mkdir()
    real.write_text('{"oauth": "secret"}')
    real.chmod(0o600)
    link.symlink_to(real)
    written(link, JSON, SERVER)
    assert link.is_symlink()
    assert JSON.find(real.read_text()) == SERVER
    backup = link.with_name(link.name + BACKUP_SUFFIX)
    assert {stat.S_IMODE(path.stat().st_mode) for path in (real, backup)} == {0o600}
    assert taken(link, JSON, SERVER) == b'{"oauth": "secret"}'
    assert link.is_symlink()
