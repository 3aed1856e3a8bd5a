"""Promise 18, in part: what is forgotten with `--purge` is gone from the history, wherever the process is killed."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from agent.app.open import open_workspace
from agent.clock import SystemClock
from agent.config import durable
from agent.git.commit import Committer
from agent.git.runner import Git
from agent.interfaces.cli.main import main
from agent.memory.blame import DAILY
from agent.memory.forgetting import forget
from agent.memory.forgetting import purge as app_forgetting
from agent.memory.forgetting.purge import Forgetter
from agent.memory.forgetting.tombstones import load_tombstones
from agent.vault.change import Stamp
from agent.vault.history import purge
from agent.vault.layout import FORGETTING
from agent.workspace.workspace import Workspace
from tests.trust.forks import PROJECT
from tests.trust.logs import reported
from tests.trust.test_forgotten_is_gone import FOR_GOOD, files, left
from tests.vaults import FORMAT, git, head, make_vault, write

SECRET = "Anna's locker code is kelp-4711"
NOTE, TREASURE = "notes/secret.md", "The treasure lies under the oak"
Point = Callable[[pytest.MonkeyPatch], None]


class Cut(BaseException):
    """Stands for the end of the process: nothing in the product may catch it."""


@pytest.fixture(params=["sha1", "sha256"])
def root(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return furnish(tmp_path, monkeypatch, request.param)


@pytest.fixture
def plain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return furnish(tmp_path, monkeypatch)


def furnish(folder: Path, monkeypatch: pytest.MonkeyPatch, object_format: str = "sha1") -> Path:
    """A vault with a secret in an entry, and another in a note that has two versions."""
    monkeypatch.setenv(FORMAT, object_format)
    monkeypatch.setenv("VAULT_AGENT_HOME", str(folder / "home"))
    monkeypatch.setenv("VAULT_AGENT_GIT__DURABLE", "false")
    notes = {"note.md": "mine\n", "boat.md": "The boat is blue\n", NOTE: f"# Secret\n\n{TREASURE}\n"}
    root = make_vault(folder, notes).place.root
    monkeypatch.chdir(root)
    write(root / NOTE, f"# Secret\n\n{TREASURE}\nmore\n")
    git(root, "commit", "-q", "-a", "-m", f"edit {NOTE}")
    assert main(["remember", SECRET]) == 0
    return root


def entry(root: Path) -> str:
    """The entry that says its secret."""
    return next(path.relative_to(root).as_posix() for path in (root / "entries").rglob("*locker*.md"))


def history(root: Path) -> str:
    return git(root, "log", "-p", "-m", "--format=%H %an %s %b", "HEAD")


def before(owner: object, name: str) -> Point:
    """The process ends just before this is called."""

    def put(monkeypatch: pytest.MonkeyPatch) -> None:
        def cut(*_: object, **__: object) -> None:
            raise Cut

        monkeypatch.setattr(owner, name, cut)

    return put


def after(owner: object, name: str) -> Point:
    """The process ends just after this was done."""

    def put(monkeypatch: pytest.MonkeyPatch) -> None:
        real = getattr(owner, name)

        def cut(*args: object, **kwargs: object) -> None:
            real(*args, **kwargs)
            raise Cut

        monkeypatch.setattr(owner, name, cut)

    return put


def at_ref(start: str, is_done: bool) -> Point:
    """The process ends before or after git moves a ref for the purge."""

    def put(monkeypatch: pytest.MonkeyPatch) -> None:
        real = Git.run

        def cut(self: Git, *args: str, **kwargs: object) -> bytes:
            is_it = args[0] == "update-ref" and (args[1].startswith(start) or "purge by vault-agent" in args)
            is_it = is_it and (start == "HEAD") == ("HEAD" in args)
            if is_it and not is_done:
                raise Cut
            out = real(self, *args, **kwargs)  # type: ignore[arg-type]
            if is_it:
                raise Cut
            return out

        monkeypatch.setattr(Git, "run", cut)

    return put


POINTS: dict[str, Point] = {
    "it is noted": after(durable, "replace"),
    "nothing is written yet": before(forget, "carry_out"),
    "the files are changed": before(Committer, "read_tip"),
    "the commit is made": before(Committer, "_move_head"),
    "the branch has moved": after(Committer, "_move_head"),
    "the first half is done": after(forget, "carry_out"),
    "the second half begins": before(purge, "holders"),
    "the new commits are not there": before(purge._Work, "rewrite"),
    "the new commits are there": after(purge._Work, "rewrite"),
    "no backup": at_ref(purge.BACKUP, False),
    "a backup": at_ref(purge.BACKUP, True),
    "the branch is to move": at_ref("HEAD", False),
    "the branch is moved": at_ref("HEAD", True),
    "the second half is done": before(Forgetter, "_clear_cache"),
    "all is done": before(Forgetter, "_end"),
}


def killed(workspace: Workspace, name: str, monkeypatch: pytest.MonkeyPatch, point: Point) -> None:
    """Forget it with its history, until the process ends at this point."""
    forgetter = Forgetter(workspace.vault, "en", workspace.cache)
    path, found = forgetter.plan(name)
    forgetter.preview(path, found, remote=False)
    with monkeypatch.context() as planted:
        point(planted)
        with pytest.raises(Cut):
            forgetter.carry_out(path, found, remote=False)


def check_gone(root: Path, path: str, secret: str = SECRET) -> None:
    """The history of the branch and the files hold nothing of it any more, and all else is as it was."""
    workspace = open_workspace(root)
    words = secret.split()[-1], secret.split()[1]
    assert [where for where, data in files(root, root.parent / "home") if words[0].encode() in data] == []
    assert [word for word in words if word in history(root)] == [] and not (root / path).exists()
    assert load_tombstones(workspace.vault).is_forgotten(
        f"# Secret\n\n{TREASURE}\nmore\n" if secret == TREASURE else secret
    )
    assert "The boat is blue" in history(root) and (root / "note.md").read_text().startswith("mine\n")
    assert git(root, "status", "--porcelain") == ""
    assert "error" not in git(root, "fsck", "--strict", "--no-dangling")
    assert (
        not (workspace.vault.private_folder / FORGETTING).exists() and not workspace.vault.writer.journal.unfinished()
    )


OFTEN = (
    *(
        "it is noted",
        "the files are changed",
        "the commit is made",
        "the first half is done",
        "the new commits are there",
    ),
    *("a backup", "the branch is moved"),
)
"""The moments that are tried each time; the others at full size."""


@pytest.mark.parametrize(
    "point",
    [pytest.param(point, id=name, marks=() if name in OFTEN else pytest.mark.chaos) for name, point in POINTS.items()],
)
def test_the_next_start_finishes_it(plain: Path, monkeypatch: pytest.MonkeyPatch, point: Point) -> None:
    secret = entry(plain)
    killed(open_workspace(plain), secret, monkeypatch, point)
    write(plain / "note.md", "mine\nand a line of today\n")
    assert main(["commit"]) == 0
    check_gone(plain, secret)
    assert "and a line of today" in history(plain)
    assert len(git(plain, "for-each-ref", purge.BACKUP).splitlines()) == 1


def test_what_stood_in_one_row_with_it_stays_when_it_is_finished(plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row of a day's summary names many facts: a crash must not take the others along."""
    assert main(["remember", "My sister lives in Porto"]) == 0
    day = "daily/2026-11-21.md"
    row = f"{SECRET}.; My sister lives in Porto.; The bins go out on Monday.\n"
    with open_workspace(plain).vault.transaction("memory: a day", Stamp("agent", tool=DAILY)) as change:
        change.create(
            day, f"---\ntype: daily\n---\n# 2026-11-21\n\n## 12:00 - Memory\n\n- Answer: {SECRET}.\n{row}".encode()
        )
    killed(open_workspace(plain), SECRET, monkeypatch, after(forget, "carry_out"))
    with reported() as told:
        open_workspace(plain)
    assert told.getvalue() == "" and "kelp-4711" not in history(plain)
    assert list((plain / "entries").rglob("*porto*.md")) and "Porto" in git(plain, "show", f"HEAD:{day}")
    before_it = git(plain, "log", "--format=%H", "--diff-filter=A", "--", day).strip()
    assert "Porto" in git(plain, "show", f"{before_it}:{day}")


def test_a_note_goes_with_all_its_versions(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed(open_workspace(root), NOTE, monkeypatch, after(forget, "carry_out"))
    check_gone(root, NOTE, TREASURE)


def test_while_another_process_forgets_nobody_else_goes_on(plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = open_workspace(plain)
    killed(workspace, entry(plain), monkeypatch, after(forget, "carry_out"))
    with Forgetter(workspace.vault, "en", workspace.cache)._held():
        open_workspace(plain)
        assert "kelp-4711" in history(plain)
    open_workspace(plain)
    assert "kelp-4711" not in history(plain)


def test_what_was_changed_since_is_not_forgotten_and_that_is_said(plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed(open_workspace(plain), NOTE, monkeypatch, before(forget, "carry_out"))
    write(plain / NOTE, "something else\n")
    tip = head(plain)
    with reported() as told:
        open_workspace(plain)
    assert f"vault-agent forget {NOTE} --purge" in told.getvalue()
    assert (plain / NOTE).read_text() == "something else\n" and head(plain) == tip
    with reported() as told:
        open_workspace(plain)
    assert told.getvalue() == ""


def test_a_new_note_in_the_place_of_the_old_one_stays(plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed(open_workspace(plain), NOTE, monkeypatch, after(forget, "carry_out"))
    write(plain / NOTE, "a new beginning\n")
    open_workspace(plain)
    assert (plain / NOTE).read_text() == "a new beginning\n"
    assert "oak" not in history(plain)


@pytest.mark.parametrize("lock", ["HEAD.lock", "refs/heads/main.lock", "refs/vault-agent/before-purge/x.lock"])
def test_a_lock_that_a_killed_git_has_left_is_removed(plain: Path, monkeypatch: pytest.MonkeyPatch, lock: str) -> None:
    secret, workspace = entry(plain), open_workspace(plain)
    killed(workspace, secret, monkeypatch, at_ref("refs/" if "vault-agent" in lock else "HEAD", False))
    token = json.loads((workspace.vault.private_folder / FORGETTING).read_text())["token"]
    left = plain / ".git" / lock.replace("x.lock", f"{token}.lock")
    write(left, b"")
    os.utime(left, (left.stat().st_mtime - 60,) * 2)
    check_gone(plain, secret)


def test_while_a_rebase_lasts_it_waits(plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed(open_workspace(plain), entry(plain), monkeypatch, after(forget, "carry_out"))
    git(plain, "checkout", "-q", "--detach")
    assert (open_workspace(plain).vault.private_folder / FORGETTING).exists()
    git(plain, "checkout", "-q", "main")
    assert not (open_workspace(plain).vault.private_folder / FORGETTING).exists()


def test_a_note_of_it_that_is_damaged_stops_nobody(plain: Path) -> None:
    note = open_workspace(plain).vault.private_folder / FORGETTING
    for text in ("", "{}", '{"token": 1', "\0\0"):
        note.write_text(text)
        with reported() as told:
            open_workspace(plain)
        assert "cannot be read" in told.getvalue() and not note.exists()


def test_the_note_of_it_holds_no_text_and_is_private(plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = open_workspace(plain)
    killed(workspace, NOTE, monkeypatch, after(forget, "carry_out"))
    note = workspace.vault.private_folder / FORGETTING
    assert "oak" not in note.read_text() and json.loads(note.read_text())["path"] == NOTE
    assert note.stat().st_mode & 0o077 == 0


def test_a_start_that_forgets_to_finish_is_caught(plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = entry(plain)
    killed(open_workspace(plain), secret, monkeypatch, after(forget, "carry_out"))
    monkeypatch.setattr(app_forgetting.Forgetter, "finish", lambda self: None)
    with pytest.raises(AssertionError):
        check_gone(plain, secret)


@pytest.mark.parametrize("kills", [1, pytest.param(100, marks=pytest.mark.chaos)])
def test_kills_at_random_moments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kills: int) -> None:
    rng, clock = Random("forget"), SystemClock()
    for number in range(kills):
        folder = tmp_path / str(number)
        with monkeypatch.context() as here:
            root = furnish(folder, here)
            secret = entry(root)
            command = [sys.executable, "-m", "agent", "forget", secret, *FOR_GOOD]
            with subprocess.Popen(
                command, cwd=root, env={**os.environ, "PYTHONPATH": str(PROJECT)}, stdout=-3, start_new_session=True
            ) as process:
                clock.sleep(rng.uniform(0.2, 1.5))
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
            open_workspace(root).vault.settle()
            assert main(["forget", secret, *FOR_GOOD]) in {0, 2}, "2: it was finished before"
            check_gone(root, secret)
            assert left(root, folder / "home", ["kelp-4711"]) == []
