"""Works on a store until it is killed: `python -m tests.memory_api.crash_child STORE DOCS SEED`.

Says on stdout what it begins and what was acknowledged, one JSON line each, so that whoever killed it
knows what must be there.
"""

import json
import random
import sys
from pathlib import Path

import hydramem
from hydramem.core.settings.config_loading import load_config

PARTS = 6


def words(source: str, version: int) -> str:
    """Return a document whose every section names its version."""
    sections = [
        f"## Part {part}\n\nThe file {source} of version v{version}x says in part {part} that crate "
        f"{part}{version} rests in Hall {part}."
        for part in range(PARTS)
    ]
    return f"# {source}\n\n" + "\n\n".join(sections) + "\n"


def say(**line: object) -> None:
    """Tell the parent, at once."""
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def work(memory: hydramem.Memory, docs: Path, seed: int) -> None:
    """Ingest, remember and forget at random, for ever."""
    chance = random.Random(seed)
    remembered: list[str] = []
    step = 0
    while True:
        step += 1
        match chance.choice(["ingest", "remember", "remember", "forget"]):
            case "ingest":
                source, version = f"file{chance.randrange(4)}.md", seed * 100_000 + step
                (docs / source).write_text(words(source, version))
                say(begin="ingest", source=source, version=version)
                memory.ingest([str(docs / source)])
                say(done="ingest", source=source, version=version)
            case "remember":
                text = f"Note zeta{seed}n{step} about Person{step % 7} and Gadget{step % 5}."
                say(begin="remember", text=text)
                id = memory.remember(text, wait=chance.random() < 0.5).id
                remembered.append(id)
                say(done="remember", id=id, text=text)
            case "forget" if remembered:
                id = remembered.pop(chance.randrange(len(remembered)))
                say(begin="forget", id=id)
                memory.forget([id])
                say(done="forget", id=id)


if __name__ == "__main__":
    store, docs, seed = sys.argv[1:]
    settings = load_config()
    with hydramem.connect(store, config=settings) as memory:
        memory.remember("The first write loads what every later one needs.")
        say(ready=True)
        work(memory, Path(docs), int(seed))
