"""Recovery, step by step: the same crash at every point of one transaction."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agent.config import private
from agent.git import objects
from agent.git.commit import Committer
from agent.git.runner import Git
from agent.vault.change import Stamp
from agent.vault.health.status import status
from agent.vault.store import Vault, open_vault
from agent.vault.worktree.files import Files
from agent.vault.write import writer as writing
from agent.vault.write.journal import Journal
from tests.vaults import committed, git, make_vault, write

AGENT = Stamp("agent", run="r1")
NOTES = {"a.md": "one\n", "b.md": "two\n", "c.md": "three\n"}


class Crash(BaseException):
    """The process is gone: nothing after this line runs."""


def change(vault: Vault) -> None:
    with vault.transaction("x", AGENT) as tx:
        tx.create("new/d.md", b"four\n")
        tx.append("a.md", b"more")
        tx.move("b.md", "moved.md")


def crash_when(monkeypatch: pytest.MonkeyPatch, owner: object, name: str, calls: int, after: bool) -> None:
    """Let the `calls`-th call of a function be the last thing that happens, before or after its work."""
    real: Callable[..., object] = getattr(owner, name)
    seen = 0

    def crashing(*args: object, **kwargs: object) -> object:
        nonlocal seen
        seen += 1
        if seen != calls:
            return real(*args, **kwargs)
        if after:
            real(*args, **kwargs)
        raise Crash

    monkeypatch.setattr(owner, name, crashing)
    monkeypatch.setattr(writing.Writer, "_undo", lambda *_: None)


POINTS = [
    *[(Files, "stage", calls, after) for calls in (1, 2, 3) for after in (False, True)],
    (Files, "publish", 1, True),
    (Files, "publish", 2, False),
    (Files, "trade", 1, False),
    (Files, "trade", 1, True),
    (Files, "take", 1, False),
    (Files, "take", 1, True),
    (Committer, "read_tip", 1, False),
    (Committer, "_store", 1, True),
    (Committer, "_move_head", 1, False),
    (Committer, "_move_head", 1, True),
    (Files, "discard", 1, False),
    (Journal, "close", 1, False),
]


@pytest.mark.parametrize(("owner", "name", "calls", "after"), POINTS, ids=lambda p: getattr(p, "__name__", str(p)))
def test_all_of_it_or_nothing_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: type, name: str, calls: int, after: bool
) -> None:
    vault = make_vault(tmp_path, NOTES)
    root = vault.place.root
    with monkeypatch.context() as planted:
        crash_when(planted, owner, name, calls, after)
        with pytest.raises(Crash):
            change(vault)
    fresh = open_vault(root, tmp_path / "state", vault.clock, vault.writer.options)
    with fresh.transaction("after the crash", AGENT) as tx:
        tx.append("c.md", b"still works")
    assert tx.outcome.commit
    whole = committed(root, "new/d.md") == b"four\n"
    expected = {"a.md": b"one\nmore\n", "b.md": None, "moved.md": b"two\n", "new/d.md": b"four\n"}
    untouched = {"a.md": b"one\n", "b.md": b"two\n", "moved.md": None, "new/d.md": None}
    for path, data in (expected if whole else untouched).items():
        assert committed(root, path) == data, path
        assert fresh.read(path) == data, path
    assert git(root, "log", "--format=%s", "--grep=^x$").split() == (["x"] if whole else [])
    assert git(root, "status", "--porcelain") == ""
    assert not list(root.rglob(".vault-agent-*"))
    assert status(fresh).unfinished == 0
    assert git(root, "fsck", "--no-dangling") == ""  # the commit that the crash came before may stay unused


MANY = {f"s/{number:02}.md": f"note {number}\n" for number in range(12)}
OFTEN = [
    *[(Files, "stage", 13, True), (Files, "trade", 2, True), (Files, "publish", 12, True), (Files, "take", 2, True)],
    *[(Committer, "_move_head", 1, False), (Committer, "_move_head", 1, True), (Files, "discard", 13, True)],
]
MOMENTS = [
    *[
        (Files, name, calls, after)
        for name in ("stage", "discard")
        for calls in range(1, 25)
        for after in (False, True)
    ],
    *[(Files, name, calls, True) for name in ("trade", "publish", "take") for calls in range(1, 13)],
]


@pytest.mark.parametrize(
    ("owner", "name", "calls", "after"),
    [*OFTEN, *(pytest.param(*point, marks=pytest.mark.chaos) for point in MOMENTS if point not in OFTEN)],
    ids=lambda p: getattr(p, "__name__", str(p)),
)
def test_of_many_notes_each_keeps_its_own_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: type, name: str, calls: int, after: bool
) -> None:
    """Notes of one folder are edited and renamed in one change: none gets the bytes of another, or a copy of them."""
    vault = make_vault(tmp_path, MANY | {f"s/to edit {path[2:]}": data for path, data in MANY.items()})
    root = vault.place.root
    before = {path: vault.read(path) for path in vault.note_paths()}
    with monkeypatch.context() as planted:
        crash_when(planted, owner, name, calls, after)
        with pytest.raises(Crash), vault.transaction("x", AGENT) as tx:
            for path, data in MANY.items():
                tx.append(f"s/to edit {path[2:]}", b"more")
                tx.delete(path)
                tx.create(f"s/new {path[2:]}", f"renamed: {data}".encode())
    done = {f"s/new {path[2:]}": f"renamed: {data}".encode() for path, data in MANY.items()}
    done |= {path: data + b"more\n" for path, data in before.items() if data and path.startswith("s/to edit")}
    fresh = open_vault(root, tmp_path / "state", vault.clock, vault.writer.options)
    fresh.settle()
    now = {path: fresh.read(path) for path in fresh.note_paths()}
    assert now in (before, done)
    assert git(root, "status", "--porcelain") == "" and not list(root.rglob(".vault-agent-*"))
    assert len(git(root, "log", "--format=%s").splitlines()) == (1 if now == before else 2)


def test_what_a_person_saved_after_the_crash_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vault = make_vault(tmp_path, NOTES)
    with monkeypatch.context() as planted:
        crash_when(planted, Files, "trade", 1, False)
        with pytest.raises(Crash):
            change(vault)
    write(vault.place.root / "a.md", "one\nby hand\n")
    assert vault.settle() == 0
    assert vault.read("a.md") == b"one\nby hand\n"
    assert (vault.read("new/d.md"), vault.read("moved.md"), vault.read("b.md")) == (None, None, b"two\n")


def test_a_save_in_the_very_moment_of_the_crash_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vault = make_vault(tmp_path, {"a.md": "top\n\nmiddle\n\nend\n"})
    root = vault.place.root
    real = Files.stage

    def person_saves_then_crash(files: Files, path: str, temporary: str, data: bytes, mode: int | None) -> None:
        real(files, path, temporary, data, mode)
        if temporary.endswith(".0"):
            write(root / "a.md", "top\n\nmiddle, by hand\n\nend\n")
        else:
            raise Crash

    with monkeypatch.context() as planted:
        planted.setattr(Files, "stage", person_saves_then_crash)
        planted.setattr(writing.Writer, "_undo", lambda *_: None)
        with pytest.raises(Crash), vault.transaction("x", AGENT) as tx:
            tx.edit("a.md", b"top\n\nmiddle\n\nend\n", b"top\n\nmiddle\n\nend, by the agent\n")
    vault.settle()
    everything = git(root, "log", "-p", "--format=") + "".join(path.read_text() for path in root.glob("*.md"))
    assert "middle, by hand" in everything
    assert any("middle, by hand" in path.read_text() for path in root.glob("*.md"))


@pytest.mark.parametrize("by_git", [False, True])
def test_the_index_never_names_an_object_that_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by_git: bool
) -> None:
    """A missing blob would look as if the person had staged a deletion, and be recorded in their name."""
    vault = make_vault(tmp_path, NOTES)
    real = Git.start

    class Killed:
        def wait(self) -> bytes:
            raise Crash

        def end(self) -> None:
            raise Crash

    def start(git: Git, *args: str, **rest: object) -> object:
        return Killed() if args[0] == "unpack-objects" else real(git, *args, **rest)  # type: ignore[arg-type]

    with monkeypatch.context() as planted:
        if by_git:
            planted.setattr(objects, "FEW_OBJECTS", 0)
            planted.setattr(Git, "start", start)
        else:
            crash_when(planted, objects, "_store_one", 2, False)
        with pytest.raises(Crash):
            change(vault)
    listed = [line.split()[1] for line in git(vault.place.root, "ls-files", "-s").splitlines()]
    assert all(vault.git.objects(listed))
    with vault.transaction("y", AGENT) as tx:
        tx.append("c.md", b"more")
    assert git(vault.place.root, "log", "-3", "--format=%an").split() == ["vault-agent", "vault-agent", "Anna"]


def test_a_torn_journal_line_never_took_effect_and_harms_no_later_one(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, NOTES)
    change(vault)
    journal = vault.writer.layout.journal
    with journal.open("ab") as file:
        file.write(b'{"open": "01HZZZZZZZ0000000000000009", "tok')
    with vault.transaction("y", AGENT) as tx:
        tx.append("c.md", b"more")
    assert tx.outcome.commit
    assert vault.writer.journal.unfinished() == []
    assert ("c.md", git(vault.place.root, "rev-parse", "HEAD:c.md").strip()) in vault.writer.journal.written()


def test_locks_on_refs_left_by_a_crash_are_known_to_be_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vault = make_vault(tmp_path, NOTES)
    with monkeypatch.context() as planted:
        crash_when(planted, Committer, "_move_head", 1, False)
        with pytest.raises(Crash):
            change(vault)
    (vault.place.gitdir / "refs/heads/main.lock").touch()
    (vault.place.gitdir / "HEAD.lock").touch()
    left = replace(private.current(), process=999999999)
    (vault.place.gitdir / "index.lock").write_text(f"vault-agent 01HZZZZZZZ0000000000000009 {left}\n")
    with vault.transaction("y", AGENT) as tx:
        tx.append("c.md", b"more")
    assert tx.outcome.commit
    assert committed(vault.place.root, "c.md") == b"three\nmore\n"
