"""Finding and reading sources: kinds, encodings, titles, and files that are no text."""

import os
from pathlib import Path

import pytest

from hydramem.core.errors import InvalidInputError
from hydramem.core.results.write_results import SkippedSource
from hydramem.ingest.documents.files import Raw, find, load
from hydramem.ingest.documents.formats.decode import clean, decode, is_binary
from hydramem.ingest.documents.formats.html import as_markdown
from hydramem.ingest.documents.read import SourceText, parse

LIMIT = 2**20


def text_of(path: Path, text: str) -> SourceText:
    path.write_text(text)
    raw = load(path, max_bytes=LIMIT)
    assert isinstance(raw, Raw), raw
    parsed = parse(raw, max_bytes=LIMIT)
    assert isinstance(parsed, SourceText), parsed
    return parsed


def test_a_folder_is_walked_in_order_without_hidden_things_and_loops(tmp_path: Path) -> None:
    for name in ("b.txt", "a.txt", ".hidden.txt", ".git/config.txt", "sub/c.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / "sub" / "loop").symlink_to(tmp_path)
    (tmp_path / "again.txt").symlink_to(tmp_path / "a.txt")
    found = [path.name for path in find([tmp_path]) if isinstance(path, Path)]
    assert found == ["a.txt", "b.txt", "c.txt"]


@pytest.mark.parametrize("path", ["nowhere", "", "a\0b"])
def test_a_path_that_is_not_there_is_an_error(tmp_path: Path, path: str) -> None:
    with pytest.raises(InvalidInputError, match="sources"):
        find([tmp_path, tmp_path / path if path == "nowhere" else path])


def test_what_is_no_text_is_skipped_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(bytes(range(256)) * 10)
    (tmp_path / "huge.txt").write_bytes(b"x" * (LIMIT + 1))
    os.mkfifo(tmp_path / "pipe")
    reasons = {}
    for path in (*(tmp_path / name for name in ("binary", "huge.txt", "pipe", "gone")), Path("/dev/zero")):
        skipped = load(path, max_bytes=LIMIT)
        assert isinstance(skipped, SkippedSource)
        reasons[path.name] = skipped.reason
    assert reasons["binary"] == "binary"
    assert "MB" in reasons["huge.txt"]
    assert reasons["pipe"] == reasons["zero"] == "not a regular file"
    assert reasons["gone"]


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Привет, мир! Как дела сегодня?", "cp1251"),
        ("naïve café, déjà vu", "latin-1"),
        ("日本語のテキストです。東京へ行きます。", "shift_jis"),
        ("Ada wrote this.", "utf-16-le"),
        ("Ada schrieb über Käse.", "utf-8-sig"),
    ],
)
def test_encodings(text: str, encoding: str) -> None:
    data = text.encode(encoding)
    assert not is_binary(data)
    assert decode(data) == text


def test_encodings_mixed_in_one_file_and_what_no_store_can_hold() -> None:
    assert decode("één\n".encode() + "één\n".encode("latin-1") + b"twee\n") == "één\néén\ntwee\n"
    assert clean("a\0b\r\nc\ud800d e\u0301") == "ab\nc\ufffdd é"


def test_markdown_titles_and_front_matter(tmp_path: Path) -> None:
    matter = "---\ntitle: From matter\ntags: [x, y]\ndeep: {a: 1}\n---\n"
    page = text_of(tmp_path / "a.md", f"{matter}# Heading\n\ntext")
    assert (page.title, page.metadata) == ("From matter", {"title": "From matter", "tags": ["x", "y"]})
    assert text_of(tmp_path / "b.md", "```\n# no\n```\n\n# *Yes* [it](x) is\n\ntext").title == "Yes it is"
    assert text_of(tmp_path / "c.txt", "Kestrel\n\nA broker.").title == "Kestrel"
    assert text_of(tmp_path / "d.txt", "Just one line").title == ""
    assert text_of(tmp_path / "e.py", "def f(): ...\n").title == "e.py"
    assert text_of(tmp_path / "f.json", "[" * 10_000 + "]" * 10_000).kind == "code"


def test_html_becomes_structured_text() -> None:
    assert as_markdown("<div>" * 100_000 + "deep").text.strip() == "deep"
    page = as_markdown(
        "<html><head><title>T</title><script>bad()</script></head><body><h1>Head <b>ing</b></h1>text"
        "<p>para<ul><li>one<li>two</ul><pre>a\n  b</pre><table><tr><th>x<th>y<tr><td>1<td>2</table></body>"
    )
    assert page.title == "T"
    assert page.text == (
        "# Head ing\n\ntext\n\npara\n\n- one\n- two\n\n```\na\n  b\n```\n\n| x | y |\n| 1 | 2 |\n"
    )
