"""A start reads only the files that git cannot vouch for, and still finds every edit, whenever it was made."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.events.types import NoteDeleted, NoteEdited
from agent.watch.scan import scan
from agent.watch.snapshot import COARSE_NS, FileStat, Snapshot, is_settled
from agent.watch.watcher import Watcher
from tests.vaults import blob_id, write
from tests.watch.desk import FAR_OFF, LONG_AGO, Desk, apply, desk, on_disk
from tests.watch.saves import SAVES

NOTES = {f"{n % 3}/{n}.md": f"note {n}" for n in range(12)}
PATHS = ["0/0.md", "1/1.md", "2/2.md", "new.md", "0/new/new.md"]
TEXTS = ["note 0", "note 1", "note 2", "another text"]
EDITS = st.lists(
    st.tuples(
        st.sampled_from([*SAVES, "remove", "move"]), st.sampled_from(PATHS), st.sampled_from(TEXTS), st.booleans()
    ),
    max_size=4,
)


def starting(root: Path, far_off: bool = True) -> tuple[Desk, list[str]]:
    """A desk whose watcher has taken nothing as known yet, and the hashes that it asks for from now on."""
    hashed: list[str] = []

    def counted(data: bytes) -> str:
        hashed.append(blob_id(data))
        return hashed[-1]

    on = desk(root, start=FAR_OFF if far_off else LONG_AGO, hash=counted)
    for path, text in NOTES.items():
        on.save(path, text)
    on.watcher = Watcher.watch(root, on.watcher.facts, on.clock, {})
    hashed.clear()
    return on, hashed


def look(on: Desk) -> None:
    on.watcher.look(on.clock.monotonic())


def next_moment(root: Path) -> None:
    """Let the file system's clock go on, so that a write has other times than all before."""
    probe = root / ".probe"
    write(probe, "")
    before = probe.stat().st_ctime_ns
    while probe.stat().st_ctime_ns == before:
        write(probe, "")


def edit(root: Path, how: str, path: str, text: str, *, keeps_time: bool) -> Iterator[str]:
    """Save a note as some program does, with the time of before or not; yields the paths that have changed."""
    target = root / path
    before = target.stat() if target.is_file() else None
    if how == "remove":
        target.unlink(missing_ok=True)
    elif how == "move" and before is not None:
        target.rename(root / "moved.md")
        yield "moved.md"
    elif how != "move":
        if before is None:
            write(target, "")
        for name in SAVES[how](target, text.encode()):
            assert name is None
        if keeps_time and before is not None:
            os.utime(target, ns=(before.st_atime_ns, before.st_mtime_ns))
    yield path


def edit_all(on: Desk, edits: list[tuple[str, str, str, bool]], *, hinted: bool = False) -> None:
    next_moment(on.root)
    for how, path, text, keeps_time in edits:
        for each in edit(on.root, how, path, text, keeps_time=keeps_time):
            if hinted:
                on.watcher.hints.put(os.path.realpath(on.root / each))
    for file in on.root.rglob(".#*"):
        file.unlink()  # Emacs's lock, so that it can be made again
    on.keep()


def test_a_vault_that_lies_still_is_not_read(tmp_path: Path) -> None:
    on, hashed = starting(tmp_path)
    look(on)
    on.watcher.know(on_disk(tmp_path), frozenset())
    assert on.settle() == [] and hashed == []
    state = on.watcher.state()
    assert state.files == len(NOTES) + 1 and state.last_scan is not None and state.last_scan.reason == "start"
    write(tmp_path / "0/0.md", "later")
    assert [event.path for event in on.scan()] == ["0/0.md"]
    assert set(hashed) == {blob_id(b"later"), blob_id(b"note 0")}, "and the version before, which git has"


def test_only_what_is_in_doubt_is_read(tmp_path: Path) -> None:
    on, hashed = starting(tmp_path)
    look(on)
    known = on_disk(tmp_path)
    known["0/3.md"] = blob_id(b"what git saw before it could no longer read the file")
    on.watcher.know(known, frozenset({"0/3.md", "1/4.md"}))
    assert [event.path for event in on.settle()] == ["0/3.md"]
    assert set(hashed) == {blob_id(b"note 3"), blob_id(b"note 4")}


def test_all_is_read_when_git_vouches_for_nothing(tmp_path: Path) -> None:
    on, hashed = starting(tmp_path)
    look(on)
    on.watcher.know(on_disk(tmp_path), None)
    assert on.settle() == [] and len(hashed) == len(NOTES)


def test_all_is_read_when_the_times_are_too_new_to_say_anything(tmp_path: Path) -> None:
    on, hashed = starting(tmp_path, far_off=False)
    look(on)
    on.watcher.know(on_disk(tmp_path), frozenset())
    assert on.settle() == [] and len(hashed) == len(NOTES)


def test_without_a_look_the_first_poll_looks(tmp_path: Path) -> None:
    on, hashed = starting(tmp_path)
    on.watcher.know(on_disk(tmp_path), frozenset())
    assert on.settle() == [] and len(hashed) == len(NOTES)


def test_what_is_gone_or_new_or_no_note_is_found(tmp_path: Path) -> None:
    on, hashed = starting(tmp_path)
    write(tmp_path / "film.mp4", "a film")
    (tmp_path / "0/0.md").unlink()
    look(on)
    known = on_disk(tmp_path) | {"0/0.md": blob_id(b"note 0")}
    del known["1/1.md"]  # git ignores it, say
    on.watcher.know(known, frozenset())
    events = on.settle()
    assert {event.path for event in events} == {"0/0.md", "1/1.md"} and NoteDeleted in map(type, events)
    assert hashed.count(blob_id(b"note 1")) and len(hashed) <= 3
    write(tmp_path / "film.mp4", "another film")
    assert [event.path for event in on.scan()] == ["film.mp4"]


def test_a_look_at_an_empty_folder_deletes_nothing(tmp_path: Path) -> None:
    on, _ = starting(tmp_path / "vault")
    known = on_disk(on.root)
    on.root.rename(tmp_path / "away")
    on.root.mkdir()
    look(on)
    on.watcher.know(known, frozenset())
    assert on.settle() == [] and "nothing is left" in on.watcher.state().problem


def test_a_folder_that_takes_another_s_place_is_read(tmp_path: Path) -> None:
    """Its files have kept all their times, and only their inodes say that they are others."""
    on, _ = starting(tmp_path)
    write(tmp_path / ".aside/0.md", "note X")
    os.utime(tmp_path / ".aside/0.md", ns=(0, (tmp_path / "0/0.md").stat().st_mtime_ns))
    next_moment(tmp_path)
    look(on)
    on.watcher.know(on_disk(tmp_path), frozenset())
    before = (tmp_path / ".aside/0.md").stat()
    (tmp_path / "0").rename(tmp_path / ".old")
    (tmp_path / ".aside").rename(tmp_path / "0")
    assert (tmp_path / "0/0.md").stat().st_ctime_ns == before.st_ctime_ns
    edited = {event.path for event in on.scan() if isinstance(event, NoteEdited)}
    assert edited == {"0/0.md"}


@settings(max_examples=60, deadline=None)
@given(EDITS, EDITS, EDITS, st.booleans(), st.booleans())
def test_whenever_a_note_was_saved_it_is_found(
    asleep: list[tuple[str, str, str, bool]],
    early: list[tuple[str, str, str, bool]],
    late: list[tuple[str, str, str, bool]],
    hinted: bool,
    is_sure: bool,
) -> None:
    """Before the look, before or after git was asked, with hints or without; in any style, with any times."""
    with tempfile.TemporaryDirectory() as folder:
        on, _ = starting(Path(folder))
        edit_all(on, asleep)
        look(on)
        edit_all(on, early, hinted=hinted)
        known = visible(on)
        edit_all(on, late, hinted=hinted)
        on.watcher.know(known, frozenset() if is_sure else frozenset(PATHS[:2]))
        apply(known, on.settle())
        if hinted:
            assert known == visible(on), "the hints were enough"
        apply(known, on.scan())
        assert known == visible(on)
        assert on.scan() == []


def visible(on: Desk) -> dict[str, str]:
    return {path: hash for path, hash in on_disk(on.root).items() if not path.startswith(".")}


def test_times_that_a_later_write_can_leave_are_not_trusted() -> None:
    now = 1_700_000_000_123_456_789
    assert is_settled(FileStat(1, now - 200_000_000, now - 200_000_000, 1), now)
    assert not is_settled(FileStat(1, now - 50_000_000, now - 50_000_000, 1), now)
    assert not is_settled(FileStat(1, now - COARSE_NS, now, 1), now), "a time that was put back"
    whole = 1_700_000_000_000_000_000
    assert not is_settled(FileStat(1, whole - 1_000_000_000, whole - 1_000_000_000, 1), whole + 1), (
        "times of two seconds"
    )
    assert is_settled(FileStat(1, whole - 3_000_000_000, whole - 3_000_000_000, 1), whole)
    known = Snapshot.of({"a": "A", "b": "B"}, {"a": FileStat(1, 5, 6, 7), "b": FileStat(1, now, now, 1)}, now)
    assert known.differing({"a": FileStat(1, 5, 6, 7), "b": FileStat(1, now, now, 1)}).keys() == {"b"}


def test_a_scan_against_nothing_and_then_a_snapshot_is_a_scan_against_it(tmp_path: Path) -> None:
    on, _ = starting(tmp_path)
    known = on_disk(tmp_path) | {"gone.md": "G"}
    del known["2/2.md"]
    look(on)
    first = scan(tmp_path, Snapshot({}), lambda path: False)
    on.watcher.know(known, frozenset())
    direct = scan(tmp_path, on.watcher.comparison.snapshot, lambda path: False)
    waiting = {path: entry.mark for path, entry in on.watcher.paths.waiting.items()}
    direct.suspects.pop("vault-agent.yaml", None)
    assert waiting == direct.suspects == {"2/2.md": first.suspects["2/2.md"], "gone.md": None}
