"""Nothing happens, nothing is done; and what we write ourselves is nobody's news."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from agent.events.types import NoteDeleted, NoteEdited, NoteMoved, Origin
from agent.vault.change import Stamp
from agent.watch.compare import Facts
from agent.watch.watcher import Pace, Watcher
from tests.fakes import FakeClock
from tests.vaults import blob_id, make_vault, write
from tests.watch.desk import FAR_OFF, desk, without_markers


def test_without_hints_a_poll_looks_at_nothing_until_the_next_scan(tmp_path: Path) -> None:
    on = desk(tmp_path, {"a.md": "one"})
    scanned = on.watcher.state().last_scan
    write(on.root / "a.md", "changed")
    while on.clock.monotonic() < on.watcher.pace.blind - 2:
        assert on.poll() == []
        on.clock.advance(0.5)
    assert on.watcher.state().last_scan is scanned
    assert on.watcher.next_due() == pytest.approx(on.watcher.pace.blind, abs=2)


def test_ten_quiet_minutes_are_a_scan_or_two_that_read_no_file(tmp_path: Path) -> None:
    hashed: list[int] = []

    def counted(data: bytes) -> str:
        hashed.append(len(data))
        return blob_id(data)

    on = desk(tmp_path, {f"{n}.md": f"{n}" for n in range(50)}, start=FAR_OFF, hash=counted)
    on.listen()
    try:
        on.scan()
        hashed.clear()
        polls, scans = 0, set()
        end = on.clock.monotonic() + 600
        while on.clock.monotonic() < end:
            assert on.poll() == []
            polls += 1
            scans.add(id(on.watcher.state().last_scan))
            due = on.watcher.next_due()
            assert due is not None
            on.clock.advance(max(0.0, due - on.clock.monotonic()))
        assert polls <= 10
        assert hashed == []
    finally:
        on.watcher.close()


def test_a_change_that_is_not_told_of_is_found_soon_after_one_that_is(tmp_path: Path) -> None:
    pace = Pace(still=3600.0)
    on = desk(tmp_path, {"a.md": "one", "b.md": "two"}, start=FAR_OFF, pace=pace)
    on.listen()
    on.watcher.close()  # from now on the system tells of nothing
    on.clock.advance(pace.blind)
    assert on.settle() == []
    on.save("b.md", "changed")
    on.clock.advance(2 * pace.scan)
    assert on.settle() == []
    on.watcher.hints.put(str(on.root.resolve() / "a.md"))
    assert on.settle() == []
    on.clock.advance(pace.scan)
    assert [event.path for event in on.settle()] == ["b.md"]


def test_a_change_that_is_not_told_of_is_found_within_the_hour(tmp_path: Path) -> None:
    pace = Pace(still=3600.0)
    on = desk(tmp_path, {"a.md": "one"}, start=FAR_OFF, pace=pace)
    on.listen()
    on.watcher.close()
    on.clock.advance(pace.blind)
    assert on.settle() == []
    on.save("a.md", "changed")
    on.clock.advance(pace.still)
    assert [event.path for event in on.settle()] == ["a.md"]


def test_hints_about_what_nobody_wrote_are_not_kept(tmp_path: Path) -> None:
    on = desk(tmp_path, {"a.md": "one"})
    for path in (".git/index.lock", ".git/objects/ab/cd", ".obsidian/workspace.json", ".a.md.swp", "a.md~", "4913"):
        on.watcher.hints.put(str(on.root.resolve() / path))
    assert not on.watcher.hints.wait(0)
    assert on.watcher.state().waiting == 0


def test_looking_at_a_note_is_no_change(tmp_path: Path) -> None:
    on = desk(tmp_path, {"a.md": "one"})
    on.listen()
    try:
        (on.root / "a.md").read_bytes()
        (on.root / "a.md").touch()
        write(on.root / "a.md", "one")
        on.hear()
        assert without_markers(on.settle()) == []
    finally:
        on.watcher.close()


def test_our_own_writes_are_marked_and_a_person_s_are_not(tmp_path: Path) -> None:
    """With the real vault: its journal says what it wrote."""
    vault = make_vault(tmp_path, {"a.md": "one\n", "b.md": "two\n", "c.md": "three\n"})
    root = vault.place.root

    def origins(asked: Sequence[tuple[str, str | None]]) -> list[Origin]:
        written = vault.writer.journal.written()
        return [Origin.OWN if each in written else Origin.HUMAN for each in asked]

    def earlier(asked: object) -> list[bytes | None]:
        return [b"one\n"]

    clock = FakeClock()
    known = {path: blob_id((root / path).read_bytes()) for path in ("a.md", "b.md", "c.md")}
    watcher = Watcher.watch(root, Facts(blob_id, origins, earlier), clock, known)
    on = desk(tmp_path / "other")
    on.root, on.watcher, on.clock = root, watcher, clock
    assert on.settle() == []
    with vault.transaction("append", Stamp("agent")) as transaction:
        transaction.append("a.md", b"more\n")
    write(root / "b.md", "by hand\n")
    events = {event.path: event.origin for event in on.scan()}
    assert events == {"a.md": Origin.OWN, "b.md": Origin.HUMAN}


def test_our_own_moves_and_deletions_are_marked_too(tmp_path: Path) -> None:
    on = desk(tmp_path, {"a.md": "one", "b.md": "two", "c.md": "three"})
    on.own |= {("d.md", blob_id(b"one")), ("b.md", None)}
    (on.root / "a.md").rename(on.root / "d.md")
    (on.root / "b.md").unlink()
    (on.root / "c.md").unlink()
    events = on.scan()
    assert {event.path: event.origin for event in events if isinstance(event, NoteMoved | NoteDeleted)} == {
        "d.md": Origin.OWN,
        "b.md": Origin.OWN,
        "c.md": Origin.HUMAN,
    }


def test_a_save_after_our_own_write_is_the_person_s(tmp_path: Path) -> None:
    on = desk(tmp_path, {"a.md": "one"})
    on.own.add(("a.md", blob_id(b"ours")))
    on.save("a.md", "ours")
    (ours,) = on.scan()
    write(on.root / "a.md", "theirs")
    (theirs,) = on.scan()
    assert isinstance(ours, NoteEdited) and isinstance(theirs, NoteEdited)
    assert (ours.origin, theirs.origin) == (Origin.OWN, Origin.HUMAN)
    assert theirs.before == ours.hash
