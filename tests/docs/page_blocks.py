"""The fenced blocks of pages, and how those of a shell or of Python are run."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

RUNNERS = {"bash": ("bash", "-euo", "pipefail", "-c"), "python": (sys.executable, "-c")}
SEARCH_PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

_FENCE = re.compile(r"^( *)```(\S*)[^\n]*\n(.*?)^\1```$", flags=re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#+ (.+)$", flags=re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced block of a page: the last heading before it, the word behind its fence, and what it holds."""

    heading: str
    language: str
    text: str


def blocks(page: Path) -> list[Block]:
    """Return the fenced blocks of a page in their order."""
    found, text = [], page.read_text(encoding="utf-8")
    for match in _FENCE.finditer(text):
        headings = _HEADING.findall(_FENCE.sub("", text[: match.start()]))
        inner = re.sub(rf"^{match[1]}", "", match[3], flags=re.MULTILINE)
        found.append(Block(heading=headings[-1] if headings else "", language=match[2], text=inner))
    return found


def is_run(page: Path) -> bool:
    return any(block.language in RUNNERS for block in blocks(page))


def run(block: Block, folder: Path, environment: Mapping[str, str]) -> None:
    """Run a block in a process of its own, if it is of a language that is run."""
    if block.language in RUNNERS:
        done = subprocess.run(
            [*RUNNERS[block.language], block.text],
            cwd=folder,
            env={**environment, "PATH": SEARCH_PATH},
            capture_output=True,
            text=True,
            timeout=400,
        )
        assert done.returncode == 0, f"{block.text}\n{done.stdout}{done.stderr}"
