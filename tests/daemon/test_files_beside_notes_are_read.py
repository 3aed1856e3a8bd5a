"""The daemon reads attachments beside its other work: notes first, then a few files at a time."""

from pathlib import Path

import pytest

from agent.workspace.index_status import indexed_hashes
from tests.attachments.files import pdf
from tests.daemon.house import House, living, on_disk
from tests.vaults import write


def attached(house: House) -> set[str]:
    return {*indexed_hashes(house.index.files, attachments=True)}


def test_what_is_there_at_the_start_and_what_comes_is_found(root: Path) -> None:
    write(root / "papers/a.pdf", pdf("A page about a bilby."))
    with living(root) as house:
        assert house.index.known() == on_disk(root), "the notes were first"
        house.until(lambda: attached(house) == {"papers/a.pdf"}, "the file is indexed")
        assert house.finds("bilby") == ["papers/a.pdf"]
        write(root / "b.pdf", pdf("Another about a numbat."))
        (root / "papers/a.pdf").rename(root / "papers/c.pdf")
        house.until(lambda: attached(house) == {"papers/c.pdf", "b.pdf"}, "the index follows")
        assert (house.finds("numbat"), house.finds("bilby")) == (["b.pdf"], ["papers/c.pdf"])
        (root / "b.pdf").unlink()
        house.until(lambda: attached(house) == {"papers/c.pdf"}, "the deleted file is gone")
        write(root / "note.md", "a quokka\n")
        house.catches_up()
        assert house.finds("quokka") == ["note.md"]


def test_a_note_does_not_wait_for_many_files(root: Path) -> None:
    for number in range(120):
        write(root / f"papers/{number}.pdf", pdf(*(f"page {page} of paper {number}" for page in range(20))))
    with living(root) as house:
        write(root / "now.md", "a numbat\n")
        house.catches_up()
        assert house.finds("numbat") == ["now.md"]
        assert len(attached(house)) < 120, "they are still being read"
        house.until(lambda: len(attached(house)) == 120, "all are read")
        assert not any(house.parts.table.problems().values())


@pytest.mark.parametrize("change", ["keep", "drop"])
def test_an_index_that_was_lost_gets_them_again(root: Path, change: str) -> None:
    write(root / "a.pdf", pdf("A page about a bilby."))
    with living(root) as house:
        house.until(lambda: attached(house) == {"a.pdf"}, "the file is indexed")
    if change == "drop":
        (root / "a.pdf").unlink()
    with living(root) as house:
        house.index.files.ask_for_rebuild("asked for")
        write(root / "note.md", "a quokka\n")
        house.catches_up()
        house.until(lambda: not house.index.files.damage_met(), "it is rebuilt")
        wanted = {"a.pdf"} if change == "keep" else set()
        write(root / "again.pdf", pdf("Something."))
        house.until(lambda: attached(house) == wanted | {"again.pdf"}, "the file is indexed again")
