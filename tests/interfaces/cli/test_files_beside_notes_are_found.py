"""`search` and `reindex` find the text of PDFs, documents and tables, with the page, and follow each change."""

import re
import shutil
import time
from pathlib import Path

import pytest

from agent.interfaces.cli.main import main
from tests.attachments.files import docx, epub, paragraph, pdf, pptx, xlsx
from tests.interfaces.cli.conftest import Run
from tests.vaults import write

LEASE = pdf("Lease of the flat", "Rent is due on the third day.", "Pets: one ocelot is allowed.\n宠物：可以养一只猫。")


def found(document: dict[str, object]) -> list[tuple[str, list[str]]]:
    hits = document["hits"]
    assert isinstance(hits, list)
    return [(hit["path"], hit["headings"]) for hit in hits]


def test_the_page_is_named(run: Run, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(root / "papers/lease.pdf", LEASE)
    assert found(run("search", "ocelot")) == [("papers/lease.pdf", ["page 3"])]
    assert found(run("search", "养一只猫"))[0] == ("papers/lease.pdf", ["page 3"])
    assert main(["search", "ocelot"]) == 0
    shown = capsys.readouterr().out
    assert "lease  papers/lease.pdf, page 3  " in shown and "Pets: one ocelot is allowed." in shown


def test_each_kind_is_found_and_filters_tell_them_apart(run: Run, root: Path) -> None:
    write(root / "a.docx", docx(paragraph("Animals", "H1") + paragraph("A quokka.")))
    write(root / "b.xlsx", xlsx({"Zoo": [["name", "count"], ["quokka", 3]]}))
    write(root / "c.pptx", pptx(("Slide of a quokka", "")))
    write(root / "d.epub", epub(("The Quokka Book", "Once there was a quokka, and it was small.")))
    write(root / "e.html", b"<h1>Quokka page</h1><p>All about the quokka.</p>")
    write(root / "f.csv", "名称;quokka\n绿茶;3\n".encode("gb18030"))
    write(root / "g.txt", b"a quokka in plain words\n")
    write(root / "note.md", "my quokka\n")
    places = dict(found(run("search", "quokka", "-n", "20")))
    assert places == {
        "a.docx": ["Animals"],
        "b.xlsx": ["sheet Zoo"],
        "c.pptx": ["slide 1"],
        "d.epub": ["The Quokka Book"],
        "e.html": ["Quokka page"],
        "f.csv": [],
        "g.txt": [],
        "note.md": [],
    }
    assert [path for path, _ in found(run("search", "quokka type:xlsx"))] == ["b.xlsx"]
    assert "note.md" not in dict(found(run("search", "quokka kind:attachment", "-n", "20")))


def test_what_happens_to_a_file_is_followed(run: Run, root: Path) -> None:
    write(root / "one.pdf", LEASE)
    run("search", "ocelot")
    (root / "one.pdf").rename(root / "two.pdf")
    assert [path for path, _ in found(run("search", "ocelot"))] == ["two.pdf"]
    write(root / "two.pdf", pdf("Nothing but a numbat."))
    assert [path for path, _ in found(run("search", "numbat"))] == ["two.pdf"]
    assert not found(run("search", '"ocelot" type:pdf')) or "ocelot" not in str(run("search", "ocelot")["hits"])
    (root / "two.pdf").unlink()
    assert "two.pdf" not in dict(found(run("search", "numbat")))


def test_what_git_ignores_is_not_read(run: Run, root: Path) -> None:
    write(root / ".gitignore", "private/\n")
    write(root / "private/lease.pdf", LEASE)
    write(root / ".hidden/lease.pdf", LEASE)
    assert "ocelot" not in str(run("search", "ocelot")["hits"])


def test_what_cannot_be_read_is_named_once_and_found_by_its_name(
    run: Run, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root / "marsupials.pdf", pdf("x", encrypted=True))
    write(root / "large.pdf", LEASE + b"%" * 2_000_000)
    monkeypatch.setenv("VAULT_AGENT_ATTACHMENTS__LARGEST_MEGABYTES", "1")
    first = run("reindex")
    assert first["unread"] == [
        {"path": "large.pdf", "reason": "it is larger than 1 MB"},
        {"path": "marsupials.pdf", "reason": "it is locked with a password"},
    ]
    assert (first["attachments"], run("reindex")["attachments"]) == (2, 0)
    assert found(run("search", "marsupials"))[0] == ("marsupials.pdf", [])
    monkeypatch.setenv("VAULT_AGENT_ATTACHMENTS__LARGEST_MEGABYTES", "5")
    assert run("reindex")["attachments"] == 1
    assert found(run("search", "ocelot")) == [("large.pdf", ["page 3"])]


def test_an_index_built_anew_has_them(run: Run, root: Path) -> None:
    write(root / "lease.pdf", LEASE)
    assert run("reindex")["attachments"] == 1
    assert run("reindex", "--all")["attachments"] == 1
    assert found(run("search", "ocelot")) == [("lease.pdf", ["page 3"])]


def test_a_vault_of_many_kinds_is_read_in_a_bounded_time(run: Run, root: Path) -> None:
    for number in range(60):
        write(root / f"notes/{number}.md", f"# Note {number}\n\nabout wombat{number}\n")
        write(root / f"pdf/{number}.pdf", pdf(f"paper {number}", f"about bilby{number}"))
        write(root / f"docs/{number}.docx", docx(paragraph(f"letter about potoroo{number}")))
        write(root / f"pictures/{number}.png", b"\x89PNG\r\n\x1a\n" + bytes([number]) * 5000)
        write(root / f"boards/{number}.canvas", '{"nodes": [], "edges": []}')
        write(root / f"bases/{number}.base", "views: []\n")
    begun = time.monotonic()
    done = run("reindex")
    assert (done["attachments"], done["unread"]) == (240, [])
    assert found(run("search", "bilby41"))[0] == ("pdf/41.pdf", ["page 2"])
    assert found(run("search", "potoroo7"))[0] == ("docs/7.docx", [])
    assert found(run("search", "wombat59"))[0][0] == "notes/59.md"
    assert time.monotonic() - begun < 90
    shutil.rmtree(root / "pdf")
    assert not re.search("bilby", str(run("search", "bilby41")["hits"]))
