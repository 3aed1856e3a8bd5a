"""Small files of each kind, made by hand: what a program would write, and no more."""

import io
import zipfile
from collections.abc import Mapping, Sequence

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_S = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_A = "http://schemas.openxmlformats.org/drawingml/2006/main"
_P = "http://schemas.openxmlformats.org/presentationml/2006/main"
_RELS = "http://schemas.openxmlformats.org/package/2006/relationships"


def package(parts: Mapping[str, str | bytes]) -> bytes:
    """A ZIP archive of these files."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return held.getvalue()


def pdf(*pages: str, encrypted: bool = False) -> bytes:
    """A PDF with a text on each page, one line of the page for each line; Chinese by a font that every reader has."""
    kids = " ".join(f"{4 + 2 * at} 0 R" for at in range(len(pages)))
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Count {len(pages)}/Kids[{kids}]>>".encode(),
        b"<</Type/Font/Subtype/Type0/BaseFont/STSong-Light/Encoding/UniGB-UTF16-H/DescendantFonts[<</Type/Font"
        b"/Subtype/CIDFontType0/BaseFont/STSong-Light/CIDSystemInfo<</Registry(Adobe)/Ordering(GB1)/Supplement 4>>"
        b"/FontDescriptor<</Type/FontDescriptor/FontName/STSong-Light/Flags 4/FontBBox[0 -200 1000 900]/ItalicAngle 0"
        b"/Ascent 800/Descent -200/CapHeight 700/StemV 80>>>>]>>",
    ]
    for at, page in enumerate(pages):
        shown = b"".join(
            b"BT /F1 12 Tf 50 %d Td <%s> Tj ET\n" % (780 - 20 * row, line.encode("utf-16-be").hex().encode())
            for row, line in enumerate(page.split("\n"))
        )
        objects.append(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F1 3 0 R>>>>/Contents %d 0 R>>"
            % (5 + 2 * at)
        )
        objects.append(b"<</Length %d>>stream\n%sendstream" % (len(shown), shown))
    if encrypted:
        objects.append(b"<</Filter/Standard/V 1/R 2/Length 40/P -4/O<%s>/U<%s>>>" % (b"31" * 32, b"32" * 32))
    out, places = b"%PDF-1.7\n", []
    for number, each in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    locked = b"/Encrypt %d 0 R/ID[<31><31>]" % len(objects) if encrypted else b""
    return out + b"trailer<</Size %d/Root 1 0 R%s>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, locked, start)


def docx(body: str, more: Mapping[str, str | bytes] | None = None) -> bytes:
    """A document with this XML in its body; the style `H1` is a heading."""
    styles = f'<w:styles xmlns:w="{_W}"><w:style w:styleId="H1"><w:name w:val="heading 1"/></w:style></w:styles>'
    return package({
        "_rels/.rels": _relations(("rId1", "officeDocument", "word/document.xml")),
        "word/_rels/document.xml.rels": _relations(
            ("rId1", "styles", "styles.xml"), ("rId2", "footnotes", "footnotes.xml")
        ),
        "word/styles.xml": styles,
        "word/document.xml": f'<w:document xmlns:w="{_W}"><w:body>{body}</w:body></w:document>',
        "word/footnotes.xml": f'<w:footnotes xmlns:w="{_W}"><w:footnote w:id="1"><w:p><w:r><w:t>From a letter.</w:t>'
        "</w:r></w:p></w:footnote></w:footnotes>",
        **(more or {}),
    })  # fmt: skip


def paragraph(text: str, style: str = "") -> str:
    """A paragraph of a document."""
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{properties}<w:r><w:t>{text}</w:t></w:r></w:p>"


def xlsx(sheets: Mapping[str, Sequence[Sequence[object]]]) -> bytes:
    """A workbook; texts are shared, `("date", 45000.5)` is a date and `("percent", .25)` a share."""
    texts: list[str] = []
    parts: dict[str, str | bytes] = {}
    for number, rows in enumerate(sheets.values(), 1):
        written = "".join(
            f'<row r="{at}">{"".join(_cell(value, column, at, texts) for column, value in enumerate(row))}</row>'
            for at, row in enumerate(rows, 1)
        )
        parts[f"xl/worksheets/sheet{number}.xml"] = (
            f'<worksheet xmlns="{_S}"><sheetData>{written}</sheetData></worksheet>'
        )
    named = "".join(f'<sheet name="{name}" sheetId="{at}" r:id="rId{at}"/>' for at, name in enumerate(sheets, 1))
    related = [(f"rId{at}", "worksheet", f"worksheets/sheet{at}.xml") for at in range(1, len(sheets) + 1)]
    shared = "".join(f"<si><t>{text}</t></si>" for text in texts)
    return package({
        "_rels/.rels": _relations(("rId1", "officeDocument", "xl/workbook.xml")),
        "xl/_rels/workbook.xml.rels": _relations(
            *related, ("rId90", "sharedStrings", "sharedStrings.xml"), ("rId91", "styles", "styles.xml")
        ),
        "xl/workbook.xml": f'<workbook xmlns="{_S}" xmlns:r="{_R}"><sheets>{named}</sheets></workbook>',
        "xl/sharedStrings.xml": f'<sst xmlns="{_S}">{shared}</sst>',
        "xl/styles.xml": f'<styleSheet xmlns="{_S}"><numFmts>'
        '<numFmt numFmtId="164" formatCode="yyyy&quot;年&quot;m&quot;月&quot;"/></numFmts>'
        '<cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="9"/></cellXfs></styleSheet>',
        **parts,
    })  # fmt: skip


def _cell(value: object, column: int, row: int, texts: list[str]) -> str:
    place = f'r="{chr(65 + column)}{row}"'
    match value:
        case None:
            return ""
        case str():
            texts.append(value)
            return f'<c {place} t="s"><v>{len(texts) - 1}</v></c>'
        case (kind, number):
            return f'<c {place} s="{1 if kind == "date" else 2}"><v>{number}</v></c>'
        case _:
            return f"<c {place}><v>{value}</v></c>"


def pptx(*slides: tuple[str, str]) -> bytes:
    """A presentation of slides: what is shown, and the notes for the speaker."""
    parts: dict[str, str | bytes] = {}
    for at, (shown, notes) in enumerate(slides, 1):
        for place, text in ((f"slides/slide{at}", shown), (f"notesSlides/notesSlide{at}", notes)):
            lines = "".join(f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in text.split("\n"))
            parts[f"ppt/{place}.xml"] = (
                f'<p:sld xmlns:p="{_P}" xmlns:a="{_A}"><p:cSld><p:spTree><p:sp><p:txBody>{lines}</p:txBody></p:sp>'
                "</p:spTree></p:cSld></p:sld>"
            )
        parts[f"ppt/slides/_rels/slide{at}.xml.rels"] = _relations(
            ("rId1", "notesSlide", f"../notesSlides/notesSlide{at}.xml")
        )
    ids = "".join(f'<p:sldId id="{255 + at}" r:id="rId{at}"/>' for at in range(1, len(slides) + 1))
    related = [(f"rId{at}", "slide", f"slides/slide{at}.xml") for at in range(1, len(slides) + 1)]
    return package({
        "_rels/.rels": _relations(("rId1", "officeDocument", "ppt/presentation.xml")),
        "ppt/_rels/presentation.xml.rels": _relations(*related),
        "ppt/presentation.xml": f'<p:presentation xmlns:p="{_P}" xmlns:r="{_R}"><p:sldIdLst>{ids}</p:sldIdLst>'
        "</p:presentation>",
        **parts,
    })  # fmt: skip


def epub(*chapters: tuple[str, str], more: Mapping[str, str | bytes] | None = None) -> bytes:
    """A book of chapters: heading and text."""
    items = "".join(f'<item id="c{at}" href="c{at}.xhtml"/>' for at in range(len(chapters)))
    spine = "".join(f'<itemref idref="c{at}"/>' for at in range(len(chapters)))
    pages = {
        f"OEBPS/c{at}.xhtml": f"<html><body><h1>{heading}</h1><p>{text}</p></body></html>"
        for at, (heading, text) in enumerate(chapters)
    }
    return package({
        "META-INF/container.xml": '<container><rootfile full-path="OEBPS/book.opf"/></container>',
        "OEBPS/book.opf": f"<package><manifest>{items}</manifest><spine>{spine}</spine></package>",
        **pages,
        **(more or {}),
    })  # fmt: skip


def _relations(*rows: tuple[str, str, str]) -> str:
    each = "".join(f'<Relationship Id="{key}" Type="{_R}/{kind}" Target="{to}"/>' for key, kind, to in rows)
    return f'<Relationships xmlns="{_RELS}">{each}</Relationships>'
