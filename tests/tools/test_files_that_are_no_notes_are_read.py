"""`vault_read` of a PDF, a document, a table: its text with its pages, as text of a stranger unless the person says
that it is theirs."""

from dataclasses import replace
from pathlib import Path

import pytest

from agent.tools.text_origin import TextOrigin, text_origin_of
from agent.vault.store import Vault
from tests.attachments.files import docx, paragraph, pdf, xlsx
from tests.tools.house import House, hit, house
from tests.vaults import make_vault, write

PAPER = pdf(*(f"Page {number}\nabout tea, 第{number}页" for number in range(1, 13)))
LETTER = docx(paragraph("Rent", "H1") + paragraph("It is 900 a month.") + paragraph("Keys", "H1") + paragraph("Two."))
PNG = b"\x89PNG\r\n\x1a\n of an oak"


@pytest.fixture
def home(tmp_path: Path) -> House:
    files: dict[str, str | bytes] = {
        "papers/tea.pdf": PAPER,
        "letter.docx": LETTER,
        "note.md": "See ![[tea.pdf]].\n",
        "scan.pdf": pdf(""),
    }
    files |= {"oak.png": PNG, "huge.png": PNG + bytes(4_000_000), "text.png": "no picture"}
    files["old.csv"] = "名称;数量\n绿茶;3\n".encode("gb18030")
    files["plain.csv"] = b"a,b\n1,2\n"
    return house(tmp_path, files)


def test_pages_are_read_and_named(home: House) -> None:
    whole = home.says("vault_read", path="papers/tea.pdf")
    assert "papers/tea.pdf, page 1 to page 12 of 12, lines 1-36 of 36:" in whole
    assert "[page 3]\nPage 3\nabout tea, 第3页\n[page 4]" in whole
    page = home.says("vault_read", path="papers/tea.pdf", heading="page 3")
    assert "papers/tea.pdf, page 3 of 12, lines 7-9 of 36 (read on with lines 10-36):\n\n[page 3]\nPage 3\n" in page
    assert "page 11 to page 12 of 12" in home.says("vault_read", path="papers/tea.pdf", heading="pages 11-12")
    assert "[page 2]\nPage 2" in home.says("vault_read", path="papers/tea.pdf", lines="4-5")
    assert "it has page 1; page 2" in home.fails("vault_read", path="papers/tea.pdf", heading="page 13")


def test_a_link_names_a_file(home: House) -> None:
    assert "page 1 to page 12" in home.says("vault_read", path="[[tea.pdf]]")


def test_a_long_text_is_read_on(tmp_path: Path) -> None:
    long = pdf(*("words and words\n" * 30 for _ in range(60)))
    said = house(tmp_path, {"long.pdf": long}).says("vault_read", path="long.pdf")
    assert "(read on with lines " in said and "of 60, lines 1-" in said


def test_sections_and_tables_are_read(home: House) -> None:
    assert "letter.docx, Keys, lines" in home.says("vault_read", path="letter.docx", heading="Keys")
    assert "| 绿茶 | 3 |" in home.says("vault_read", path="old.csv")
    assert "a,b\n1,2" in home.says("vault_read", path="plain.csv"), "as it is: it may be changed"


def test_what_cannot_be_read_has_a_reason(home: House) -> None:
    assert "scan.pdf has no text to read: its 1 pages are pictures" in home.fails("vault_read", path="scan.pdf")


def test_a_picture_is_given_to_models_that_see(home: House) -> None:
    called = home.call("vault_read", path="oak.png")
    (image,) = called.result.images
    assert (image.name, image.media_type, image.data) == ("oak.png", "image/png", PNG)
    assert "oak.png: a picture (image/png" in called.result.text and home.context.taint
    assert called.result.text.endswith("read it again if need be)"), "beside the frame, as it is no stranger's word"
    assert "larger than 3.7 MB" in home.fails("vault_read", path="huge.png")
    assert "no picture by its content" in home.fails("vault_read", path="text.png")


def test_its_text_is_a_strangers(home: House) -> None:
    said = home.says("vault_read", path="letter.docx")
    assert said.startswith('<untrusted source="letter.docx (from a saved file)">')
    assert home.context.taint.sources == ["letter.docx (from a saved file)"]


def test_a_passage_that_search_finds_has_its_page_and_is_a_strangers(home: House) -> None:
    home.found.append(replace(hit("papers/tea.pdf", (8, 9), "about tea"), headings=("page 3",)))
    said = home.says("search_vault", query="tea")
    assert "1. papers/tea.pdf, page 3, lines 8-9\nabout tea" in said
    assert said.startswith('<untrusted source="papers/tea.pdf (from a saved file)">')
    assert home.context.taint


def test_a_search_names_the_files_that_have_its_words_in_their_names(home: House) -> None:
    write(home.vault.place.root / "Pictures/kitchen-plan.png", PNG)
    write(home.vault.place.root / "Plan of the kitchen.canvas", "{}")
    said = home.says("search_vault", query="Kitchen plan")
    named = "(files that have these words in their names: Pictures/kitchen-plan.png, Plan of the kitchen.canvas)"
    assert "nothing was found" in said and named in said
    assert "files that have" not in home.says("search_vault", query="kitchen sink")


def origin(vault: Vault, *mine: str) -> TextOrigin:
    return text_origin_of(replace(vault, options=replace(vault.options, mine=lambda: mine)))


def test_the_person_says_which_files_are_theirs(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"a.md": "x\n"})
    table = xlsx({"a": [["b"]]})
    for mine, path, is_mine in (
        ("thesis", "thesis/one/a.pdf", True),
        ("thesis/*", "thesis/one/a.pdf", True),
        ("*.xlsx", "money/a.xlsx", True),
        ("thesis", "thesis-of-another/a.pdf", False),
        ("thesis", "a.pdf", False),
    ):
        assert (origin(vault, mine).source(path, table) == "") is is_mine, (mine, path)
    clipped = b"---\nsource: https://evil.example/a\n---\ntext\n"
    assert origin(vault, "*").source("clip.md", clipped), "a note says itself where it comes from"
