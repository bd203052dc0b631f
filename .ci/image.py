#!/usr/bin/env python3
"""Do by hand what the Dockerfile says, and fail where the server does not behave as in a container.

No image is built: that needs a daemon of Docker, and a registry of images. The wheel is installed in an
environment of its own, which only root may write, and the entry point runs with the file's own variables and
command, as a user who owns nothing but the volume. Needs root, and `setpriv` of util-linux.

    .ci/image.py dist/hydramem-VERSION-py3-none-any.whl
"""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from tempfile import mkdtemp

ROOT = Path(__file__).resolve().parent.parent
TOOLS = Path(sys.executable).parent
USER = 10001
REQUIREMENTS = ("requirements.txt", "requirements-postgres.txt")
TOKEN = "a secret of this check"  # noqa: S105 - of a server that lives for some seconds
GRACE_SECONDS = 10
"""Docker kills what has not ended so long after SIGTERM."""
START_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Image:
    """What the last stage of the Dockerfile says."""

    variables: Mapping[str, str]
    command: Sequence[str]
    health: Sequence[str]
    port: int
    volume: str


def main() -> int:
    """Install, start, ask, stop and start again; return the exit code."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        print("NOT TRIED: to run as another user needs root and setpriv")
        return 0
    folder = Path(mkdtemp(prefix="image"))
    try:
        check(read(ROOT / "Dockerfile"), Path(sys.argv[1]).resolve(), folder)
    except AssertionError as error:
        print(f"FAILED: {error}")
        return 1
    finally:
        shutil.rmtree(folder)
    print("The entry point of the Dockerfile works as its user. The image itself was not built here.")
    return 0


def read(dockerfile: Path) -> Image:
    """Return what the last stage of a Dockerfile says."""
    lines = dockerfile.read_text().replace("\\\n", " ").splitlines()
    words = [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]
    last = max(number for number, word in enumerate(words) if word[0] == "FROM")
    said = {word[0]: word[1] for word in words[last:]}
    return Image(
        variables=dict(pair.split("=", 1) for pair in shlex.split(said["ENV"])),
        command=[*json.loads(said["ENTRYPOINT"]), *json.loads(said["CMD"])],
        health=json.loads(said["HEALTHCHECK"].partition("CMD ")[2]),
        port=int(said["EXPOSE"]),
        volume=said["VOLUME"],
    )


def check(image: Image, wheel: Path, folder: Path) -> None:
    """Go through the life of a container.

    Raises:
        AssertionError: Something is not as in the documentation.
    """
    folder.chmod(0o755)
    code, volume = folder / "code", folder / "volume"
    uv = [TOOLS / "uv", "-q"]
    python = code / "bin" / "python"
    for words in (
        ["venv", "--python", sys.executable, code],
        ["pip", "sync", "--require-hashes", "--python", python, *map(ROOT.joinpath, REQUIREMENTS)],
        ["pip", "install", "--no-deps", "--python", python, wheel],
    ):
        subprocess.run([*uv, *words], check=True, env={**os.environ, "UV_PYTHON_DOWNLOADS": "never"})  # noqa: S603
    volume.mkdir(mode=0o700)
    os.chown(volume, USER, USER)
    variables = {
        name: value.replace("/opt/hydramem", str(code)).replace(image.volume, str(volume))
        for name, value in image.variables.items()
    }
    variables["PATH"] = f"{code / 'bin'}:/usr/bin:/bin"

    refused = as_user(image.command, variables, volume, capture_output=True, text=True, timeout=START_SECONDS)
    require(refused.returncode != 0, "a server without a token starts")
    require("HYDRAMEM_TOKEN" in refused.stderr, f"the refusal does not name the variable: {refused.stderr}")

    variables["HYDRAMEM_TOKEN"] = TOKEN
    with serving(image, variables, volume):
        healthy = as_user(image.health, variables, volume, timeout=60)
        require(healthy.returncode == 0, "the health check fails")
        require(status(image.port, "another") == 401, "a wrong token is let in")
        require(status(image.port, TOKEN) == 200, "the token is refused")
        remember = [image.command[0], "remember", "Ada leads the billing team."]
        require(as_user(remember, variables, volume, timeout=120).returncode == 0, "remember fails")
    unhealthy = as_user(image.health, variables, volume, timeout=60, capture_output=True)
    require(unhealthy.returncode != 0, "the health check passes where nothing serves")
    recall = [image.command[0], "recall", "who leads billing?"]
    told = as_user(recall, variables, volume, capture_output=True, text=True, timeout=120)
    require("Ada leads" in told.stdout, f"the volume has lost what was told: {told.stdout}{told.stderr}")
    theirs = [path for path in code.rglob("*") if path.lstat().st_uid == USER]
    require(not theirs, f"the user has written beside the code: {theirs[:3]}")


@contextmanager
def serving(image: Image, variables: Mapping[str, str], volume: Path) -> Iterator[None]:
    """Run the image's command while the block runs, and end it as Docker does."""
    server = subprocess.Popen(user_words(image.command, variables), env=variables, cwd=volume)  # noqa: S603
    try:
        end = time.monotonic() + START_SECONDS
        while status(image.port, "") is None:
            require(server.poll() is None and time.monotonic() < end, "the server does not start")
            time.sleep(0.2)
        yield
        server.send_signal(signal.SIGTERM)
        require(server.wait(GRACE_SECONDS) in (0, 143, -signal.SIGTERM), "SIGTERM ends it with an error")
    except subprocess.TimeoutExpired as error:
        raise AssertionError("SIGTERM does not end it in time") from error
    finally:
        server.kill()
        server.wait()


def as_user(
    words: Sequence[str], variables: Mapping[str, str], volume: Path, **options: object
) -> "subprocess.CompletedProcess[str]":
    """Run a command as the image's user, in the volume."""
    return subprocess.run(user_words(words, variables), env=variables, cwd=volume, check=False, **options)  # type: ignore[call-overload,no-any-return]  # noqa: S603


def user_words(words: Sequence[str], variables: Mapping[str, str]) -> list[str]:
    """Return the words that run a command as the image's user, who may read where an interpreter lies."""
    program = shutil.which(words[0], path=variables["PATH"])
    require(program is not None, f"{words[0]} is not installed")
    rights = ["--inh-caps=-all,+dac_read_search", "--ambient-caps=-all,+dac_read_search"]
    who = [f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]
    return ["setpriv", *who, *rights, str(program), *words[1:]]


def status(port: int, token: str) -> int | None:
    """Return the status of a first request that carries a token; None where nothing answers."""
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "check", "version": "1"},
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(
            "POST",
            "/mcp",
            json.dumps(message),
            {
                "Authorization": f"Bearer {token}",
                "Content-Type": "application/json",
                "Accept": "application/json, text/event-stream",
            },
        )
        return connection.getresponse().status
    except ConnectionError:
        return None
    finally:
        connection.close()


def require(condition: bool, otherwise: str) -> None:
    """Raise an AssertionError where a condition does not hold."""
    if not condition:
        raise AssertionError(otherwise)


if __name__ == "__main__":
    sys.exit(main())
