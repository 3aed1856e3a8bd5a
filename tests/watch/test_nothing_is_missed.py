"""Hints may come late, twice or never: what is told is what happened to the files."""

import logging
import os
import shutil
import tempfile
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.events.types import FileChanged, NoteCreated, NoteDeleted, NoteEdited, Origin
from agent.watch.snapshot import FileStat, Snapshot
from agent.watch.watcher import Pace
from tests.vaults import blob_id, git, make_vault, write
from tests.watch.desk import FAR_OFF, Desk, apply, desk, on_disk, without_markers

PATHS = ["a.md", "b.md", "d/a.md", "d/e/c.md", "x.txt", ".hidden/a.md"]
TEXTS = ["", "one", "two", "---\nid: I1\n---\none", "---\nid: I1\n---\ntwo"]
OPERATIONS = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(PATHS), st.sampled_from(TEXTS)),
    st.tuples(st.just("move"), st.sampled_from(PATHS), st.sampled_from(PATHS)),
    st.tuples(st.just("remove"), st.sampled_from(PATHS), st.just("")),
    st.tuples(st.just("drop folder"), st.just("d"), st.just("")),
    st.tuples(st.just("wait"), st.just(""), st.sampled_from(["0.01", "0.25", "1.5", "300"])),
)


def perform(on: Desk, name: str, path: str, more: str) -> list[str]:
    """Do one thing to the files; returns the paths that the system would tell of."""
    target = on.root / path
    if name == "write":
        on.save(path, more)
        return [path]
    if name == "move" and target.is_file() and path != more:
        (on.root / more).parent.mkdir(parents=True, exist_ok=True)
        target.rename(on.root / more)
        return [path, more]
    if name == "remove" and target.is_file():
        target.unlink()
        return [path]
    if name == "drop folder" and target.is_dir():
        shutil.rmtree(target)
    return []


@settings(max_examples=200)
@given(st.lists(st.tuples(OPERATIONS, st.booleans(), st.booleans()), max_size=25))
def test_what_was_told_always_adds_up_to_what_is_there(
    script: list[tuple[tuple[str, str, str], bool, bool]],
) -> None:
    """Whatever happens, whichever hints are lost, and whenever somebody polls."""
    with tempfile.TemporaryDirectory() as folder:
        on = desk(Path(folder), {"a.md": "one", "d/a.md": "two"})
        known = on_disk(on.root)
        for (name, path, more), hinted, polled in script:
            if name == "wait":
                on.clock.advance(float(more))
            for each in perform(on, name, path, more):
                if hinted:
                    on.watcher.hints.put(os.path.realpath(on.root / each))
            if polled:
                apply(known, on.poll())
        apply(known, on.settle())
        apply(known, on.scan())
        assert known == visible(on)
        assert on.scan() == []


def visible(on: Desk) -> dict[str, str]:
    return {path: hash for path, hash in on_disk(on.root).items() if not path.startswith(".")}


def test_with_every_hint_lost_the_next_scan_finds_all(tmp_path: Path) -> None:
    notes = {f"{n % 7}/{n}.md": f"{n}" for n in range(60)}
    on = desk(tmp_path, notes)
    write(on.root / "0/0.md", "changed")
    (on.root / "1/1.md").unlink()
    on.save("new/note.md", "new")
    assert on.settle() == []
    assert {type(event) for event in on.scan()} == {NoteEdited, NoteDeleted, NoteCreated}
    assert on.watcher.pace.scan <= 300 - on.watcher.pace.longest - on.watcher.pace.absence


def test_an_overflow_makes_it_look_at_everything(tmp_path: Path) -> None:
    on = desk(tmp_path, {"a.md": "one", "b.md": "two"})
    write(on.root / "a.md", "changed")
    on.watcher.hints.overflow("the system dropped events")
    assert [event.path for event in on.settle()] == ["a.md"]
    assert reason(on) == "the system dropped events"


def test_more_hints_than_it_keeps_are_an_overflow(tmp_path: Path) -> None:
    on = desk(tmp_path, {"a.md": "one"})
    write(on.root / "a.md", "changed")
    for number in range(5000):
        on.watcher.hints.put(os.path.join(os.path.realpath(on.root), f"{number}.md"))  # noqa: PTH118
    assert [event.path for event in on.settle()] == ["a.md"]
    assert reason(on) == "too many changes at once"


def test_a_complaint_of_the_system_s_watcher_is_an_overflow(tmp_path: Path) -> None:
    on = desk(tmp_path, {"a.md": "one"})
    on.listen()
    try:
        logging.getLogger("watchdog.observers").warning("queue overflowed")
        on.settle()
        assert reason(on) == "the system dropped events"
    finally:
        on.watcher.close()


def checkout_under_load(folder: Path, count: int) -> None:
    """A checkout of `count` files while other threads keep the processor busy; no scan that time alone would bring."""
    notes = {f"notes/{n % 50}/{n}.md": f"# {n}\n\nold\n" for n in range(count)}
    root = make_vault(folder, notes).place.root
    git(root, "checkout", "-q", "-b", "other")
    for path in notes:
        write(root / path, f"# {path}\n\nnew\n")
    git(root, "commit", "-q", "-a", "-m", "new")
    git(root, "checkout", "-q", "main")
    on = desk(root, notes)
    on.listen()
    stop = threading.Event()

    def spin() -> None:
        while not stop.is_set():
            sum(range(1000))

    busy = [threading.Thread(target=spin) for _ in range(2)]
    for thread in busy:
        thread.start()
    try:
        git(root, "checkout", "-q", "other")
        known = {path: blob_id(text.encode()) for path, text in notes.items()}
        before = resident()
        on.hear()
        apply(known, without_markers(on.settle()))
        assert resident() - before <= 150 << 20
        assert known == on_disk(root)
    finally:
        stop.set()
        for thread in busy:
            thread.join()
        on.watcher.close()


def resident() -> int:
    """The bytes of memory that this process holds; 0 where that cannot be told."""
    statistics = Path("/proc/self/statm")
    return int(statistics.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if statistics.exists() else 0


def test_a_checkout_under_load_is_seen_whole(tmp_path: Path) -> None:
    checkout_under_load(tmp_path, 1_000)


@pytest.mark.chaos
def test_a_checkout_of_10_000_files_under_load_is_seen_whole(tmp_path: Path) -> None:
    checkout_under_load(tmp_path, 10_000)


def test_many_changes_are_told_in_portions(tmp_path: Path) -> None:
    on = desk(tmp_path, pace=Pace(batch=10))
    for number in range(35):
        on.save(f"{number}.md", "x")
    on.clock.advance(on.watcher.pace.scan)
    assert on.poll() == []
    on.clock.advance(on.watcher.pace.quiet)
    portions = []
    while (events := on.poll()) or on.watcher.state().waiting:
        portions.append(len(events))
    assert portions == [10, 10, 10, 5]


def test_waiting_ends_with_a_hint_or_when_there_is_work(tmp_path: Path) -> None:
    on = desk(tmp_path, {"a.md": "one"}, pace=Pace(batch=1))
    for number in range(3):
        on.save(f"{number}.md", "x")
    on.clock.advance(on.watcher.pace.scan)
    on.poll()
    on.clock.advance(on.watcher.pace.quiet)
    assert len(on.poll()) == 1
    assert not on.watcher.wait(on.clock.monotonic(), 3600), "two more changes are there to be told"
    assert len(on.settle()) == 2
    on.watcher.hints.put(os.path.realpath(on.root / "a.md"))
    assert on.watcher.wait(on.clock.monotonic(), 3600)


def test_a_moved_head_says_where_to_look(tmp_path: Path) -> None:
    on = desk(tmp_path, {"a.md": "one"})
    write(on.root / "a.md", "changed")
    on.moved.extend(["a.md", ".gitignore", "gone.md"])
    on.watcher.hints.put(os.path.realpath(on.root / ".git/HEAD"))
    assert [event.path for event in on.settle()] == ["a.md"]


def test_what_changed_while_nobody_watched_is_told_at_the_start(tmp_path: Path) -> None:
    write(tmp_path / "new.md", "new")
    write(tmp_path / "same.md", "same")
    write(tmp_path / "picture.png", "png")
    on = desk(tmp_path / "other")
    known = {"same.md": blob_id(b"same"), "gone.md": blob_id(b"gone")}
    on.root, on.watcher = tmp_path, on.watcher.watch(tmp_path, on.watcher.facts, on.clock, known)
    shutil.rmtree(tmp_path / "other")
    told = on.settle()
    assert {type(event): event.path for event in told} == {NoteCreated: "new.md", NoteDeleted: "gone.md"}


def test_two_edits_of_one_length_in_one_tick_of_the_clock_are_both_seen(tmp_path: Path) -> None:
    on = desk(tmp_path, {"a.md": "one"})
    write(on.root / "a.md", "two")
    assert len(on.scan()) == 1
    stat = (on.root / "a.md").stat()
    (on.root / "a.md").write_text("six")
    os.utime(on.root / "a.md", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert len(on.scan()) == 1


def test_other_files_are_told_without_looking_into_them(tmp_path: Path) -> None:
    on = desk(tmp_path)
    write(on.root / "board.canvas", "{}")
    (on.root / "film.mp4").write_bytes(b"0" * (2 << 20))
    assert sorted(on.scan(), key=lambda event: event.path) == [
        FileChanged("board.canvas", True, Origin.HUMAN),
        FileChanged("film.mp4", True, Origin.HUMAN),
    ]
    (on.root / "film.mp4").unlink()
    assert on.scan() == [FileChanged("film.mp4", False, Origin.HUMAN)]


def test_what_is_left_out_is_gone_and_comes_back_when_it_is_not(tmp_path: Path) -> None:
    on = desk(tmp_path, {"drafts/a.md": "one", "b.md": "two"})
    on.ignored.add("drafts")
    assert [type(event) for event in on.scan()] == [NoteDeleted]
    write(on.root / "drafts/a.md", "changed")
    on.watcher.hints.put(os.path.realpath(on.root / "drafts/a.md"))
    assert on.settle() == []
    assert on.scan() == []
    on.ignored.clear()
    assert [type(event) for event in on.scan()] == [NoteCreated]


def reason(on: Desk) -> str:
    """Why it looked at everything the last time."""
    last = on.watcher.state().last_scan
    return last.reason if last else ""


def test_links_are_not_followed(tmp_path: Path) -> None:
    write(tmp_path / "outside/secret.md", "secret")
    on = desk(tmp_path / "vault")
    (on.root / "link.md").symlink_to(tmp_path / "outside/secret.md")
    (on.root / "folder").symlink_to(tmp_path / "outside")
    assert on.scan() == []


def test_a_vault_that_is_not_there_is_not_a_vault_that_was_emptied(tmp_path: Path) -> None:
    on = desk(tmp_path / "vault", {"a.md": "one"})
    on.root.rename(tmp_path / "elsewhere")
    assert on.scan() == []
    assert "is it mounted?" in on.watcher.state().problem
    (tmp_path / "elsewhere").rename(on.root)
    assert on.scan() == []
    assert "mounted" not in on.watcher.state().problem


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="the superuser can read everything")
def test_what_cannot_be_read_is_said_and_not_taken_for_deleted(tmp_path: Path) -> None:
    on = desk(tmp_path, {"closed/a.md": "one", "b.md": "two"})
    (on.root / "closed").chmod(0)
    try:
        write(on.root / "c.md", "three")
        assert [event.path for event in on.scan()] == ["c.md"]
        assert "closed" in on.watcher.state().problem
    finally:
        (on.root / "closed").chmod(0o755)
    assert on.scan() == []


def test_without_hints_it_looks_more_often_and_says_so(tmp_path: Path) -> None:
    on = desk(tmp_path, {"a.md": "one"})
    on.root.rename(tmp_path.with_name("away"))
    try:
        on.watcher.listen()
        state = on.watcher.state()
        assert not state.hints
        assert "looking at all files instead" in state.problem
    finally:
        on.watcher.close()
        tmp_path.with_name("away").rename(on.root)
    try:
        on.clock.advance(on.watcher.pace.scan)
        on.poll()
        on.listen()
    finally:
        on.watcher.close()


def test_a_file_that_looks_as_it_did_is_not_read_again(tmp_path: Path) -> None:
    read: list[bytes] = []

    def counted(data: bytes) -> str:
        read.append(data)
        return blob_id(data)

    on = desk(tmp_path, {f"{n}.md": f"{n}" for n in range(20)}, start=FAR_OFF, hash=counted)
    read.clear()
    assert on.scan() == []
    on.watcher.hints.put(str(on.root / "4.md"))
    assert on.settle() == []
    assert read == []
    write(on.root / "3.md", "three")
    assert len(on.scan()) == 1
    assert set(read) == {b"three", b"3"}


@pytest.mark.parametrize(
    ("stamp", "age_ns", "trusted"),
    [
        (1_234_567_890_123_456_789, 50_000_000, False),
        (1_234_567_890_123_456_789, 200_000_000, True),
        (1_234_567_890_000_000_000, 200_000_000, False),  # perhaps a file system that counts in steps of two seconds
        (1_234_567_890_000_000_000, 3_000_000_000, True),
    ],
)
def test_times_are_trusted_once_a_later_write_must_change_them(stamp: int, age_ns: int, trusted: bool) -> None:
    snapshot, stat = Snapshot.of({}), FileStat(1, stamp, stamp, 1)
    snapshot.record("a.md", "hash", stat, stamp + age_ns)
    assert ("a.md" not in snapshot.differing({"a.md": stat})) is trusted
