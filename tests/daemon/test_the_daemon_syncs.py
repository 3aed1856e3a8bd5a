"""The daemon keeps a vault in step with its remotes: at the start, when it lies still, now and then, at the end."""

from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.background.pool import Pool
from agent.background.remote_sync import LONGEST, RemoteSync
from agent.background.routine import RoutineRunner
from agent.events.notices import NoticeRaised
from agent.events.types import FilesChanged
from agent.texts import Sentence
from agent.vault.sync.rounds import pause
from agent.vault.sync.state import SyncedRemote, state_file, sync_state
from tests.daemon.house import living
from tests.fakes import FakeClock
from tests.remotes import Mallory, git_as, shared_with_mallory
from tests.stories.agents import ticked
from tests.vaults import git, head, write


@pytest.fixture
def shared(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mallory:
    """The vault with a remote that is kept in step, and somebody else's clone."""
    monkeypatch.setenv("VAULT_AGENT_SYNC__QUIET_SECONDS", "1")
    monkeypatch.setenv("VAULT_AGENT_SYNC__INTERVAL_SECONDS", "10")
    mallory = shared_with_mallory(root, tmp_path)
    vault = open_workspace(root).vault
    state_file(vault).put(SyncedRemote("origin", str(mallory.remote), "main"))
    return mallory


def on_remote(shared: Mallory) -> str:
    return git_as(shared.remote, "Anna", "rev-parse", "main").strip()


def test_it_takes_in_and_sends_by_itself(shared: Mallory, root: Path) -> None:
    shared.pushes({"theirs.md": "theirs\n"})
    with living(root) as house:
        house.until((root / "theirs.md").exists, "what was there at the start is taken in")
        house.catches_up()
        write(root / "ours.md", "ours\n")
        house.until(lambda: "ours.md" in git_as(shared.remote, "Anna", "ls-tree", "--name-only", "main"), "it is sent")
        shared.pushes({"late.md": "late\n"})
        house.until((root / "late.md").exists, "it is taken in, though nothing happens here")
        house.commits_all()
    assert head(root) == on_remote(shared)


def test_what_is_left_is_sent_at_the_end(shared: Mallory, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_AGENT_SYNC__QUIET_SECONDS", "3600")
    with living(root) as house:
        house.until(lambda: bool(sync_state(house.workspace.vault).remotes["origin"].agreed), "the first round is over")
        write(root / "ours.md", "ours\n")
        house.until(lambda: "ours.md" in git(root, "ls-files"), "it is committed")
    assert head(root) == on_remote(shared)


def test_a_pause_is_kept(shared: Mallory, root: Path) -> None:
    shared.pushes({"theirs.md": "theirs\n"})
    pause(open_workspace(root).vault, True)
    with living(root) as house:
        house.for_a_while(3)
    assert not (root / "theirs.md").exists()


class AtOnce(Pool):
    """A pool that counts what it is given, and does it at once."""

    rounds = 0

    def submit(self, work, *, key, priority, deadline=None, patience=4.0):  # type: ignore[no-untyped-def]
        self.rounds += 1
        future: Future[object] = Future()
        try:
            future.set_result(work(lambda: False))
        except Exception as error:  # noqa: BLE001 - as the pool does
            future.set_exception(error)
        return future


@pytest.fixture
def alone(shared: Mallory, root: Path) -> tuple[RemoteSync, FakeClock, Callable[[float], int]]:
    """The client without a daemon, its clock, and a function that lets time pass and counts the rounds."""
    clock = FakeClock()
    workspace = open_workspace(root, clock=clock)
    pool = AtOnce(clock)
    client = RemoteSync(workspace, lambda: True, lambda event: None)
    runner = RoutineRunner(client.routine(), pool, clock)

    def passes(seconds: float) -> int:
        before, end = pool.rounds, clock.monotonic() + seconds
        while clock.monotonic() < end:
            clock.advance(1.0)
            runner.turn(clock.monotonic())
        return pool.rounds - before

    return client, clock, passes


def test_it_is_quick_when_there_is_something_to_send_and_slow_when_not(
    alone: tuple[RemoteSync, FakeClock, Callable[[float], int]], shared: Mallory, root: Path
) -> None:
    client, clock, passes = alone
    assert passes(2) == 1, "at the start"
    assert passes(8) == 0 and passes(3) == 1, "by interval"
    write(root / "ours.md", "ours\n")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "ours")
    client.changed(FilesChanged((), clock.monotonic()))
    assert passes(4) == 1 and on_remote(shared) == head(root)


def test_a_remote_that_is_away_is_asked_ever_more_rarely_and_again_when_it_is_back(
    alone: tuple[RemoteSync, FakeClock, Callable[[float], int]], shared: Mallory, tmp_path: Path
) -> None:
    client, clock, passes = alone
    assert passes(2) == 1
    shared.remote.rename(tmp_path / "away.git")
    vault = client.workspace.vault
    assert 4 <= passes(600) <= 7, "after about 30, 60, 120 and 240 seconds"
    assert state_file(vault).load().remotes["origin"].trouble
    (tmp_path / "away.git").rename(shared.remote)
    assert passes(LONGEST * 1.3) >= 1
    assert not state_file(vault).load().remotes["origin"].trouble and client.trouble == ""


def test_being_offline_is_no_news_for_a_day(
    alone: tuple[RemoteSync, FakeClock, Callable[[float], int]], shared: Mallory, root: Path, tmp_path: Path
) -> None:
    client, clock, passes = alone
    vault = client.workspace.vault
    known = sync_state(vault).remotes["origin"]
    state_file(vault).put(
        known.failed(Sentence("the server cannot be reached"), Sentence(""), clock.now(), is_passing=True)
    )
    shared.remote.rename(tmp_path / "away.git")
    raised: list[NoticeRaised] = []
    client.tell = lambda event: raised.append(event) if isinstance(event, NoticeRaised) else None
    passes(1)
    assert client.trouble == "" and not raised
    clock.advance(25 * 3600)
    passes(3)
    assert client.trouble.startswith("sync with origin: ")
    passes(900)
    assert [(each.type, "origin is out of step" in each.title) for each in raised] == [("sync_trouble", True)]


def question(root: Path) -> Path | None:
    return next(iter((root / "questions").glob("*.md")), None) if (root / "questions").is_dir() else None


@pytest.mark.parametrize(
    "choice", ["keep what is here, and send it again", "take what is there, with my newer changes"]
)
def test_a_rewritten_remote_is_asked_about_and_the_box_decides(shared: Mallory, root: Path, choice: str) -> None:
    before = head(root)
    write(root / "green.md", "# Green tea\n\nsencha leaves\n\nfrom Uji\n")
    with living(root) as house:
        house.until(lambda: "from Uji" in git_as(shared.remote, "Anna", "show", "main:green.md"), "it is sent")
        git_as(root, "Anna", "push", "-q", "--force", "origin", f"{before}:main")
        house.until(lambda: question(root) is not None, "it is asked about")
        note = question(root)
        assert note is not None and "green.md" in note.read_text() and "from Uji" in (root / "green.md").read_text()
        house.for_a_while(3)
        assert question(root) == note, "asked once"
        note.write_text(ticked(note.read_text(), choice))
        is_kept = choice.startswith("keep")
        house.until(lambda: on_remote(shared) == head(root), "both are equal again")
        house.until(lambda: "status: answered" in note.read_text(), "the note says so")
        assert ("from Uji" in (root / "green.md").read_text()) == is_kept


def test_a_question_whose_matter_is_over_is_closed(shared: Mallory, root: Path) -> None:
    before = head(root)
    write(root / "green.md", "# Green tea\n\nsencha leaves\n\nfrom Uji\n")
    with living(root) as house:
        house.until(lambda: "from Uji" in git_as(shared.remote, "Anna", "show", "main:green.md"), "it is sent")
        sent = on_remote(shared)
        git_as(root, "Anna", "push", "-q", "--force", "origin", f"{before}:main")
        house.until(lambda: question(root) is not None, "it is asked about")
        note = question(root)
        git_as(root, "Anna", "push", "-q", "--force", "origin", f"{sent}:main")
        house.until(lambda: note is not None and "status: over" in note.read_text(), "it is closed")


def test_two_versions_are_asked_about_and_the_box_decides(shared: Mallory, root: Path) -> None:
    shared.pushes({"green.md": "# Green tea\n\nsencha from there\n"})
    write(root / "green.md", "# Green tea\n\nsencha from here\n")
    git(root, "commit", "-qam", "here")
    with living(root) as house:
        house.until(lambda: question(root) is not None, "it is asked about")
        note = question(root)
        assert note is not None
        asked = note.read_text()
        assert "sencha from there" in asked and "sencha from here" in asked
        note.write_text(ticked(asked, "both, the other one below"))
        house.until(lambda: not list(root.glob("green (conflict*")), "the copy is gone")
        text = (root / "green.md").read_text()
        assert "sencha from there" in text and "sencha from here" in text and "conflicts" not in text
        house.until(lambda: "status: answered" in note.read_text(), "the note says so")


def test_an_answer_outlives_a_remote_that_is_away(
    alone: tuple[RemoteSync, FakeClock, Callable[[float], int]], shared: Mallory, root: Path, tmp_path: Path
) -> None:
    client, clock, passes = alone
    write(root / "green.md", "# Green tea\n\nsencha leaves\n\nfrom Uji\n")
    git(root, "commit", "-qam", "from Uji")
    assert passes(15) and on_remote(shared) == head(root)
    git_as(root, "Anna", "push", "-q", "--force", "origin", "HEAD~1:main")
    passes(15)
    note = question(root)
    assert note is not None
    note.write_text(ticked(note.read_text(), "keep what is here, and send it again"))
    shared.remote.rename(tmp_path / "away.git")
    passes(60)
    (tmp_path / "away.git").rename(shared.remote)
    passes(LONGEST)
    assert on_remote(shared) == head(root)
    assert "from Uji" in git_as(shared.remote, "Anna", "show", "main:green.md")


def test_an_answer_about_another_commit_there_counts_for_nothing(
    alone: tuple[RemoteSync, FakeClock, Callable[[float], int]], shared: Mallory, root: Path
) -> None:
    client, clock, passes = alone
    write(root / "green.md", "# Green tea\n\nsencha leaves\n\nfrom Uji\n")
    git(root, "commit", "-qam", "from Uji")
    passes(15)
    git_as(root, "Anna", "push", "-q", "--force", "origin", "HEAD~1:main")
    passes(15)
    note = question(root)
    assert note is not None
    note.write_text(ticked(note.read_text(), "take what is there, with my newer changes"))
    git_as(shared.root, "Mallory", "fetch", "-q", "origin")
    git_as(shared.root, "Mallory", "reset", "-q", "--hard", "origin/main")
    (shared.root / "milk.md").unlink()
    git_as(shared.root, "Mallory", "commit", "-qam", "another")
    git_as(shared.root, "Mallory", "push", "-q", "--force", "origin", "HEAD:main")
    passes(60)
    assert "from Uji" in (root / "green.md").read_text() and (root / "milk.md").exists()
    assert len(list((root / "questions").glob("*.md"))) == 2, "asked anew"
