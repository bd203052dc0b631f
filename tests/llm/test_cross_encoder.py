"""Cross-encoders: only from files on this machine; fetched whole or not at all, and only if asked for."""

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hydramem.core.errors import ConfigError, InvalidInputError, ModelError, ModelUnavailableError
from hydramem.llm.cross_encoder import open_cross_encoder
from hydramem.llm.fetching.fetch_model import get_model
from hydramem.llm.fetching.model_hub import hub_errors
from hydramem.llm.listed_model import list_fetched
from tests.llm.local_hub import COMMIT, LocalHub, serving
from tests.llm.tiny_cross_encoder import model, write_cross_encoder

FILES = ("onnx/model.onnx", "tokenizer.json", "tokenizer_config.json", "config.json")
MODEL = "onnx/model.onnx"
LISTED = "Xenova/ms-marco-MiniLM-L-6-v2"
TEXTS = ("The boat is blue.", "The crane of the harbour is mended by Marta.", "It rained all day.")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_cross_encoder(tmp_path_factory.mktemp("tiny") / "model")


@pytest.fixture
def hub(tiny: Path) -> Iterator[LocalHub]:
    files = {path: (tiny / path).read_bytes() for path in FILES}
    with serving(LocalHub({LISTED: files | {"README.md": b"# About\n", "onnx/other.onnx": b"other"}})) as hub:
        yield hub


def left_behind(models: Path) -> list[str]:
    """Return what a fetch left in a folder of models, its lock left out."""
    return sorted(str(path.relative_to(models)) for path in models.rglob("*") if path.name != ".lock")


def test_none_is_fetched_unasked_and_an_unknown_name_is_a_setting_that_is_wrong(tmp_path: Path) -> None:
    for name in (LISTED, LISTED.lower()):
        with pytest.raises(ModelUnavailableError, match=f"hydramem models get {LISTED}"):
            open_cross_encoder(name, models=tmp_path)
    with pytest.raises(ConfigError, match=r"search.rerank: no cross-encoder is called 'nothing'"):
        open_cross_encoder("nothing", models=tmp_path)
    assert left_behind(tmp_path) == []


# From a hub --------------------------------------------------------------------------------------
def test_a_fetched_cross_encoder_ranks_without_the_hub(tmp_path: Path, hub: LocalHub) -> None:
    said: list[str] = []
    view = get_model(LISTED.lower(), models=tmp_path, hub=hub.address, progress=said.append)
    assert said == [f"Fetching {LISTED} (0 MB) from the model hub.", f"{LISTED} is installed."]
    assert (view.name, view.installed, view.licence) == (LISTED, True, "apache-2.0")
    folder = Path(view.where)
    assert left_behind(folder) == sorted([*FILES, "files.json", "onnx"])
    assert json.loads((folder / "files.json").read_text())["origin"] == f"{LISTED}@{COMMIT}"
    assert view.size == sum((folder / path).stat().st_size for path in FILES)
    assert list_fetched(models=tmp_path) == (view,)
    asked = len(hub.requests)
    scores = open_cross_encoder(LISTED, models=tmp_path)("Who mends the crane of the harbour?", TEXTS)
    assert scores[1] == max(scores) > scores[0] > scores[2]
    again: list[str] = []
    assert get_model(LISTED, models=tmp_path, hub=hub.address, progress=again.append) == view
    assert again == [f"{LISTED} is on this machine already."]
    assert len(hub.requests) == asked


def test_a_connection_that_breaks_off_is_taken_up_where_it_broke(tmp_path: Path, hub: LocalHub) -> None:
    piece = 10 << 20  # the client writes pieces of this size
    hub.repositories[LISTED]["onnx/model.onnx"] = model(padding=piece + 1000)
    hub.breaks["onnx/model.onnx"] = [piece + 500]
    hub.described = False  # as a mirror that tells only names
    assert get_model(LISTED, models=tmp_path, hub=hub.address).installed
    assert f"bytes={piece}-" in {one.headers.get("Range") for one in hub.requests}


def breaks_off(hub: LocalHub) -> None:
    hub.breaks[MODEL] = [300]
    hub.ends = True


def sends(path: str, change: Callable[[bytes], bytes]) -> Callable[[LocalHub], None]:
    """Return what makes a hub send other content than it describes."""
    return lambda hub: hub.sent.update({path: change(hub.repositories[LISTED][path])})


def other_first_byte(right: bytes) -> bytes:
    return bytes([right[0] ^ 1]) + right[1:]


def answers(start: str, status: int, text: bytes = b"no") -> Callable[[LocalHub], None]:
    def change(hub: LocalHub) -> None:
        hub.statuses[start], hub.error = status, text

    return change


OTHER_BYTES = r"{}: expected SHA-\d+ \w+, found \w+; nothing was installed"
NOT_LOADED = f"{LISTED}: cannot be loaded: .*nothing was installed"


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        (breaks_off, ModelUnavailableError, r"it answers 503.*--from FOLDER"),
        (sends(MODEL, other_first_byte), ModelError, OTHER_BYTES.format(MODEL)),
        (sends("tokenizer.json", other_first_byte), ModelError, OTHER_BYTES.format("tokenizer.json")),
        (sends(MODEL, lambda right: right + b"more"), ModelError, r"whole|expected \d+ bytes"),
        (sends(MODEL, lambda right: right[:-1]), ModelError, r"whole|expected \d+ bytes"),
        (answers("/api/", 401), ModelUnavailableError, r"refuses .*\(401\).*HF_TOKEN.*--from FOLDER"),
        (answers("/api/", 404), ModelUnavailableError, r"has no .*\(404\).*--from FOLDER"),
        (answers("/cdn/", 403), ModelUnavailableError, r"refuses .*\(403\).*--from FOLDER"),
        (answers("/", 503), ModelUnavailableError, "the model hub answers 503.*--from FOLDER"),
        (answers("/api/", 200, b"<html>"), ModelUnavailableError, r"is no model hub.*HF_ENDPOINT"),
        (lambda hub: setattr(hub, "is_hub", False), ModelUnavailableError, r"is no model hub.*HF_ENDPOINT"),
        (lambda hub: hub.repositories[LISTED].pop(MODEL), ModelUnavailableError, "has no file onnx/model"),
        (lambda hub: hub.repositories[LISTED].update({MODEL: b"no model"}), ModelError, NOT_LOADED),
        (
            lambda hub: setattr(hub, "address", "http://127.0.0.1:9"),
            ModelUnavailableError,
            rf"{LISTED}: no model hub is reachable .*HF_ENDPOINT.*models get {LISTED} --from FOLDER",
        ),
    ],
)
def test_what_goes_wrong_is_said_with_what_to_do_and_nothing_is_installed(
    tmp_path: Path, hub: LocalHub, change: Callable[[LocalHub], object], error: type[Exception], said: str
) -> None:
    change(hub)
    with pytest.raises(error, match=said):
        get_model(LISTED, models=tmp_path, hub=hub.address)
    assert left_behind(tmp_path) == []


def test_a_full_disk_is_not_the_hubs_fault() -> None:
    with pytest.raises(OSError, match="No space"), hub_errors(LISTED):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.costly  # a process of its own
def test_the_command_takes_its_hub_from_the_environment(tmp_path: Path, hub: LocalHub) -> None:
    environment = os.environ | {
        "HF_ENDPOINT": hub.address,
        "HF_HOME": str(tmp_path / "hf"),
        "HYDRAMEM_MODELS": str(tmp_path / "models"),
    }
    command = [sys.executable, "-m", "hydramem", "--json", "models", "get", LISTED]
    got = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=250)
    assert got.returncode == 0, got.stderr
    assert json.loads(got.stdout)["name"] == LISTED
    assert [one.name for one in list_fetched(models=tmp_path / "models")] == [LISTED]


# From a folder, and what is on the disk ----------------------------------------------------------
@pytest.mark.parametrize("flat", [False, True])
def test_files_that_came_another_way_are_taken_from_a_folder(tmp_path: Path, tiny: Path, flat: bool) -> None:
    source = tiny
    if flat:
        source = tmp_path / "flat"
        source.mkdir()
        for path in FILES:
            (source / Path(path).name).write_bytes((tiny / path).read_bytes())
    models = tmp_path / "models"
    assert get_model(LISTED, source=source, models=models).installed
    assert open_cross_encoder(LISTED, models=models)("cat", ["the cat", "the boat"])[0] > 1
    with pytest.raises(InvalidInputError, match="not a folder"):
        get_model(LISTED, source=tmp_path / "absent", models=tmp_path / "others")


@pytest.mark.parametrize("damage", ["remove", "list"])
def test_damaged_files_are_named_and_fetched_again(
    tmp_path: Path, tiny: Path, hub: LocalHub, damage: str
) -> None:
    folder = Path(get_model(LISTED, source=tiny, models=tmp_path).where)
    file = folder / ("files.json" if damage == "list" else "onnx/model.onnx")
    if damage == "remove":
        file.unlink()
    else:
        file.write_bytes(b"x" + file.read_bytes()[1:])
    with pytest.raises(
        ModelError, match=rf"{file.name}: .*fetch it again with `hydramem models get {LISTED}`"
    ):
        open_cross_encoder(LISTED, models=tmp_path)
    get_model(LISTED, models=tmp_path, hub=hub.address)
    assert open_cross_encoder(LISTED, models=tmp_path)("cat", ["the cat"])[0] > 1
