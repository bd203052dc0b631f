"""Reads a PDF from standard input in a process of its own, and writes its pages as JSON to standard output.

PDFium is not thread-safe, and a hostile file may make any reader of PDF crash, loop or fill the memory:
here that ends this process alone. It runs as a script, and imports nothing of HydraMem. Arguments: most
bytes of memory, most seconds of CPU time, and most characters of text.
"""

import contextlib
import json
import sys


def main() -> None:
    """Write `{"error": reason}`, or `pages`, `outline` as `[page, level, title]` and `about`."""
    memory, seconds, characters = map(int, sys.argv[1:4])
    _limit(memory, seconds)
    json.dump(_read(sys.stdin.buffer.read(), characters), sys.stdout)


def _limit(memory: int, seconds: int) -> None:
    try:
        import resource
    except ImportError:  # Windows has no such limits; the caller's time limit holds there too
        return
    limits = ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CPU, seconds), (resource.RLIMIT_CORE, 0))
    for name, most in limits:
        with contextlib.suppress(ValueError, OSError):  # macOS refuses to limit memory
            resource.setrlimit(name, (most, most))


def _read(data: bytes, characters: int) -> dict[str, object]:
    import pypdfium2
    from pypdfium2 import raw

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        protected = getattr(error, "err_code", None) in (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY)
        return {"error": "encrypted" if protected else f"broken: {error}"}
    pages: list[str] = []
    try:
        for number in range(len(document)):
            page = document[number]
            text = page.get_textpage()
            characters -= text.count_chars()
            if characters < 0:
                return {"error": "large"}
            pages.append(text.get_text_range())
            text.close()
            page.close()
        outline = [
            [place.get_index() if (place := entry.get_dest()) else None, entry.level, entry.get_title()]
            for entry in document.get_toc()
        ]
        about = document.get_metadata_dict(skip_empty=True)
    except (pypdfium2.PdfiumError, ValueError, RecursionError) as error:
        return {"error": f"broken: {error}"}
    return {"pages": pages, "outline": outline, "about": about}


if __name__ == "__main__":
    main()
