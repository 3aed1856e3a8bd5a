"""A file that a program keeps open, or that cannot be read, is named and left for later; all others go on."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.clock import SystemClock
from agent.platform.here import platform
from agent.vault.health.status import status
from agent.vault.listing import contents
from agent.vault.options import HOLDS_UP, Options
from agent.vault.store import Vault
from agent.vault.worktree.files import SETTLE_SECONDS, Files
from agent.vault.worktree.survey import survey, unreadable
from agent.vault.write.unsettled import RECORDED_AFTER, WaitingFiles
from tests.fakes import FakeClock
from tests.trust.forks import PROJECT
from tests.vaults import committed, git, head, make_vault, write

QUIET = 10.0
SHORT = Options(durable=False, quiet_seconds=QUIET)


@contextmanager
def kept_open(path: Path) -> Iterator[Callable[[str], None]]:
    """Keep a file open for writing as a log's program does; gives what appends to it."""
    if platform().has_writer(os.open(PROJECT / "README.md", os.O_RDONLY)) is None:
        pytest.skip("this system does not tell who writes")
    with path.open("ab", buffering=0) as file:

        def append(text: str) -> None:
            file.write(text.encode())

        yield append


def make(folder: Path, start: datetime | None = None) -> Vault:
    notes = {"log.md": "start\n", "other.md": "one\n", "third.md": "one\n"}
    return make_vault(folder, notes, clock=FakeClock(start or SystemClock().now()), options=SHORT)


def later(vault: Vault, seconds: float) -> None:
    assert isinstance(vault.clock, FakeClock)
    vault.clock.advance(seconds)


def test_a_commit_by_hand_records_the_others_and_names_it(tmp_path: Path) -> None:
    vault = make(tmp_path)
    root = vault.place.root
    with kept_open(root / "log.md") as append:
        append("tick\n")
        write(root / "other.md", "two\n")
        (root / "third.md").unlink()
        outcome = vault.commit_human()
        assert outcome.human == head(root) and outcome.paths == ("other.md", "third.md")
        assert outcome.open == ("log.md",)
        assert isinstance(vault.clock, FakeClock) and vault.clock.elapsed <= SETTLE_SECONDS + 0.1
    assert vault.commit_human().paths == ("log.md",)
    assert committed(root, "log.md") == b"start\ntick\n" and vault.commit_human().open == ()


def test_a_note_that_is_gone_again_when_it_is_read_is_no_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = make(tmp_path)
    root, before, read = vault.place.root, head(vault.place.root), Files.read_any

    def gone(files: Files, path: str) -> tuple[str, bytes] | None:
        (root / path).unlink(missing_ok=True)
        return read(files, path)

    write(root / "new.md", "draft\n")
    monkeypatch.setattr(Files, "read_any", gone)
    outcome = vault.commit_human()
    assert outcome.human is None and outcome.paths == () and head(root) == before
    monkeypatch.undo()
    write(root / "new.md", "again\n")
    assert vault.commit_human().paths == ("new.md",)


def test_status_and_the_list_of_notes_take_it_as_it_is_now(tmp_path: Path) -> None:
    vault = make(tmp_path)
    with kept_open(vault.place.root / "log.md") as append:
        append("tick\n")
        seen = status(vault)
        assert seen.open == ("log.md",) and [item.path for item in seen.dirty] == ["log.md"]
        assert seen.notes["log.md"] == vault.git.blob_id(b"start\ntick\n") == contents(vault)["log.md"]
        assert vault.read("log.md") == b"start\ntick\n"
    assert status(vault).open == ()


def test_a_new_note_that_is_kept_open_is_named_and_read_too(tmp_path: Path) -> None:
    vault = make(tmp_path)
    with kept_open(vault.place.root / "new.md") as append:
        append("half a ")
        write(vault.place.root / "other.md", "two\n")
        assert vault.commit_human().paths == ("other.md",)
        seen = status(vault)
        assert seen.open == ("new.md",) and seen.notes["new.md"] == vault.git.blob_id(b"half a ")
        append("line\n")
    assert vault.commit_human().paths == ("new.md",)
    assert committed(vault.place.root, "new.md") == b"half a line\n"


def test_the_daemons_commit_does_not_wait_for_an_open_file(tmp_path: Path) -> None:
    vault = make(tmp_path)
    with kept_open(vault.place.root / "log.md") as append:
        append("tick\n")
        write(vault.place.root / "other.md", "two\n")
        assert vault.commit_human(quiet=True).fresh
        later(vault, QUIET + 1)
        outcome = vault.commit_human(quiet=True)
        assert (outcome.paths, outcome.open, outcome.fresh) == (("other.md",), ("log.md",), False)


def test_an_open_file_is_recorded_as_it_is_from_time_to_time(tmp_path: Path) -> None:
    vault = make(tmp_path)
    root = vault.place.root
    with kept_open(root / "log.md") as append:
        append("tick\n")
        assert vault.commit_human(quiet=True).open == ("log.md",)
        later(vault, RECORDED_AFTER * QUIET - 1)
        assert vault.commit_human(quiet=True).open == ("log.md",)
        later(vault, 2)
        assert vault.commit_human(quiet=True).paths == ("log.md",)
        assert committed(root, "log.md") == b"start\ntick\n"
        append("tock\n")
        assert vault.commit_human(quiet=True).open == ("log.md",), "recorded again at once"
    assert git(root, "log", "--format=%s", "-2").splitlines()[0] == "human(notes): edited log"


def ticking(vault: Vault, seconds: float, step: float, *commits: str) -> list[tuple[str, ...]]:
    """Save a file again every `step` seconds, each time closed; gives what each commit meanwhile recorded."""
    made = list[tuple[str, ...]]()
    for number in range(int(seconds / step)):
        later(vault, step)
        for path in commits:
            with (vault.place.root / path).open("a") as file:
                file.write(f"tick {number}\n")
        made.append(vault.commit_human(quiet=True).paths)
    return [paths for paths in made if paths]


def test_a_file_that_is_saved_every_second_holds_up_the_others_for_three_intervals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = make(tmp_path)
    restless = {"log.md"}
    monkeypatch.setattr(WaitingFiles, "_is_fresh", lambda self, item, now: item.path in restless)
    write(vault.place.root / "other.md", "two\n")
    assert ticking(vault, HOLDS_UP * QUIET - 2, 1.0, "log.md") == []
    assert ticking(vault, 4, 1.0, "log.md") == [("other.md",)]
    made = ticking(vault, RECORDED_AFTER * QUIET, 5.0, "log.md")
    assert made == [("log.md",)], "a commit for each save, or none at all"


def test_the_time_of_waiting_outlives_the_process_and_a_clock_that_goes_back(tmp_path: Path) -> None:
    vault = make(tmp_path, start=datetime(2026, 11, 21, tzinfo=UTC))
    kept = vault.writer.layout.folder / "unsettled.json"
    with kept_open(vault.place.root / "log.md") as append:
        append("tick\n")
        for damaged in ("", "[]", '{"log.md": "x"}', '{"log.md": 99999999999.0}'):
            kept.write_text(damaged)
            assert vault.commit_human(quiet=True).open == ("log.md",)
        later(vault, RECORDED_AFTER * QUIET)
        assert vault.commit_human(quiet=True).paths == ("log.md",)


def test_waiting_for_every_open_file_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.vault.worktree.files.Files.is_open_elsewhere", lambda self, path: False)
    with pytest.raises(AssertionError):
        test_a_commit_by_hand_records_the_others_and_names_it(tmp_path)


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("warning: could not open directory 'priv/': Permission denied", "priv/"),
        ("warning: could not open directory 'it's/o\udce9/': Permission denied", "it's/o\udce9/"),
        ('error: open("sub/a.md"): Permission denied', "sub/a.md"),
        ("warning: unable to access 'sub/.gitignore': Input/output error", "sub/.gitignore"),
        ("priv/x.md: Permission denied", "priv/x.md"),
        ("warning: could not open directory 'gone/': Stale file handle", "gone/"),
        ("warning: in the working copy of 'a.md', LF will be replaced by CRLF", None),
    ],
)
def test_what_git_could_not_look_at_is_read_from_its_messages(line: str, path: str | None) -> None:
    assert list(unreadable(line)) == ([] if path is None else [path])


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that another user may enter, which pytest's own are not."""
    folder = Path(tempfile.mkdtemp(prefix="resists-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def as_nobody(folder: Path, *command: str) -> tuple[int, str]:
    """Run the program as a user for whom permissions count."""
    become = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("only root can become another user")
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "XDG_"))},
        "HOME": str(folder),
        "VAULT_AGENT_HOME": str(folder / "home"),
        "GIT_AUTHOR_NAME": "Ann",
        "GIT_AUTHOR_EMAIL": "ann@example.org",
    }
    done = subprocess.run(
        [*become, sys.executable, "-m", "agent", "--vault", str(folder / "vault"), *command],
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("locked", "mode", "named"),
    [
        ("priv", 0o300, "priv/"),
        pytest.param("priv", 0o000, "priv/", marks=pytest.mark.chaos),
        pytest.param("deep/er", 0o000, "deep/er/", marks=pytest.mark.chaos),
        ("priv/x.md", 0o000, "priv/x.md"),
    ],
)
def test_what_cannot_be_read_is_unknown_and_the_rest_is_committed(
    shared: Path, locked: str, mode: int, named: str
) -> None:
    if as_nobody(shared, "--version")[0]:
        pytest.skip("another user may not run this Python")
    vault = make_vault(shared, {"a.md": "one\n"})
    root = vault.place.root
    for path in ("priv/x.md", "deep/er/y.md"):
        write(root / path, "a person's line\n")
    write(root / "a.md", "two\n")
    for each in (shared, *shared.rglob("*")):
        os.chown(each, 65534, 65534)
    (root / locked).chmod(mode)
    code, text = as_nobody(shared, "commit")
    assert code == 0 and named in text and "a.md" in text, text
    code, text = as_nobody(shared, "status")
    assert code == 0 and "all committed" not in text and f"cannot read {named}" in text, text
    assert committed_as(root, "a.md") == "two\n"
    (root / locked).chmod(0o700)
    assert "cannot" not in as_nobody(shared, "commit")[1]
    assert committed_as(root, "priv/x.md") == "a person's line\n"


def committed_as(root: Path, path: str) -> str:
    return git(root, "-c", f"safe.directory={root}", "show", f"HEAD:{path}", check=False)


def test_a_vault_that_can_be_read_has_nothing_unknown(tmp_path: Path) -> None:
    vault = make(tmp_path)
    write(vault.place.root / "caf\udce9: Permission denied.md", "odd\n")
    found = survey(vault.git, vault.place)
    assert found.unread == () and [item.path for item in found.changed] == ["caf\udce9: Permission denied.md"]
    assert vault.commit_human().unread == ()
