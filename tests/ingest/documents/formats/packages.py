"""Makes small documents of each format by the standard library."""

import io
import zipfile
import zlib

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
P = "http://schemas.openxmlformats.org/presentationml/2006/main"
A = "http://schemas.openxmlformats.org/drawingml/2006/main"
S = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
RELATIONSHIPS = "http://schemas.openxmlformats.org/package/2006/relationships"

LIMIT = 2**20


def archive(parts: dict[str, str | bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in parts.items():
            packed.writestr(name, data)
    return file.getvalue()


def relationships(*targets: tuple[str, str]) -> str:
    """Relationships r1, r2, ... of a kind to a target."""
    rows = "".join(
        f'<Relationship Id="r{number}" Type="{R}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(targets, 1)
    )
    return f'<Relationships xmlns="{RELATIONSHIPS}">{rows}</Relationships>'


CORE = (
    '<cp:coreProperties xmlns:cp="cp" xmlns:dc="dc" xmlns:dcterms="t"><dc:title>{title}</dc:title>'
    "<dc:creator>Ada Lovelace</dc:creator><dcterms:created>2026-05-01T09:00:00Z</dcterms:created>"
    "</cp:coreProperties>"
)


def package(main: str, parts: dict[str, str], *, title: str = "") -> bytes:
    top = [("officeDocument", main), *([("core-properties", "docProps/core.xml")] if title else [])]
    core = {"docProps/core.xml": CORE.format(title=title)} if title else {}
    return archive({"_rels/.rels": relationships(*top), **core, **parts})


STYLES = (
    f'<w:styles xmlns:w="{W}"><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>'
    '<w:style w:styleId="Own"><w:name w:val="Own"/><w:basedOn w:val="berschrift2"/></w:style>'
    '<w:style w:styleId="berschrift2"><w:name w:val="heading 2"/></w:style></w:styles>'
)


def paragraph(text: str, *, style: str = "", properties: str = "", run: str = "") -> str:
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    return f"<w:p><w:pPr>{named}{properties}</w:pPr><w:r><w:rPr>{run}</w:rPr><w:t>{text}</w:t></w:r></w:p>"


def docx(body: str, *, title: str = "", prefix: str = "", parts: dict[str, str] | None = None) -> bytes:
    document = f'{prefix}<w:document xmlns:w="{W}"><w:body>{body}</w:body></w:document>'
    return package(
        "word/document.xml",
        {
            "word/document.xml": document,
            "word/styles.xml": STYLES,
            "word/_rels/document.xml.rels": relationships(
                ("styles", "styles.xml"), ("footnotes", "footnotes.xml")
            ),
            **(parts or {}),
        },
        title=title,
    )


def xlsx(sheets: dict[str, str], *, states: dict[str, str] | None = None, shared: str = "") -> bytes:
    """A workbook from the rows of each sheet; cell style 1 is a date, style 2 a date with its time."""
    names = list(sheets)
    shown = dict.fromkeys(names, "visible") | (states or {})
    listed = "".join(
        f'<sheet name="{name}" sheetId="{number}" r:id="r{number}" state="{shown[name]}"/>'
        for number, name in enumerate(names, 1)
    )
    styles = (
        f'<styleSheet xmlns="{S}"><numFmts><numFmt numFmtId="170" formatCode="yyyy\\-mm\\-dd hh:mm"/>'
        '<numFmt numFmtId="171" formatCode="#,##0 &quot;days&quot;"/></numFmts><cellXfs><xf numFmtId="0"/>'
        '<xf numFmtId="14"/><xf numFmtId="170"/><xf numFmtId="171"/></cellXfs></styleSheet>'
    )
    sheet = f'<worksheet xmlns="{S}"><sheetData>{{}}</sheetData></worksheet>'
    parts = {
        f"xl/worksheets/sheet{number}.xml": sheet.format(filled)
        for number, filled in enumerate(sheets.values(), 1)
    }
    targets = [("worksheet", f"worksheets/sheet{number}.xml") for number in range(1, len(names) + 1)]
    return package(
        "xl/workbook.xml",
        {
            "xl/workbook.xml": f'<workbook xmlns="{S}" xmlns:r="{R}"><sheets>{listed}</sheets></workbook>',
            "xl/_rels/workbook.xml.rels": relationships(
                *targets, ("sharedStrings", "sharedStrings.xml"), ("styles", "styles.xml")
            ),
            "xl/sharedStrings.xml": f'<sst xmlns="{S}">{shared}</sst>',
            "xl/styles.xml": styles,
            **parts,
        },
    )


def rows(*cells: list[str]) -> str:
    """Rows of cells that hold their text."""
    return "".join(
        "<row>" + "".join(f'<c t="inlineStr"><is><t>{cell}</t></is></c>' for cell in row) + "</row>"
        for row in cells
    )


def shape(*texts: str, role: str = "body") -> str:
    lines = "".join(f"<a:p><a:r><a:t>{text}</a:t></a:r></a:p>" for text in texts)
    place = f'<p:nvSpPr><p:nvPr><p:ph type="{role}"/></p:nvPr></p:nvSpPr>'
    return f"<p:sp>{place}<p:txBody>{lines}</p:txBody></p:sp>"


def slide(shapes: str, *, attributes: str = "") -> str:
    tree = f"<p:cSld><p:spTree>{shapes}</p:spTree></p:cSld>"
    return f'<p:sld xmlns:p="{P}" xmlns:a="{A}" {attributes}>{tree}</p:sld>'


def pptx(slides: list[str], *, notes: dict[int, str] | None = None) -> bytes:
    """A presentation; `notes` are shapes by the number of the slide."""
    order = "".join(f'<p:sldId id="{256 + n}" r:id="r{n}"/>' for n in range(1, len(slides) + 1))
    parts = {f"ppt/slides/slide{n}.xml": text for n, text in enumerate(slides, 1)}
    for n, shapes in (notes or {}).items():
        parts[f"ppt/slides/_rels/slide{n}.xml.rels"] = relationships(
            ("notesSlide", f"../notesSlides/n{n}.xml")
        )
        parts[f"ppt/notesSlides/n{n}.xml"] = slide(shapes)
    return package(
        "ppt/presentation.xml",
        {
            "ppt/presentation.xml": f'<p:presentation xmlns:p="{P}" xmlns:r="{R}"><p:sldIdLst>{order}'
            "</p:sldIdLst></p:presentation>",
            "ppt/_rels/presentation.xml.rels": relationships(
                *(("slide", f"slides/slide{n}.xml") for n in range(1, len(slides) + 1))
            ),
            **parts,
        },
    )


def epub(chapters: dict[str, str], *, contents: str = "", more: dict[str, str] | None = None) -> bytes:
    """An e-book of chapters (file name to body) with a table of contents (the body of its page)."""
    manifest = "".join(
        f'<item id="c{n}" href="text/{name}" media-type="application/xhtml+xml"/>'
        for n, name in enumerate(chapters)
    )
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    book = (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="dc"><metadata><dc:title>Two Lives</dc:title>'
        "<dc:creator>Ada Lovelace</dc:creator></metadata><manifest>"
        f'<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>{manifest}'
        f'</manifest><spine><itemref idref="nav"/>{spine}</spine></package>'
    )
    head = '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head>'
    return archive(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/>'
            "</rootfiles></container>",
            "OEBPS/book.opf": book,
            "OEBPS/nav.xhtml": f"{head}<body><nav>{contents}</nav></body></html>",
            **{f"OEBPS/text/{name}": f"{head}<body>{body}</body></html>" for name, body in chapters.items()},
            **(more or {}),
        }
    )


def pdf(pages: list[list[str]], *, title: str = "", outline: list[tuple[int, str]] | None = None) -> bytes:
    """A PDF with lines of text on each page, and an outline of (page, title)."""
    entries = outline or []
    first_page, first_entry = 5, 5 + 2 * len(pages)
    ends = f"/First {first_entry} 0 R /Last {first_entry + len(entries) - 1} 0 R" if entries else ""
    objects = [
        f"<< /Type /Catalog /Pages 2 0 R {'/Outlines 4 0 R' if entries else ''} >>".encode(),
        f"<< /Type /Pages /Count {len(pages)} /Kids "
        f"[{' '.join(f'{first_page + 2 * n} 0 R' for n in range(len(pages)))}] >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        f"<< /Count {len(entries)} {ends} >>".encode(),
    ]
    for n, lines in enumerate(pages):
        shown = "".join(f"({line}) Tj T* " for line in lines)
        stream = zlib.compress(f"BT /F1 12 Tf 14 TL 50 700 Td {shown}ET".encode("latin-1"))
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {first_page + 2 * n + 1} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>".encode()
        )
        objects.append(
            f"<< /Length {len(stream)} /Filter /FlateDecode >> stream\n".encode() + stream + b"\nendstream"
        )
    for n, (page, name) in enumerate(entries):
        after = f"/Next {first_entry + n + 1} 0 R" if n + 1 < len(entries) else ""
        objects.append(
            f"<< /Title ({name}) /Parent 4 0 R {after} /Dest [{first_page + 2 * page} 0 R /Fit] >>".encode()
        )
    objects.append(f"<< /Title ({title}) /CreationDate (D:20260501090000Z) >>".encode())
    data, places = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(data))
        data += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    return (
        data
        + f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
        f"trailer << /Size {len(objects) + 1} /Root 1 0 R /Info {len(objects)} 0 R >>\n"
        f"startxref\n{len(data)}\n%%EOF\n".encode()
    )
