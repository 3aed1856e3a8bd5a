"""A git that fails and a vault that is away end no daemon: it says so once, loses nothing, and goes on when it can."""

import logging
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from agent.clock import SystemClock
from agent.config.durable import process_lock
from agent.errors import NotAVault, Retryable
from agent.events.types import DaemonStarted, TurnEnded
from agent.interfaces.cli.main import main
from agent.workspace.interruptible import GRACE, InterruptibleClock
from agent.workspace.workspace import load_daemon_state
from tests.daemon.house import BRISK, House, broken, furnish, living
from tests.daemon.process import end, environment, wait_for, watching
from tests.fakes import FakeClock
from tests.vaults import git, git_beside, head, write


class Heard(logging.Handler):
    """What the daemon puts in the log, warnings and worse, wherever else that goes."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())

    def count(self, words: str) -> int:
        return sum(words in line for line in self.lines)


@pytest.fixture
def heard() -> Iterator[Heard]:
    log, handler = logging.getLogger("agent"), Heard()
    log.addHandler(handler)
    yield handler
    log.removeHandler(handler)


def problem(house: House) -> str:
    said = load_daemon_state(house.workspace)
    return str(said["problem"]) if said and "problem" in said else ""


def test_what_does_not_work_is_told_of_every_part_of_the_daemon(root: Path) -> None:
    with living(root) as house:
        table = house.parts.table
        names = {each.name for each in table.first}
        for each in table.first:
            object.__setattr__(each, "problem", partial("no {} today".format, each.name))
        house.live.bus.publish(DaemonStarted("/vault"))
        house.until(lambda: all(table.problems()[name] == f"no {name} today" for name in names), "each is asked", 60)
        house.parts.state.turn_ended(TurnEnded(True, 1, 0, None, 0, ""))
        told = problem(house)
    assert {"index", "human edits", "variants of skills", "upkeep"} < names
    assert not [name for name in names if f"no {name} today" not in told]


def test_a_git_that_fails_is_said_once_and_what_moved_meanwhile_is_found(root: Path, heard: Heard) -> None:
    git(root, "checkout", "-q", "-b", "other")
    write(root / "other.md", "# Other\n\nwombat\n")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "other")
    git(root, "checkout", "-q", "main")
    with living(root) as house:
        house.for_a_while(0.3)
        config = root / ".git/config"
        whole = config.read_text()
        git_beside(root, "checkout", "-q", "other")
        config.write_text("[not a section\n")
        house.live.lookout.watcher.hints.put(str(root / ".git/HEAD"))
        house.until(lambda: "git does not answer" in problem(house), "the failure is said")
        for _ in range(4):
            house.step()
        assert heard.count("git does not answer") == 1
        config.write_text(whole)
        house.catches_up()
        assert house.finds("wombat") == ["other.md"]
        house.until(lambda: not problem(house), "all is well")


def test_a_look_that_fails_is_survived_and_made_up_for(root: Path, heard: Heard) -> None:
    with living(root) as house:
        house.for_a_while(0.3)
        root_of_the_watcher, house.live.lookout.watcher.root = house.live.lookout.watcher.root, Path("\0")
        write(root / "new.md", "quokka\n")
        house.until(lambda: "cannot look for changes" in problem(house), "the failure is said")
        house.live.lookout.watcher.root = root_of_the_watcher
        house.until(lambda: house.finds("quokka") == ["new.md"], "the note is found after all")
        house.until(lambda: not problem(house), "all is well")
    assert heard.count("cannot look") == 1


def test_a_vault_that_is_away_for_a_moment_loses_nothing(root: Path, heard: Heard) -> None:
    elsewhere = root.with_name("elsewhere")
    with living(root) as house:
        house.for_a_while(0.3)
        before = head(root)
        root.rename(elsewhere)
        house.until(lambda: "is it mounted?" in problem(house), "it is said")
        house.for_a_while(0.5)
        assert house.index.known(), "nothing is taken as deleted"
        assert len(heard.lines) == 1, heard.lines
        write(elsewhere / "new.md", "quokka\n")
        elsewhere.rename(root)
        house.until(lambda: house.finds("quokka") == ["new.md"], "it is watched again")
        write(root / "later.md", "wombat\n")
        house.until(lambda: house.finds("wombat") == ["later.md"], "by hints too")
        house.commits_all()
        assert git(root, "rev-list", "--count", f"{before}..HEAD").strip() in {"1", "2"}


def test_a_vault_that_stays_away_ends_it_in_so_many_words(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.watch.lookout.GONE", 0.3)
    with living(root) as house:
        root.rename(root.with_name("elsewhere"))
        with pytest.raises(NotAVault, match="is not there"):
            house.for_a_while(20)
        root.with_name("elsewhere").rename(root)


def test_a_folder_that_cannot_be_looked_into_is_not_empty(root: Path) -> None:
    with living(root) as house:
        house.for_a_while(0.3)
        house.live.lookout.watcher.root = root / "green.md"
        house.until(lambda: bool(problem(house)), "it is said")
        house.for_a_while(0.3)
        house.live.lookout.watcher.root = root
        house.until(lambda: not problem(house), "it is seen again")
        assert len(house.index.known()) == 3


def test_an_index_that_fails_in_a_way_nobody_expected_is_said(root: Path) -> None:
    with living(root) as house:
        index = house.parts.index.index
        house.parts.index.index = broken(index, KeyError("a bug of ours"))
        write(root / "new.md", "quokka\n")
        house.until(lambda: bool(house.parts.index.problem), "the failure is said")
        house.parts.index.index = index
        write(root / "more.md", "wombat\n")
        house.until(lambda: house.finds("wombat") == ["more.md"], "it goes on")


def test_waiting_ends_when_it_is_asked_to_stop(tmp_path: Path) -> None:
    time = FakeClock()
    clock = InterruptibleClock(time, lambda: time.elapsed > 1.0)
    with (
        process_lock(tmp_path / "lock", clock, 0, "taken"),
        pytest.raises(Retryable, match="asked to stop"),
        process_lock(tmp_path / "lock", clock, 1e9, "taken"),
    ):
        pass
    assert time.elapsed < 1.1 + GRACE


def test_what_ends_soon_is_waited_for_after_the_stop(tmp_path: Path) -> None:
    """So a run that stops writes in its session where it was, though another thread is just writing."""
    other = ExitStack()

    class OtherEnds(FakeClock):
        def sleep(self, seconds: float) -> None:
            super().sleep(seconds)
            if self.elapsed > GRACE / 2:
                other.close()

    time = OtherEnds()
    other.enter_context(process_lock(tmp_path / "lock", time, 0, "taken"))
    with process_lock(tmp_path / "lock", InterruptibleClock(time, lambda: True), 1e9, "taken"):
        assert GRACE / 2 < time.elapsed < GRACE


def test_it_stops_while_another_writer_holds_the_lock(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {**BRISK, "VAULT_AGENT_GIT__LOCK_SECONDS": "600"}
    furnish(tmp_path / "home", monkeypatch.setenv, settings)
    with watching(root, environment(tmp_path / "home", settings)) as daemon:
        lock = next((tmp_path / "home").rglob("daemon.lock")).with_name("writer.lock")
        with process_lock(lock, SystemClock(), 30, "taken"):
            write(root / "new.md", "quokka\n")
            opened = Path(f"/proc/{daemon.pid}/fd")
            if opened.is_dir():
                wait_for(daemon, lambda: _holds(opened, lock), "it waits for the lock")
            code, _ = end(daemon)
            assert code == 0
    assert git(root, "status", "--porcelain") == "?? new.md\n"
    assert main(["--vault", str(root), "commit"]) == 0


def _holds(opened: Path, lock: Path) -> bool:
    try:
        return any(each.resolve() == lock for each in opened.iterdir())
    except FileNotFoundError:
        return False
