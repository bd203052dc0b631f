"""Which reader reads a document that is no plain text, by the ending of its name; imported at need."""

from typing import Literal, assert_never

from hydramem.ingest.documents.formats.document_text import DocumentText

Format = Literal["pdf", "docx", "pptx", "xlsx", "epub", "eml"]

FORMATS: dict[str, Format] = {
    ".pdf": "pdf",
    ".docx": "docx",
    ".docm": "docx",
    ".pptx": "pptx",
    ".pptm": "pptx",
    ".ppsx": "pptx",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
    ".epub": "epub",
    ".eml": "eml",
}
"""The format of a file by its ending. Files with macros are read like those without; macros are not."""


def read_format(data: bytes, *, format: Format, max_bytes: int) -> DocumentText:
    """Return a document as Markdown.

    Args:
        data: The file.
        format: Its format.
        max_bytes: Most characters of its text; an archive may unpack to four times as many bytes.

    Raises:
        UnreadableError: It is broken, encrypted or over a limit.
    """
    match format:
        case "pdf":
            from hydramem.ingest.documents.formats.pdf import read_pdf

            return read_pdf(data, max_bytes=max_bytes)
        case "docx":
            from hydramem.ingest.documents.formats.docx import read_docx

            return read_docx(data, max_bytes=max_bytes)
        case "pptx":
            from hydramem.ingest.documents.formats.pptx import read_pptx

            return read_pptx(data, max_bytes=max_bytes)
        case "xlsx":
            from hydramem.ingest.documents.formats.xlsx import read_xlsx

            return read_xlsx(data, max_bytes=max_bytes)
        case "epub":
            from hydramem.ingest.documents.formats.epub import read_epub

            return read_epub(data, max_bytes=max_bytes)
        case "eml":
            from hydramem.ingest.documents.formats.eml import read_eml

            return read_eml(data, max_bytes=max_bytes)
        case _:
            assert_never(format)
