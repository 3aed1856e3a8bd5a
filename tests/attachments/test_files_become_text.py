"""What is read of each kind of file: all its text, in Markdown, in its pages, slides, sheets and sections."""

import json
from collections.abc import Iterator

import pytest

from agent.attachments.extract import Extractor
from agent.attachments.readers import ENDINGS
from agent.markdown.paged_text import PagedText, TextPart, in_sections, parse_paged_text
from agent.vault.listing import ATTACHMENTS
from tests.attachments.files import docx, epub, paragraph, pdf, pptx, xlsx

TABLE = "<w:tbl>{}</w:tbl>"
ROW = "<w:tr>{}</w:tr>"


@pytest.fixture(scope="module")
def extractor() -> Iterator[Extractor]:
    made = Extractor()
    yield made
    made.close()


def cell(text: str) -> str:
    return f"<w:tc>{paragraph(text)}</w:tc>"


def test_a_pdf_has_its_pages(extractor: Extractor) -> None:
    found = extractor.extract(".pdf", pdf("Green tea\nbrewed at 80 degrees", "绿茶的泡法\n水温八十度"))
    assert found.parts == (
        TextPart("page 1", "Green tea\nbrewed at 80 degrees"),
        TextPart("page 2", "绿茶的泡法\n水温八十度"),
    )
    assert not found.problem


def test_a_document_has_headings_tables_lists_and_footnotes(extractor: Extractor) -> None:
    item = '<w:p><w:pPr><w:numPr><w:ilvl w:val="1"/></w:numPr></w:pPr><w:r><w:t>under it</w:t></w:r></w:p>'
    noted = '<w:p><w:r><w:t>As said</w:t><w:footnoteReference w:id="1"/><w:tab/><w:t>here.</w:t></w:r></w:p>'
    removed = "<w:p><w:del><w:r><w:delText>away</w:delText></w:r></w:del><w:ins><w:r><w:t>new</w:t></w:r></w:ins></w:p>"
    rows = ROW.format(cell("Thing") + cell("价格")) + ROW.format(cell("a|b") + cell("3"))
    body = paragraph("Budget", "H1") + noted + item + removed + paragraph("Prices", "H1") + TABLE.format(rows)
    assert extractor.extract(".docx", docx(body)).parts == (
        TextPart("Budget", "# Budget\n\nAs said[^1]\there.\n\n  - under it\n\nnew"),
        TextPart("Prices", "# Prices\n\n| Thing | 价格 |\n| --- | --- |\n| a\\|b | 3 |\n\n[^1]: From a letter."),
    )


def test_a_workbook_has_its_sheets_with_dates_as_dates(extractor: Extractor) -> None:
    rows: list[list[object]] = [
        ["Item", None, "When", "Share"],
        ["茶", None, ("date", 45000.5), ("percent", 0.255)],
        [],
        ["x", None, ("date", 45001), 0.1],
    ]
    found = extractor.extract(".xlsx", xlsx({"Costs": rows, "空": [["one"]]}))
    table = "| Item | When | Share |\n| --- | --- | --- |\n| 茶 | 2023-03-15 12:00 | 25.5% |\n| x | 2023-03-16 | 0.1 |"
    assert found.parts == (TextPart("sheet Costs", table), TextPart("sheet 空", "| one |\n| --- |"))


def test_slides_have_the_notes_of_the_speaker(extractor: Extractor) -> None:
    found = extractor.extract(".pptx", pptx(("Plan\nfor 2027", "say hello"), ("第二页", "")))
    assert found.parts == (TextPart("slide 1", "Plan\nfor 2027\n\nNotes: say hello"), TextPart("slide 2", "第二页"))


def test_a_book_has_its_chapters(extractor: Extractor) -> None:
    found = extractor.extract(".epub", epub(("Chapter One", "It was a night."), ("第二章 归来", "他回来了，天黑了。")))
    assert [part.label for part in found.parts] == ["Chapter One", "第二章 归来"]
    assert "他回来了，天黑了。" in found.parts[1].text


@pytest.mark.parametrize("encoding", ["utf-8", "gb18030", "utf-8-sig", "utf-16"])
def test_text_is_read_in_its_encoding(extractor: Extractor, encoding: str) -> None:
    assert extractor.extract(".txt", "第一行\n第二行".encode(encoding)).lines() == ["第一行", "第二行"]
    rows = "名称;数量\n绿茶;3\n".encode(encoding)
    assert extractor.extract(".csv", rows).lines() == ["| 名称 | 数量 |", "| --- | --- |", "| 绿茶 | 3 |"]


def test_a_saved_page_is_its_own_text(extractor: Extractor) -> None:
    page = "<meta charset=gbk><script>no()</script><h1>标题</h1><p>正文在此，共一句。</p>".encode("gb18030")
    assert extractor.extract(".html", page).lines() == ["# 标题", "", "正文在此，共一句。"]


def test_a_canvas_has_its_cards_from_the_top_and_what_the_arrows_say(extractor: Extractor) -> None:
    cards = [
        {"id": "b", "type": "text", "text": "## Tiles\n- order 40", "x": 0, "y": 300, "width": 9, "height": 9},
        {"id": "a", "type": "file", "file": "house/Heat pump.md", "subpath": "#Filter", "x": 0, "y": 0},
        {"id": "c", "type": "link", "url": "https://example.org/tiles", "x": 90, "y": 300},
        {"id": "g", "type": "group", "label": "厨房", "x": -9, "y": -9},
        {"id": "e", "type": "text", "text": " "},
        "no card",
    ]
    arrows = [{"id": "1", "fromNode": "a", "toNode": "b", "label": "before"}, {"id": "2", "fromNode": "a"}]
    found = extractor.extract(".canvas", json.dumps({"nodes": cards, "edges": arrows}).encode())
    assert [(part.label, part.text) for part in found.parts] == [
        ("厨房", "厨房"),
        ("[[house/Heat pump.md#Filter]]", "[[house/Heat pump.md#Filter]]"),
        ("Tiles", "## Tiles\n- order 40"),
        ("https://example.org/tiles", "https://example.org/tiles"),
        ("", "[[house/Heat pump.md#Filter]] → Tiles: before"),
    ]


def test_a_table_of_notes_has_its_filters_columns_and_views(extractor: Extractor) -> None:
    table = """filters:
  and:
    - file.inFolder("Books")
    - or: [status == "read", rating > 3]
properties:
  note.author:
    displayName: 作者
views:
  - type: table
    name: To read
    order: [file.name, note.author]
    filters: status == "new"
  - 7
"""
    found = extractor.extract(".base", table.encode())
    assert found.parts[0].text.splitlines()[:2] == ['file.inFolder("Books")', 'status == "read"']
    assert (found.parts[1].label, found.parts[1].text) == ("To read", 'To read\nfile.name, 作者\nstatus == "new"')


@pytest.mark.parametrize(
    ("ending", "data"), [(".canvas", b""), (".canvas", b'{"nodes": [], "edges": []}'), (".base", b"views: []\n")]
)
def test_a_new_board_has_no_text_and_no_fault(extractor: Extractor, ending: str, data: bytes) -> None:
    assert extractor.extract(ending, data) == PagedText()


def test_separators_are_recognised(extractor: Extractor) -> None:
    assert extractor.extract(".tsv", b"a\tb, c\n1\t2, 3\n").lines()[0] == "| a | b, c |"
    assert extractor.extract(".csv", b'"a","b\nc"\n1,"x|y"\n').lines()[2] == "| 1 | x\\|y |"


def test_parts_are_asked_for_by_label_number_and_range() -> None:
    text = PagedText(tuple(TextPart(f"page {at}", f"one\ntwo {at}") for at in (1, 2, 3)), "page")
    assert text.lines()[:4] == ["[page 1]", "one", "two 1", "[page 2]"]
    for asked, lines in {"page 2": (4, 6), "2": (4, 6), "pages 2-3": (4, 9), "2-9": (4, 9), "[page 1]": (1, 3)}.items():
        assert text.lines_asked(asked) == lines
    assert [text.lines_asked(asked) for asked in ("page 4", "0", "3-2", "nothing")] == [None] * 4
    assert text.place((4, 6)) == "page 2 of 3"
    assert text.place((2, 7)) == "page 1 to page 3 of 3"
    sections = PagedText(in_sections("intro\n\n# One\ntext\n```\n# no heading\n```\n## 二\nmore"))
    assert [part.label for part in sections.parts] == ["", "One", "二"]
    assert sections.lines_asked("# One") == (2, 6)
    assert sections.place((3, 3)) == "One"


def test_a_text_is_kept_as_it_is() -> None:
    text = PagedText((TextPart("page 1", "a\nb"), TextPart("", "中")), "page", "not whole")
    assert parse_paged_text(text.to_bytes()) == text
    for broken in (b"", b"[]", b'{"parts": 3}', b'{"parts": [], "unit": ""}'):
        with pytest.raises(ValueError):
            parse_paged_text(broken)


def test_the_files_that_are_listed_are_those_that_can_be_read() -> None:
    assert frozenset(ATTACHMENTS) == ENDINGS
