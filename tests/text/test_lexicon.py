"""Tables of words: each word once, and each table names modules that read it."""

from pathlib import Path

import pytest

import hydramem
from hydramem.text import lexicon

_PACKAGE = Path(hydramem.__file__).parent

_FILES = sorted(file.stem for file in (_PACKAGE / "text" / "lang").glob("*.toml"))


@pytest.mark.parametrize("file", _FILES)
def test_each_table_names_the_modules_that_read_it_and_has_each_word_once(file):
    tables = lexicon.tables(file)
    for name in tables.keys() - {"used_by"}:
        table = tables[name]
        for user in tables.get("used_by") or table["used_by"]:
            source = (_PACKAGE.parent / f"{user.replace('.', '/')}.py").read_text(encoding="utf-8")
            assert f'"{file}"' in source and f'"{name}"' in source, f"{user} does not read {file}.{name}"
        # A word that stands twice is an error of these.
        if isinstance(table, str) or "words" in table:
            assert lexicon.word_set(file, name)
        if not isinstance(table, str) and "rows" in table:
            assert lexicon.word_rows(file, name)


def test_a_word_that_stands_twice_is_an_error(tmp_path, monkeypatch):
    (tmp_path / "short.toml").write_text('[small]\nwords = "a b a"\n[pairs]\nrows = ["a b", "b c"]\n')
    monkeypatch.setattr(lexicon, "_FOLDER", tmp_path)
    with pytest.raises(ValueError, match=r"short\.small: more than once: a"):
        lexicon.word_set("short", "small")
    with pytest.raises(ValueError, match=r"short\.pairs: more than once: b"):
        lexicon.word_rows("short", "pairs")
