"""Curated files: their form, batches, what people and crashes leave, and two writers at once."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramem.core.errors import HydraMemError, InvalidInputError, NotFoundError, StorageError
from hydramem.core.inputs import CuratedChange
from hydramem.storage.files.curated_files import (
    DELIMITER,
    CuratedText,
    block,
    changed,
    curated_file,
    keep_copy,
    normal,
    read_curated,
    write_curated,
    writing,
)
from tests import ROOT

LIMIT = 100


def batch(entries: Sequence[str], *changes: CuratedChange, limit: int = LIMIT) -> tuple[str, ...]:
    return changed(CuratedText(entries=tuple(entries)), changes, limit=limit, name="MEMORY.md", shown=str)


def add(content: str) -> CuratedChange:
    return CuratedChange(action="add", content=content)


def put(old_text: str, content: str) -> CuratedChange:
    return CuratedChange(action="replace", old_text=old_text, content=content)


def remove(old_text: str) -> CuratedChange:
    return CuratedChange(action="remove", old_text=old_text)


def read(tmp_path: Path, text: str | bytes) -> CuratedText:
    path = tmp_path / "MEMORY.md"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_curated(path, limit=LIMIT)


def test_a_file_in_form_is_read(tmp_path: Path) -> None:
    for text, entries in (
        ("", ()),
        ("  \n\n", ()),
        ("one", ("one",)),
        ("one\n§\ntwo lines\nof it\n§\nthree", ("one", "two lines\nof it", "three")),
        ("one\n§\ntwo\n", ("one", "two")),
        ("\ufeffone\r\n§\r\ntwo\r\n", ("one", "two")),
        ("paragraph § 5 applies\n§\n§ 6 too", ("paragraph § 5 applies", "§ 6 too")),
    ):
        held = read(tmp_path, text)
        assert (held.entries, held.drift) == (entries, "")
        assert held.chars == len(DELIMITER.join(entries))


def test_what_a_person_left_in_another_form_is_read_and_told(tmp_path: Path) -> None:
    for text, entries, drift in (
        ("one\n\n§\n\ntwo", ("one", "two"), "parted by lines"),
        ("one\n § \ntwo", ("one", "two"), "parted by lines"),
        ("one\n§\none\n§\ntwo", ("one", "two"), "each entry once"),
        ("one\n§\n§\ntwo\n§", ("one", "two"), "parted by lines"),
        ("x" * 101, ("x" * 101,), "longer than the 100 characters"),
    ):
        held = read(tmp_path, text)
        assert held.entries == entries
        assert drift in held.drift
        copy = keep_copy(tmp_path / "MEMORY.md", held)
        assert copy.read_text() == text
        assert keep_copy(tmp_path / "MEMORY.md", held) == copy  # refused twice, kept once


def test_what_is_no_curated_text_is_an_error(tmp_path: Path) -> None:
    for data in (b"\xff\xfe\x00bad", "Ä".encode("latin-1"), b"x" * 4_000_001):
        with pytest.raises(StorageError, match=r"MEMORY\.md: is "):
            read(tmp_path, data)


def test_a_folder_in_its_place_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").mkdir()
    with pytest.raises(StorageError, match="cannot be read"):
        read_curated(tmp_path / "MEMORY.md", limit=LIMIT)
    with pytest.raises(StorageError, match="cannot be written"):
        write_curated(tmp_path / "MEMORY.md", ["one"])
    assert [path.name for path in tmp_path.iterdir()] == ["MEMORY.md"]


def test_a_batch_is_made_one_after_the_other_and_only_its_end_must_fit() -> None:
    full = ["Ada leads billing.", "x" * 70]
    assert batch(full, add("y" * 60), remove("xxx")) == ("Ada leads billing.", "y" * 60)
    assert batch(full, put("Ada", "Grace leads."), put("Grace", "Bob leads.")) == ("Bob leads.", "x" * 70)
    assert batch(full, add("Ada leads billing.")) == tuple(full)
    assert batch(["a b", "c"], put("a b", "c")) == ("c",)
    assert batch(["Ada", "Ada leads billing."], remove("Ada")) == ("Ada leads billing.",), "named whole"
    assert batch(["  kept"], add(" stripped \r\nlines ")) == ("  kept", "stripped \nlines")


@pytest.mark.parametrize(
    ("change", "error", "told"),
    [
        (add(""), InvalidInputError, "content: is empty"),
        (put("Ada", ""), InvalidInputError, "to take out, use remove"),
        (put("", "x"), InvalidInputError, "old_text: is empty"),
        (CuratedChange(action="add", content="x", old_text="y"), InvalidInputError, "not wanted"),
        (CuratedChange(action="remove", content="x", old_text="Ada"), InvalidInputError, "not wanted"),
        (CuratedChange(action="burn"), InvalidInputError, "action: 'burn' is none of"),  # type: ignore[arg-type]
        (add("a\n§\nb"), InvalidInputError, "a line that is only §"),
        (remove("Bob"), NotFoundError, "no entry of MEMORY.md holds 'Bob'. It holds: 'Ada leads"),
        (remove("leads"), InvalidInputError, "2 entries of MEMORY.md hold 'leads'.*'Ada leads.*'Grace leads"),
        (add("z" * 100), InvalidInputError, "would hold 1.. of 100 characters .now 42."),
    ],
)
def test_one_wrong_change_is_named_and_stops_the_batch(
    change: CuratedChange, error: type[HydraMemError], told: str
) -> None:
    entries = ("Ada leads billing.", "Grace leads the team.")
    with pytest.raises(error, match=told) as raised:
        batch(entries, add("first"), change)
    if "would hold" not in told:
        assert str(raised.value).startswith("changes[1].")


def test_a_file_over_its_limit_can_be_made_shorter_but_no_longer() -> None:
    over = ["x" * 60, "y" * 60, "z"]
    assert batch(over, remove("z")) == ("x" * 60, "y" * 60)
    with pytest.raises(InvalidInputError, match="would hold"):
        batch(over, put("z", "zz"))


ENTRY = st.text(max_size=30).map(normal).filter(lambda text: text and "§" not in text and text.isprintable())


@given(st.lists(ENTRY, unique=True, max_size=6))
def test_what_is_written_is_read_back(tmp_path_factory: pytest.TempPathFactory, entries: list[str]) -> None:
    path = tmp_path_factory.mktemp("curated") / "MEMORY.md"
    write_curated(path, entries)
    held = read_curated(path, limit=10_000)
    assert (held.entries, held.drift) == (tuple(entries), "")
    assert path.read_bytes().decode() == DELIMITER.join(entries)


def test_the_block_says_how_full_the_file_is() -> None:
    assert block("memory", [], limit=2200) == ""
    lines = block("memory", ["a" * 1100, "b" * 1097], limit=2200).split("\n")
    assert lines[0] == lines[2] == "═" * 46
    assert lines[1] == "MEMORY (your personal notes) [100% — 2,200/2,200 chars]"
    assert lines[3:] == ["a" * 1100, "§", "b" * 1097]
    assert "USER PROFILE (who the user is) [4% — 4/100 chars]" in block("user", ["abcd"], limit=100)
    assert block("user", ["x" * 300], limit=100).endswith("[cut: the file is longer than its limit]")


NAMES = [
    *("default", "Default", "dEFAULT", "ключ", "a b", "a-b", "con~", "x" * 200, "東京", "MEMORY.md", "a~b"),
    *("é", "e\u0301"),
]


def test_no_two_projects_share_a_folder_and_none_leads_out(tmp_path: Path) -> None:
    places = [curated_file(tmp_path, name, "memory") for name in NAMES]
    assert len({str(place).casefold() for place in places}) == len(NAMES)
    for place in places:
        assert place.parent.parent == tmp_path
        with writing(place):
            write_curated(place, ["one"])
    assert curated_file(tmp_path, "default", "user") == tmp_path / "default" / "USER.md"


def test_a_link_stays_a_link_and_rights_stay(tmp_path: Path) -> None:
    real, link = tmp_path / "elsewhere" / "notes.md", tmp_path / "MEMORY.md"
    real.parent.mkdir()
    real.write_text("one")
    real.chmod(0o640)
    link.symlink_to(real)
    with writing(link):
        write_curated(link, ["two"])
    assert link.is_symlink()
    assert real.read_text() == "two"
    assert real.stat().st_mode & 0o777 == 0o640


def test_what_a_killed_writer_left_is_ignored_and_removed(tmp_path: Path) -> None:
    path = tmp_path / "MEMORY.md"
    write_curated(path, ["one"])
    (tmp_path / ".MEMORY.md.abc123.tmp").write_text("half an ent")
    (tmp_path / ".USER.md.abc123.tmp").write_text("another file's")
    assert read_curated(path, limit=LIMIT).entries == ("one",)
    write_curated(path, ["one", "two"])
    assert {left.name for left in tmp_path.iterdir()} == {"MEMORY.md", ".USER.md.abc123.tmp"}


def child(path: Path, name: str, times: int) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "tests.storage.files.curated_child", str(path), name, str(times)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=ROOT)


def test_two_processes_lose_nothing_of_each_other(tmp_path: Path) -> None:
    path = tmp_path / "MEMORY.md"
    writers = [child(path, name, 15) for name in ("left", "right")]
    for writer in writers:
        writer.communicate(timeout=60)
        assert writer.returncode == 0
    held = read_curated(path, limit=100_000)
    assert held.drift == ""
    assert {entry.split("\n")[0] for entry in held.entries} == {
        f"{name} {step}" for name in ("left", "right") for step in range(15)
    }


def test_a_kill_leaves_whole_entries_and_all_that_were_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "MEMORY.md"
    writer = child(path, "killed", 0)
    assert writer.stdout is not None
    with writer.stdout:
        acknowledged = [writer.stdout.readline().strip() for _ in range(20)]
        writer.kill()
        acknowledged += [line.strip() for line in writer.stdout if line.endswith("\n")]
    writer.wait()
    held = read_curated(path, limit=100_000)
    assert held.drift == ""
    for step in acknowledged:
        assert f"killed {step}\nsecond line of killed {step}" in held.entries
