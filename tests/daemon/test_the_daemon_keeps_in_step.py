"""What a person does to the files is found by search and committed once; what we do ourselves is nobody's news."""

import shutil
from contextlib import suppress
from os import getpid, kill
from pathlib import Path
from signal import SIGUSR1, signal
from threading import Semaphore, Thread

import pytest

from agent.app.open import open_workspace
from agent.clock import SystemClock
from agent.daemon import Daemon, Live
from agent.errors import LockHeld
from agent.index.update import IndexReport
from agent.interfaces.cli.main import main
from agent.workspace.interruptible import Stopped
from agent.workspace.search_index import SearchIndex
from agent.workspace.workspace import daemon_lock, load_daemon_state
from tests.daemon.house import PATIENCE, broken, living, on_disk
from tests.vaults import git, git_beside, head, write


def subjects(root: Path) -> list[str]:
    return git(root, "log", "--format=%s").splitlines()


def test_a_saved_note_is_found_and_a_burst_is_one_commit_in_the_person_s_name(root: Path) -> None:
    with living(root) as house:
        write(root / "new.md", "# New\n\nquokka\n")
        write(root / "green.md", "# Green tea\n\nmatcha leaves\n")
        house.catches_up()
        assert house.finds("quokka") == ["new.md"]
        assert house.finds("matcha") == ["green.md"]
        assert house.finds("sencha") == []
        house.commits_all()
        house.for_a_while(0.7)
    assert subjects(root)[0] == "human(notes): edited green, created new"
    assert len(subjects(root)) == 2
    assert git(root, "log", "-1", "--format=%an") == "Anna\n"


def test_a_large_burst_is_taken_in_at_once_and_at_its_end(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    updates: list[int] = []
    touch = SearchIndex.touch

    def counted(index: SearchIndex, asked: dict[str, str | None]) -> IndexReport:
        updates.append(len(asked))
        return touch(index, asked)

    monkeypatch.setattr(SearchIndex, "touch", counted)
    with living(root) as house:
        house.catches_up()
        for number in range(1_200):  # more than the watcher tells of in one turn
            write(root / f"many/{number}.md", f"wombat{number}\n")
        house.catches_up()
        assert house.finds("wombat1199") == ["many/1199.md"]
    assert max(updates) > 500
    assert len(updates) < 5


def test_a_renamed_and_a_deleted_note_are_not_found_where_they_were(root: Path) -> None:
    with living(root) as house:
        (root / "green.md").rename(root / "deep/leaf.md")
        (root / "milk.md").unlink()
        house.catches_up()
        assert house.finds("sencha") == ["deep/leaf.md"]
        assert house.finds("oats") == []


def test_a_checkout_is_followed_and_is_not_committed_once_more(root: Path) -> None:
    git(root, "checkout", "-q", "-b", "other")
    write(root / "other.md", "# Other\n\nwombat\n")
    git(root, "rm", "-q", "milk.md")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "other")
    tip = head(root)
    git(root, "checkout", "-q", "main")
    with living(root) as house:
        git_beside(root, "checkout", "-q", "other")
        house.catches_up()
        assert house.finds("wombat") == ["other.md"]
        assert house.finds("oats") == []
        house.for_a_while(0.7)
    assert head(root) == tip


def test_what_we_write_is_one_commit_and_no_news(root: Path) -> None:
    with living(root) as house:
        house.for_a_while(0.6)
        assert main(["--vault", str(root), "remember", "the numbat eats termites"]) == 0
        ours = head(root)
        house.catches_up()
        assert len(set(house.finds("numbat")) - {"MEMORY.md"}) == 1
        house.for_a_while(0.7)
    assert head(root) == ours
    assert len(subjects(root)) == 2


def test_edits_wait_while_a_rebase_is_going_on_and_follow_after(root: Path) -> None:
    before = len(subjects(root))
    with living(root) as house:
        (root / ".git/rebase-merge").mkdir()
        write(root / "green.md", "# Green tea\n\nmatcha\n")
        house.catches_up()
        house.for_a_while(0.7)
        assert len(subjects(root)) == before
        (root / ".git/rebase-merge").rmdir()
        house.commits_all()
    assert len(subjects(root)) == before + 1


def test_with_commits_left_to_the_person_only_the_index_follows(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_AGENT_GIT__HUMAN_COMMITS", "off")
    before = head(root)
    with living(root) as house:
        write(root / "new.md", "quokka\n")
        house.catches_up()
        house.for_a_while(0.8)
        assert house.finds("quokka") == ["new.md"]
    assert head(root) == before


def test_what_was_edited_while_nobody_watched_is_found_and_committed_at_the_start(root: Path) -> None:
    with living(root):
        pass
    write(root / "new.md", "quokka\n")
    (root / "milk.md").unlink()
    with living(root) as house:
        assert house.finds("quokka") == ["new.md"]
        assert house.finds("oats") == []
        house.commits_all()
    assert len(subjects(root)) == 2


def test_what_git_ignores_is_not_found_and_what_it_ignores_no_more_is(root: Path) -> None:
    write(root / ".gitignore", "private/\n")
    write(root / "private/diary.md", "quokka\n")
    with living(root) as house:
        write(root / "private/more.md", "wombat\n")
        write(root / "seen.md", "numbat\n")
        house.until(lambda: house.finds("numbat") == ["seen.md"], "the other note is found")
        house.for_a_while(0.5)
        assert house.finds("quokka") == house.finds("wombat") == []
        write(root / ".gitignore", "")
        house.catches_up()
        assert house.finds("wombat") == ["private/more.md"]


@pytest.mark.parametrize("damage", ["deleted", "corrupt", "half"])
def test_a_cache_that_is_damaged_meanwhile_heals_by_itself(root: Path, damage: str) -> None:
    with living(root) as house:
        house.for_a_while(0.2)
        folder = house.index.files.folder
        if damage == "deleted":
            shutil.rmtree(folder)
        else:
            store = house.index.files.folder / "notes.db"
            for path in (store, *store.parent.glob("notes.db-*")):
                data = path.read_bytes()
                path.write_bytes(data[: len(data) // 2] if damage == "half" else b"\0" * len(data))
        house.index.close()
        assert house.index.search("sencha", 5).degraded
        house.until(lambda: house.finds("sencha") == ["green.md"], "the note is found again")
        assert house.index.search("sencha", 5).degraded is None
        assert house.index.known() == on_disk(root)


def test_an_update_that_failed_is_said_and_made_up_for(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.background.index_sync.RETRY", 0.3)
    with living(root) as house:
        index = house.parts.index.index
        house.parts.index.index = broken(index, OSError(28, "no space left on device"))
        write(root / "new.md", "quokka\n")
        house.until(
            lambda: "no space" in str((load_daemon_state(house.workspace) or {}).get("index")), "the failure is said"
        )
        house.parts.index.index = index
        house.until(lambda: house.finds("quokka") == ["new.md"], "the note is found after all")
        house.step()
        assert not house.parts.index.problem


def test_there_is_one_daemon(root: Path) -> None:
    workspace = open_workspace(root)
    with living(root), pytest.raises(LockHeld, match="a daemon already"):
        Daemon(open_workspace(root)).run()
    with daemon_lock(workspace):
        assert load_daemon_state(workspace) is not None
    assert load_daemon_state(workspace) is None


def test_what_is_asked_once_it_says_that_it_watches_is_answered(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_AGENT_INBOX__QUIET_SECONDS", "0.1")
    daemon, clock, note = Daemon(open_workspace(root)), SystemClock(), root / "inbox/tea.md"

    def stop_after_the_answer() -> None:
        deadline = clock.monotonic() + 120
        while "status: done" not in note.read_text("utf-8") and clock.monotonic() < deadline:
            clock.sleep(0.05)
        with suppress(Stopped):  # it is meant for the daemon's own thread, which sees the reason
            daemon.stop.ask("answered")

    def ask() -> None:
        write(note, "Which tea?\n")
        Thread(target=stop_after_the_answer).start()

    daemon.run(ask)
    assert "status: done" in note.read_text("utf-8")


def test_at_rest_it_is_woken_by_a_change_and_by_a_signal(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_AGENT_INBOX__QUIET_SECONDS", "0.1")
    monkeypatch.setattr("agent.daemon.CALM", 1.0)
    monkeypatch.setattr("agent.daemon.REST", 3600.0)
    daemon, clock, note, rests = Daemon(open_workspace(root)), SystemClock(), root / "inbox/tea.md", Semaphore(0)
    wait = Live.wait

    def counted(live: Live, most: float) -> None:
        if most == 3600:
            rests.release()
        wait(live, most)

    def wake() -> None:
        assert rests.acquire(timeout=60)
        write(note, "Which tea?\n")
        while "status: done" not in note.read_text("utf-8"):
            clock.sleep(0.05)
        assert rests.acquire(timeout=60)
        while not daemon.stop:  # one that comes just before the wait begins does not end it
            kill(getpid(), SIGUSR1)
            clock.sleep(0.05)

    monkeypatch.setattr(Live, "wait", counted)
    waker = Thread(target=wake, daemon=True)
    before = signal(SIGUSR1, lambda number, _: daemon.stop.ask("a signal"))
    try:
        daemon.run(waker.start)
    finally:
        waker.join(PATIENCE)
        signal(SIGUSR1, before)
    assert daemon.stop.reason == "a signal"


def test_asked_to_stop_it_stops_with_its_next_turn(root: Path) -> None:
    daemon = Daemon(open_workspace(root))
    daemon.stop.ask("enough")
    daemon.run()
    assert daemon.stop.reason == "enough"
    assert load_daemon_state(daemon.workspace) is None
