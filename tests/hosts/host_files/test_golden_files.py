"""What each host's file looks like before and after: compared with files that a person has looked at."""

from pathlib import Path

import pytest

from hydramem.hosts.host_files.host_changes import first_of, plan_settings
from hydramem.hosts.host_files.host_table import HOSTS, paths_in
from hydramem.hosts.host_files.install import init_host
from tests.hosts.host_files.machines import OTHER_STORE, target

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("name", HOSTS)
def test_the_server_of_each_host(tmp_path, name):
    place = target(tmp_path)
    path = Path(paths_in(HOSTS[name].servers, "user", place.machine, name)[0])
    path.parent.mkdir(parents=True)
    before = (GOLDEN / f"{name}.before").read_bytes()
    path.write_bytes(before)
    init_host(name, place, OTHER_STORE)
    assert path.read_bytes() == (GOLDEN / f"{name}.after").read_bytes()
    init_host(name, place, OTHER_STORE)
    assert path.read_bytes() == (GOLDEN / f"{name}.after").read_bytes()
    init_host(name, place, OTHER_STORE, remove=True)
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    assert path.read_bytes() == before


@pytest.mark.parametrize("name", ["claude-code", "codex", "gemini"])
def test_the_hooks_of_each_host(tmp_path, name):
    host, place = HOSTS[name], target(tmp_path)
    path = first_of([Path(path) for path in paths_in(host.hooks, "user", place.machine, name)])
    before = GOLDEN / f"{name}.hooks.before"
    path.parent.mkdir(parents=True)
    path.write_bytes((before if before.exists() else GOLDEN / f"{name}.before").read_bytes())
    (*_, change) = plan_settings(host, place, OTHER_STORE, ("hooks",))
    assert change.after == (GOLDEN / f"{name}.hooks.after").read_bytes()
