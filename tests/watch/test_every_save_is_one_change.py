"""However a program saves, the person changed the note once, and that is what is told."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from agent.events.types import NoteCreated, NoteDeleted, NoteEdited, NoteMoved, Origin
from agent.markdown.changes import TaskTicked
from tests.vaults import blob_id, git, make_vault, write
from tests.watch.desk import Desk, apply, desk, on_disk, without_markers
from tests.watch.saves import SAVES

OLD = "# Plan\n\n- [ ] approve\n"
NEW = "# Plan\n\n- [x] approve\n"
TICKED = NoteEdited("plan.md", blob_id(OLD.encode()), blob_id(NEW.encode()), Origin.HUMAN, (TaskTicked("approve", 3),))
VIM = shutil.which("vim")
SED = shutil.which("sed")
RSYNC = shutil.which("rsync")


@pytest.mark.parametrize("style", SAVES)
def test_with_hints_each_way_of_saving_is_one_change(tmp_path: Path, style: str) -> None:
    on = listening(tmp_path)
    try:
        for _ in SAVES[style](on.root / "plan.md", NEW.encode()):
            pass
        on.hear()
        assert without_markers(on.settle()) == [TICKED]
    finally:
        on.watcher.close()


@pytest.mark.parametrize("style", SAVES)
def test_without_hints_the_scan_sees_the_same(tmp_path: Path, style: str) -> None:
    on = desk(tmp_path, {"plan.md": OLD})
    for _ in SAVES[style](on.root / "plan.md", NEW.encode()):
        pass
    assert on.scan() == [TICKED]
    assert on.scan() == []


@pytest.mark.parametrize("style", SAVES)
def test_a_scan_in_the_middle_of_a_save_changes_nothing(tmp_path: Path, style: str) -> None:
    steps = len(list(SAVES[style](note(tmp_path / "dry"), NEW.encode())))
    for moment in range(steps):
        on = desk(tmp_path / str(moment), {"plan.md": OLD})
        on.clock.advance(on.watcher.pace.scan)
        events = []
        for number, _ in enumerate(SAVES[style](on.root / "plan.md", NEW.encode())):
            if number >= moment:
                events += on.poll()
                on.clock.advance(0.01)
        assert [*events, *on.settle(), *on.scan()] == [TICKED], f"looked after step {moment}"


@pytest.mark.skipif(not VIM, reason="vim is not installed")
@pytest.mark.parametrize("backup", ["nobackup nowritebackup", "nobackup writebackup", "backup writebackup"])
@pytest.mark.parametrize("copy", ["yes", "no", "auto", "yes,breaksymlink", "auto,breakhardlink"])
def test_vim_saves_once(tmp_path: Path, backup: str, copy: str) -> None:
    on = listening(tmp_path)
    try:
        options = f"set backupcopy={copy} {backup} backupdir=. swapfile directory=."
        edit = "%s/- \\[ \\]/- [x]/"
        command = [str(VIM), "-u", "NONE", "-es", "-c", options, "-c", edit, "-c", "wq", "plan.md"]
        subprocess.run(command, cwd=on.root, check=True, stdin=subprocess.DEVNULL, timeout=60)
        on.hear()
        assert without_markers(on.settle()) == [TICKED]
    finally:
        on.watcher.close()


@pytest.mark.skipif(not SED, reason="sed is not installed")
def test_sed_saves_once(tmp_path: Path) -> None:
    on = listening(tmp_path)
    try:
        subprocess.run([str(SED), "-i", "s/- \\[ \\]/- [x]/", "plan.md"], cwd=on.root, check=True, timeout=60)
        on.hear()
        assert without_markers(on.settle()) == [TICKED]
    finally:
        on.watcher.close()


@pytest.mark.skipif(not RSYNC, reason="rsync is not installed")
@pytest.mark.parametrize("option", ["--times", "--inplace", "--checksum"])
def test_rsync_saves_once(tmp_path: Path, option: str) -> None:
    on = listening(tmp_path / "vault")
    try:
        source = tmp_path / "plan.md"
        source.write_text(NEW)
        subprocess.run([str(RSYNC), option, str(source), "."], cwd=on.root, check=True, timeout=60)
        on.hear()
        assert without_markers(on.settle()) == [TICKED]
    finally:
        on.watcher.close()


def test_a_checkout_of_500_files_is_500_changes(tmp_path: Path) -> None:
    notes = {f"notes/{n % 20}/{n}.md": f"# {n}\n\nold\n" for n in range(500)}
    root = make_vault(tmp_path, notes).place.root
    git(root, "checkout", "-q", "-b", "other")
    for path, text in notes.items():
        write(root / path, text.replace("old", "new"))
    git(root, "mv", "notes/0/0.md", "moved.md")
    git(root, "rm", "-q", "-f", "notes/1/1.md")
    git(root, "commit", "-q", "-a", "-m", "new")
    git(root, "checkout", "-q", "main")
    on = desk(root, notes)
    on.listen()
    try:
        git(root, "checkout", "-q", "other")
        on.moved.extend(git(root, "diff", "--name-only", "main", "other").split())
        on.hear()
        events = without_markers(on.settle())
        kinds = [type(event) for event in events]
        assert (kinds.count(NoteEdited), kinds.count(NoteDeleted), len(kinds)) == (498, 2, 501)
        known = {path: blob_id(text.encode()) for path, text in notes.items()}
        apply(known, events)
        assert known == on_disk(root)
        assert without_markers(on.scan()) == []
    finally:
        on.watcher.close()


@pytest.mark.parametrize("hints", [True, False])
def test_a_rename_is_a_move(tmp_path: Path, hints: bool) -> None:
    on = listening(tmp_path, {"a/one.md": OLD, "a/two.md": "2"}) if hints else desk(tmp_path, {"a/one.md": OLD})
    try:
        (on.root / "a/one.md").rename(on.root / "renamed 中文.md")
        (event,) = heard(on, hints)
        same = blob_id(OLD.encode())
        assert event == NoteMoved("renamed 中文.md", "a/one.md", same, same, Origin.HUMAN)
    finally:
        on.watcher.close()


@pytest.mark.parametrize("hints", [True, False])
def test_a_folder_that_is_renamed_moves_its_notes(tmp_path: Path, hints: bool) -> None:
    notes = {f"a/b/{n}.md": f"{n % 3}" for n in range(9)}
    on = listening(tmp_path, notes) if hints else desk(tmp_path, notes)
    try:
        (on.root / "a").rename(on.root / "z")
        moved = {(each.source, each.path) for each in heard(on, hints) if isinstance(each, NoteMoved)}
        assert moved == {(path, f"z{path[1:]}") for path in notes}
    finally:
        on.watcher.close()


def test_a_rename_whose_new_name_is_heard_of_late_is_no_deletion(tmp_path: Path) -> None:
    on = desk(tmp_path, {"a.md": OLD})
    hints = on.watcher.hints
    (on.root / "a.md").rename(on.root / "b.md")
    hints.put(str(on.root / "a.md"))
    assert on.poll() == []
    on.clock.advance(1.0)
    assert on.poll() == []  # from now on it is missing
    hints.put(str(on.root / "b.md"))
    on.clock.advance(0.9)
    assert on.poll() == []
    hints.put(str(on.root / "b.md"))  # heard of again, which begins its quiet anew
    on.clock.advance(0.15)
    assert on.poll() == [], "the old name has been missing for long enough, and the new one is not read yet"
    on.clock.advance(0.3)
    (event,) = on.poll()
    assert isinstance(event, NoteMoved) and (event.source, event.path) == ("a.md", "b.md")


def test_a_rename_whose_new_name_is_in_a_folder_yet_to_be_scanned_is_no_deletion(tmp_path: Path) -> None:
    on = desk(tmp_path, {"a.md": OLD})
    hints = on.watcher.hints
    (on.root / "a.md").rename(on.root / "b.md")
    hints.put(str(on.root / "a.md"))
    assert on.poll() == []
    on.clock.advance(1.0)
    assert on.poll() == []  # from now on it is missing
    for _ in range(3):
        hints.overflow("the system lost some")  # again and again, which begins the scan's quiet anew
        on.clock.advance(0.6)
        assert on.poll() == [], "the old name has been missing for long enough, and the new one is not seen yet"
    (event,) = on.settle()
    assert isinstance(event, NoteMoved) and (event.source, event.path) == ("a.md", "b.md")


def test_a_deletion_waits_for_no_note_for_ever(tmp_path: Path) -> None:
    on = desk(tmp_path, {"a.md": OLD})
    (on.root / "a.md").unlink()
    on.watcher.hints.put(str(on.root / "a.md"))
    told: list[object] = []
    for number in range(80):
        write(on.root / f"new{number}.md", f"{number}")
        on.watcher.hints.put(str(on.root / f"new{number}.md"))
        on.clock.advance(0.1)
        told += [each for each in on.poll() if isinstance(each, NoteDeleted)]
    assert len(told) == 1


def test_a_note_that_is_moved_and_edited_is_known_by_its_id(tmp_path: Path) -> None:
    on = desk(tmp_path, {"a.md": f"---\nid: X1\n---\n{OLD}", "b.md": "---\nid: X2\n---\n"})
    (on.root / "a.md").unlink()
    on.save("c.md", f"---\nid: X1\n---\n{NEW}")
    (event,) = on.scan()
    assert isinstance(event, NoteMoved)
    assert (event.source, event.path, event.changes) == ("a.md", "c.md", (TaskTicked("approve", 6),))


def test_a_copy_is_a_new_note(tmp_path: Path) -> None:
    on = desk(tmp_path, {"plan.md": NEW})
    on.save("copy.md", NEW)
    (event,) = on.scan()
    assert isinstance(event, NoteCreated)
    assert event.path == "copy.md"


def test_two_quick_edits_are_each_told_once(tmp_path: Path) -> None:
    """The second is compared with the first, though nobody but the watcher has that version."""
    on = desk(tmp_path, {"plan.md": "- [ ] a\n- [ ] b\n"})
    changes = []
    for text in ("- [x] a\n- [ ] b\n", "- [x] a\n- [x] b\n"):
        write(on.root / "plan.md", text)
        (event,) = on.scan()
        assert isinstance(event, NoteEdited)
        changes.append(event.changes)
    assert changes == [(TaskTicked("a", 1),), (TaskTicked("b", 2),)]


def test_an_edit_whose_older_version_is_lost_says_so(tmp_path: Path) -> None:
    on = desk(tmp_path, {"plan.md": OLD})
    on.versions.clear()
    write(on.root / "plan.md", NEW)
    (event,) = on.scan()
    assert isinstance(event, NoteEdited)
    assert (event.compared, event.changes) == (False, ())


def test_a_note_that_is_being_typed_is_told_now_and_then(tmp_path: Path) -> None:
    """A file that is never quiet is not put off for ever."""
    on = desk(tmp_path, {"plan.md": OLD})
    told = 0
    for number in range(100):
        write(on.root / "plan.md", OLD + f"{number}\n")
        on.watcher.hints.put(os.path.realpath(on.root / "plan.md"))
        told += len(on.poll())
        on.clock.advance(0.1)
    assert 4 <= told <= 6


def note(folder: Path) -> Path:
    write(folder / "plan.md", OLD)
    return folder / "plan.md"


def listening(root: Path, notes: dict[str, str] | None = None) -> Desk:
    on = desk(root, notes or {"plan.md": OLD})
    on.listen()
    return on


def heard(on: Desk, hints: bool) -> list[object]:
    """What comes by hints alone, or by a scan alone; either way the other has nothing to add."""
    if hints:
        on.hear()
    events = on.settle() if hints else on.scan()
    assert without_markers(on.scan()) == []
    return [*without_markers(events)]
