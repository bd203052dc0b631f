"""How a host starts HydraMem: by name where its search path has it, else by path."""

import shlex

import pytest

from hydramem.hosts.host_files.host_table import HOSTS
from hydramem.hosts.host_files.launch_command import (
    Launch,
    chosen_launch,
    hook_command,
    is_hook_command,
    server_entry,
)
from tests.hosts.host_files.machines import LAUNCH, OTHER_STORE


@pytest.mark.parametrize(
    ("found", "activated", "expected"),
    [
        ("/usr/bin/hydramem", None, (("hydramem",), ("/usr/bin/hydramem",))),
        ("/venv/bin/hydramem", "/venv", (("/venv/bin/hydramem",), ("/venv/bin/hydramem",))),
        ("/usr/bin/hydramem", "/venv", (("hydramem",), ("/usr/bin/hydramem",))),
        (None, None, (("/py", "-m", "hydramem"), ("/py", "-m", "hydramem"))),
    ],
)
def test_the_program_is_named_where_the_host_finds_it(found, activated, expected):
    assert chosen_launch(found=found, running=("/py", "-m", "hydramem"), activated=activated) == expected


def test_a_module_has_its_arguments_before_the_command():
    launch = Launch(by_name=("/py", "-m", "hydramem"), by_path=("/py", "-m", "hydramem"), config="/c.yml")
    arguments = ["-m", "hydramem", "--config", "/c.yml", "serve"]
    assert server_entry(HOSTS["gemini"], launch) == {"command": "/py", "args": arguments}
    assert server_entry(HOSTS["gemini"], LAUNCH) == {"command": "hydramem", "args": ["serve"]}


@pytest.mark.parametrize("platform", ["linux", "win32"])
@pytest.mark.parametrize("launch", [LAUNCH, OTHER_STORE])
def test_a_hook_is_found_again_by_its_command(platform, launch):
    command = hook_command(HOSTS["codex"], launch, platform)
    assert is_hook_command(command)
    if platform == "linux":
        assert shlex.split(command) == [*launch.words(HOSTS["codex"]), "hook", "codex"]


@pytest.mark.parametrize(
    ("command", "ours"),
    [
        ("C:\\tools\\hydramem.exe hook gemini", True),
        ('"C:\\my tools\\hydramem.exe" --store "D:\\m" hook gemini', True),
        ("/py/bin/python3.11 -m hydramem hook claude-code", True),
        ("my-hydramem hook codex", False),
        ("hydramem recall hooks", False),
        ("hydramem hook", False),
        (["hydramem", "hook", "codex"], False),
    ],
)
def test_only_our_hooks_are_ours(command, ours):
    assert is_hook_command(command) is ours
