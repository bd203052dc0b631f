"""E-books: chapters in reading order, with the titles of the table of contents."""

import pytest

from hydramem.ingest.documents.formats.document_text import UnreadableError
from hydramem.ingest.documents.formats.epub import read_epub
from tests.ingest.documents.formats.packages import LIMIT, epub

CHAPTERS = {"b.xhtml": "<p>She wrote<a id='x'/> notes.</p>", "a.xhtml": "<h1>Grace</h1><p>She compiled.</p>"}
CONTENTS = (
    "<ol><li><a href='text/b.xhtml#x'>Ada &nbsp;Lovelace</a></li><li><a href='text/a.xhtml'>G.</a></li></ol>"
)


def test_chapters_have_the_titles_of_the_contents_or_their_own():
    read = read_epub(epub(CHAPTERS, contents=CONTENTS), max_bytes=LIMIT)
    assert read.text == "# Ada Lovelace\n\nShe wrote notes.\n\n# Grace\n\nShe compiled.\n"
    assert (read.title, read.metadata) == ("Two Lives", {"author": "Ada Lovelace"})


def encrypted(part: str) -> dict[str, str]:
    return {
        "META-INF/encryption.xml": "<encryption><EncryptedData><CipherData>"
        f'<CipherReference URI="{part}"/></CipherData></EncryptedData></encryption>'
    }


def test_encrypted_chapters_are_named_and_encrypted_fonts_do_not_matter():
    with pytest.raises(UnreadableError, match="encrypted"):
        read_epub(epub(CHAPTERS, more=encrypted("OEBPS/text/a.xhtml")), max_bytes=LIMIT)
    assert read_epub(epub(CHAPTERS, more=encrypted("OEBPS/f.otf")), max_bytes=LIMIT).text
