"""The whole way: into a host, up to date, and out of it again."""

import hashlib
import json

import pytest

from hydramem.core.errors import InvalidInputError, StorageError
from hydramem.hosts.host_files import file_changes
from hydramem.hosts.host_files.host_changes import plan_settings
from hydramem.hosts.host_files.host_table import HOSTS, INSTALLED, SKILL_FOLDERS
from hydramem.hosts.host_files.install import init_host, install, install_skills
from hydramem.hosts.host_files.managed_copies import MANIFEST
from tests import ROOT
from tests.hosts.host_files.machines import LAUNCH, OTHER_STORE, target, tree

SKILL = ".claude/skills/hydramem-query/SKILL.md"


@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize("name", INSTALLED)
def test_install_twice_and_uninstall_leave_nothing(tmp_path, name, scope):
    place = target(tmp_path, scope)
    install(name, place, LAUNCH)
    first = tree(tmp_path)
    assert any(path.endswith("hydramem-query/SKILL.md") for path in first)
    again = install(name, place, LAUNCH)
    assert {file.outcome for file in again.files} == {"unchanged"}
    assert tree(tmp_path) == first
    install(name, place, LAUNCH, remove=True)
    assert tree(tmp_path) == {}
    assert not list((tmp_path / ("home" if scope == "user" else "project")).glob("*"))


@pytest.mark.parametrize("name", INSTALLED)
def test_another_store_changes_what_is_written_and_no_more_files(tmp_path, name):
    place = target(tmp_path)
    install(name, place, LAUNCH)
    first = tree(tmp_path)
    install(name, place, OTHER_STORE)
    second = tree(tmp_path)
    assert {path for path in second if path not in first} <= {f"{path}.hydramem-backup" for path in first}
    assert any(b"/srv/my memory" in data for data in second.values())
    install(name, place, LAUNCH)
    assert not any(b"/srv/my memory" in data for path, data in tree(tmp_path).items() if "backup" not in path)


@pytest.mark.parametrize("name", HOSTS)
def test_a_dry_run_shows_the_difference_and_writes_nothing(tmp_path, name):
    done = init_host(name, target(tmp_path, dry_run=True), LAUNCH)
    assert "+++ " in done.diff
    assert "hydramem" in done.diff
    assert tree(tmp_path) == {}


def test_the_server_alone_can_go_and_hooks_stay(tmp_path):
    place = target(tmp_path)
    install("gemini", place, LAUNCH)
    init_host("gemini", place, LAUNCH, remove=True)
    settings = json.loads((tmp_path / "home/.gemini/settings.json").read_text())
    assert set(settings) == {"hooks"}


def test_one_file_that_cannot_be_parsed_stops_all(tmp_path):
    hooks = tmp_path / "home/.claude/settings.json"
    hooks.parent.mkdir(parents=True)
    hooks.write_text("{")
    with pytest.raises(InvalidInputError, match=r"settings\.json"):
        install("claude-code", target(tmp_path), LAUNCH)
    assert list(tree(tmp_path)) == ["home/.claude/settings.json"]


def file_hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize("text", ["edited", "theirs from the start"])
def test_a_skill_that_is_a_persons_stays_and_is_said(tmp_path, text):
    place, skill = target(tmp_path), tmp_path / "home" / SKILL
    if text == "edited":
        install_skills("claude", place)
    skill.parent.mkdir(parents=True, exist_ok=True)
    skill.write_text(text)
    assert ("left: a person has edited it", str(skill)) in outcomes(install_skills("claude", place))
    install_skills("claude", place, remove=True)
    assert tree(tmp_path) == {f"home/{SKILL}": text.encode()}


def test_a_skill_that_nobody_has_edited_is_updated_and_an_old_one_goes(tmp_path):
    place, folder = target(tmp_path, "project"), tmp_path / "project/.agents/skills"
    install_skills("agents", place)
    manifest = folder / MANIFEST
    known = json.loads(manifest.read_text())
    shipped = (folder / "hydramem-query/SKILL.md").read_bytes()
    for name in ("hydramem-query/SKILL.md", "hydramem-old/SKILL.md"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(b"of an earlier version")
        known["files"][name] = file_hash(b"of an earlier version")
    manifest.write_text(json.dumps(known))
    install_skills("agents", place)
    assert (folder / "hydramem-query/SKILL.md").read_bytes() == shipped
    assert not (folder / "hydramem-old").exists()


@pytest.mark.parametrize("remove", [False, True])
@pytest.mark.parametrize("name", ["hydramem-query/SKILL.md", "hydramem-old/SKILL.md"])
def test_links_in_a_project_do_not_lead_to_other_files(tmp_path, name, remove):
    outside, folder = tmp_path / "private", tmp_path / "project/.claude/skills"
    outside.mkdir()
    (outside / "SKILL.md").write_bytes(b"known words")
    folder.mkdir(parents=True)
    (folder / name).parent.symlink_to(outside)
    (folder / MANIFEST).write_text(json.dumps({"files": {name: file_hash(b"known words")}}))
    install_skills("claude", target(tmp_path, "project"), remove=remove)
    assert tree(outside) == {"SKILL.md": b"known words"}


@pytest.mark.parametrize("data", ["{", "[]", '{"files": {"../../x": "0"}}', '{"files": {"/x": "0"}}'])
def test_a_damaged_manifest_is_named(tmp_path, data):
    manifest = tmp_path / "project/.claude/skills" / MANIFEST
    manifest.parent.mkdir(parents=True)
    manifest.write_text(data)
    with pytest.raises(InvalidInputError, match=MANIFEST):
        install_skills("claude", target(tmp_path, "project"))


def test_every_target_of_skills_can_be_installed(tmp_path):
    shipped = len(list((ROOT / "skills").glob("*/SKILL.md")))
    for name in SKILL_FOLDERS:
        install_skills(name, target(tmp_path))
        assert sum(path.endswith("/SKILL.md") for path in tree(tmp_path)) == shipped
        install_skills(name, target(tmp_path), remove=True)
        assert tree(tmp_path) == {}


def test_what_a_host_lacks_is_refused_with_what_to_do_instead(tmp_path):
    with pytest.raises(InvalidInputError, match="init --host cursor"):
        install("cursor", target(tmp_path), LAUNCH)
    with pytest.raises(InvalidInputError, match="no files of a project"):
        install("hermes", target(tmp_path, "project"), LAUNCH)


@pytest.mark.parametrize(
    ("name", "folder"), [("claude-code", "claude_code_plugin"), ("gemini", "gemini_extension")]
)
def test_hooks_in_settings_are_those_of_the_plugin_folders(tmp_path, name, folder):
    (change, *_) = plan_settings(HOSTS[name], target(tmp_path), LAUNCH, ("hooks",))
    plugin = json.loads((ROOT / "hydramem" / "data" / "hosts" / folder / "hooks" / "hooks.json").read_text())
    keys = ("type", "command", "timeout")
    assert json.loads(change.after)["hooks"] == {
        event: [{"hooks": [{key: hook[key] for key in keys} for hook in group["hooks"]]} for group in groups]
        for event, groups in plugin["hooks"].items()
    }


def test_the_plugin_starts_what_this_machine_has(tmp_path):
    install("opencode", target(tmp_path), OTHER_STORE)
    plugin = (tmp_path / "home/.config/opencode/plugin/hydramem.js").read_text()
    words = ["hydramem", "--store", "/srv/my memory", "--project", "work"]
    assert f"const COMMAND = {json.dumps(words)};" in plugin.splitlines()


def test_a_file_that_changes_between_plan_and_write_is_left(tmp_path):
    path = tmp_path / "mcp.json"
    path.write_text("{}")
    change = file_changes.FileChange(path=path, before=b"{}", after=b'{"a": 1}')
    path.write_text('{"b": 1}')
    with pytest.raises(StorageError, match="another program"):
        file_changes.apply_changes([change], within=())
    assert path.read_text() == '{"b": 1}'


def test_what_cannot_be_written_is_named_and_no_temporary_file_stays(tmp_path):
    (tmp_path / "home").write_text("a file where a folder belongs")
    with pytest.raises(StorageError, match=r"mcp\.json"):
        init_host("cursor", target(tmp_path), LAUNCH)
    assert [path.name for path in tmp_path.iterdir()] == ["home"]


def outcomes(done) -> set[tuple[str, str]]:
    return {(file.outcome, file.path) for file in done.files}
