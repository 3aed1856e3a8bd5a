"""Files that cannot be read, or would take too much: one line says why, and the next file is read."""

import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from agent.attachments import limits, reading_process
from agent.attachments.cache import ExtractedTexts
from agent.attachments.extract import Extractor
from agent.attachments.limits import MOST_CHARACTERS, MOST_ROWS
from agent.markdown.paged_text import PagedText, TextPart, parse_paged_text
from tests.attachments.files import docx, epub, package, paragraph, pdf, xlsx

HUGE = package({"word/document.xml": b"<document>" + b" " * 120_000_000 + b"</document>"})
BOMB = '<!DOCTYPE d [<!ENTITY a "{}">{}]><document><body><p><t>&b9;</t></p></body></document>'.format(
    "x" * 1000, "".join(f'<!ENTITY b{n} "{(f"&b{n - 1};" if n else "&a;") * 10}">' for n in range(10))
)
LOCK = '<encryption><EncryptionMethod Algorithm="http://example.org/drm"/></encryption>'
UNREADABLE = {
    "locked.pdf": (pdf("secret", encrypted=True), "it is locked with a password"),
    "broken.pdf": (b"%PDF-1.7 nothing more", "it is damaged, or no PDF"),
    "scan.pdf": (pdf("", ""), "its 2 pages are pictures, without text"),
    "locked.docx": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 and so on", "it is locked with a password, or of an old format"),
    "picture.docx": (b"\x89PNG", "it is damaged, or not what its name says"),
    "cut.xlsx": (xlsx({"a": [["b"]]})[:-90], "it is damaged, or not what its name says"),
    "other.pptx": (docx(paragraph("a")), "it has no text"),
    "bomb.docx": (HUGE, "unpacked, it is far too large"),
    "entities.docx": (package({"word/document.xml": BOMB}), "its document is missing or damaged"),
    "deep.docx": (docx("<w:r>" * 5000 + "</w:r>" * 5000), "its document is missing or damaged"),
    "locked.epub": (epub(("a", "b"), more={"META-INF/encryption.xml": LOCK}), "it is locked by its publisher"),
    "data.txt": (b"\0\1\2\3" * 100, "it is no text"),
    "empty.csv": (b"", "it has no text"),
    "cut.canvas": (b'{"nodes": [{"id": "a", "ty', "it is damaged, or no canvas"),
    "list.canvas": (b"[1]", "it is damaged, or no canvas"),
    "deep.canvas": (b'{"nodes":' + b"[" * 100_000, "it is damaged, or no canvas"),
    "cut.base": (b"views:\n  - type: [table", "it is damaged, or no table of notes"),
    "aliases.base": (b"a: &a [x]\nb: *a\n", "it is damaged, or no table of notes"),
}


@pytest.fixture(scope="module")
def extractor() -> Iterator[Extractor]:
    with closing(Extractor()) as made:
        yield made


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_file_that_cannot_be_read_has_a_reason(extractor: Extractor, name: str) -> None:
    data, problem = UNREADABLE[name]
    found = extractor.extract(f".{name.rpartition('.')[2]}", data)
    assert found.problem.startswith(problem) and not found.has_text
    assert extractor.extract(".txt", b"next").lines() == ["next"]


def test_long_texts_and_tables_are_read_in_part(extractor: Extractor) -> None:
    rows = extractor.extract(".xlsx", xlsx({"all": [[f"row {at}"] for at in range(MOST_ROWS + 10)]}))
    assert len(rows.lines()) == MOST_ROWS + 2 and rows.problem == f"only the first {MOST_ROWS} rows of a table are read"
    text = extractor.extract(".txt", b"x" * (MOST_CHARACTERS + 1))
    assert len(text.parts[0].text) == MOST_CHARACTERS and "only its first" in text.problem


def _apart(monkeypatch: pytest.MonkeyPatch, read: object) -> PagedText:
    """What the process of one file gives if its reader does what `read` does."""
    monkeypatch.setattr(reading_process, "reader_for", lambda ending: read)
    return parse_paged_text(reading_process._read_apart(".pdf", b"data"))


def test_a_reader_can_reach_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def escape(data: bytes) -> PagedText:
        said = []
        attempts: dict[str, Callable[[], object]] = {
            "network": socket.socket,
            "file": lambda: open("/etc/hostname"),  # noqa: PTH123, SIM115
            "write": lambda: (tmp_path / "left").write_text("x"),
            "program": lambda: subprocess.run(["true"], check=True),
        }
        for name, attempt in attempts.items():
            try:
                attempt()
            except OSError:
                said.append(name)
        return PagedText((TextPart("", " ".join(said)),))

    assert _apart(monkeypatch, escape).lines() == ["network file write program"]


def test_a_reader_that_crashes_hangs_or_eats_memory_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "crashed" in _apart(monkeypatch, lambda data: os.abort()).problem
    assert _apart(monkeypatch, lambda data: bytes(limits.MEMORY)).problem == "reading it takes too much memory"
    monkeypatch.setattr(reading_process, "SECONDS", 0.5)
    begun = time.monotonic()
    assert "seconds" in _apart(monkeypatch, lambda data: sum(iter(int, 1))).problem
    assert time.monotonic() - begun < 10


def test_what_cannot_be_printed_is_left_out(extractor: Extractor) -> None:
    assert extractor.extract(".txt", b"a\x1b[8mb\x07c\x0cd\te").lines() == ["a[8mbcd\te"]


def test_a_file_is_extracted_once(tmp_path: Path) -> None:
    with closing(Extractor()) as extractor:
        texts = ExtractedTexts(tmp_path / "cache", 1000, extractor)
        assert texts.text_of("a/b.txt", b"first", "d1").lines() == ["first"]
        assert texts.text_of("c.txt", b"not read", "d1").lines() == ["first"], "the hash is what counts"
        (kept,) = (each for each in (tmp_path / "cache").rglob("*.txt"))
        kept.write_bytes(kept.read_bytes().replace(b"first", b"wrong"))
        assert texts.text_of("a/b.txt", b"again", "d1").lines() == ["again"], "a damaged one is made anew"
        texts.forget_others({"d2"})
        assert not kept.exists()
        assert texts.text_of("big.txt", b"x" * 1001, "d3").problem == "it is larger than 0.001 MB"


def test_a_process_that_was_killed_is_started_again() -> None:
    with closing(Extractor()) as extractor:
        assert extractor.extract(".txt", b"one").lines() == ["one"]
        process = extractor._process
        assert process is not None
        process.kill()
        process.wait()
        assert extractor.extract(".txt", b"two").lines() == ["two"]
