"""Whatever a repository looks like, `forget --purge --for-good` deletes what leads to the forgotten words, and nothing
else: not what is only staged, stashed, in a log or a work tree, or what nothing leads to; killed half-way, too."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from agent.app.open import open_workspace
from agent.git import delete_objects, reference_logs
from agent.memory.forgetting.purge import Forgetter
from agent.vault.history import deletion
from tests.vaults import git, make_vault, write

WORD, NOTE = "xyzzy", "secret.md"


class Cut(BaseException):
    """Stands for the end of the process."""


class Person:
    """Works in a repository with git, at random; now and then on the note with the word."""

    def __init__(self, root: Path, rng: Random) -> None:
        self.root, self.rng, self.count = root, rng, 0

    def do(self) -> None:
        deeds = (self.commit, self.commit, self.secret, self.reset, self.amend, self.branch, self.stash, self.stage)
        self.rng.choice((*deeds, self.dangling, self.pack, self.work_tree, self.merge))()

    def new_text(self) -> str:
        self.count += 1
        return f"# Text {self.count}\n\n{self.rng.random()}\n"

    def commit(self) -> None:
        write(self.root / f"{self.rng.choice(('a', 'b', 'deep/c'))}.md", self.new_text())
        git(self.root, "add", "-A")
        git(self.root, "commit", "-q", "-m", f"commit {self.count}")

    def secret(self) -> None:
        write(self.root / NOTE, f"{self.new_text()}the {WORD}\n")
        git(self.root, "add", "-A")
        git(self.root, "commit", "-q", "-m", f"about {NOTE} {self.count}")

    def reset(self) -> None:
        git(self.root, "reset", "-q", "--hard", "HEAD~1", check=False)

    def amend(self) -> None:
        write(self.root / "a.md", self.new_text())
        git(self.root, "commit", "-q", "-a", "--amend", "-m", f"amended {self.count}", check=False)

    def branch(self) -> None:
        self.count += 1
        git(self.root, "branch", f"side{self.count}", self.rng.choice(("HEAD", "HEAD~1")), check=False)

    def stash(self) -> None:
        write(self.root / "a.md", self.new_text())
        git(self.root, "stash", "-q", check=False)

    def stage(self) -> None:
        write(self.root / "staged.md", self.new_text())
        git(self.root, "add", "staged.md")

    def dangling(self) -> None:
        path = self.root.parent / "text"
        path.write_text(self.new_text())
        git(self.root, "hash-object", "-w", "--no-filters", str(path))

    def pack(self) -> None:
        git(self.root, "repack", "-q", *self.rng.choice((["-ad"], ["-d"], ["-ad", "--write-midx"], ["-Ad"])))
        git(self.root, "commit-graph", "write", "--reachable")

    def work_tree(self) -> None:
        self.count += 1
        git(self.root, "worktree", "add", "-q", "--detach", str(self.root.parent / f"tree{self.count}"), check=False)

    def merge(self) -> None:
        names = git(self.root, "for-each-ref", "--format=%(refname)", "refs/heads/side*").split()
        if names:
            git(self.root, "merge", "-q", "-s", "ours", "-m", "merged", self.rng.choice(names), check=False)


def objects(root: Path) -> dict[str, bytes]:
    """All objects of a repository, by id."""
    command = ["git", "cat-file", "--batch-all-objects", "--batch"]
    out = subprocess.run(command, cwd=root, capture_output=True, check=True).stdout
    found, at = {}, 0
    while at < len(out):
        end = out.index(b"\n", at)
        oid, _, size = out[at:end].decode().split(" ")
        found[oid] = out[end + 1 : end + 1 + int(size)]
        at = end + 2 + int(size)
    return found


def leading_to_the_word(root: Path) -> set[str]:
    """The objects that have the word, and all from which one of these is reached."""
    known = objects(root)
    found = {oid for oid, data in known.items() if WORD.encode() in data}
    return {oid for oid in known if not found.isdisjoint(git(root, "rev-list", "--objects", oid).split())} | found


def kept(root: Path) -> set[str]:
    """What references, indexes and stashes lead to, the backups of purges aside."""
    stashes = git(root, "stash", "list", "--format=%H").split()
    command = [
        "rev-list",
        "--objects",
        "--no-object-names",
        "--exclude=refs/vault-agent/*",
        "--all",
        "--indexed-objects",
    ]
    return set(git(root, *command, *stashes).split())


def log_rows(root: Path, gone: set[str]) -> dict[str, list[list[str]]]:
    """The new ids and messages of the logs' entries that lead to nothing of what is gone, oldest first."""
    rows = {}
    for log in sorted((root / ".git").rglob("logs/**/*")):
        if log.is_file():
            lines = [line.split(" ", 2)[1:] for line in log.read_text().splitlines()]
            rows[str(log)] = [line for line in lines if line[0] not in gone]
    return rows


def lived_in(folder: Path, rng: Random) -> Path:
    folder.mkdir()
    root = make_vault(folder, {"a.md": "# A\n", "b.md": "# B\n"}).place.root
    person = Person(root, rng)
    for _ in range(rng.randrange(4, 12)):
        person.do()
    person.secret()
    for _ in range(rng.randrange(0, 6)):
        person.commit()
    return root


def purged(root: Path) -> Forgetter:
    workspace = open_workspace(root)
    forgetter = Forgetter(workspace.vault, "en", workspace.cache)
    path, found = forgetter.plan(NOTE)
    forgetter.carry_out(path, found, remote=False, confirmed=True)
    return forgetter


CUTS: tuple[tuple[object, str], ...] = (
    (deletion, "save_purged"),
    (deletion, "_drop_references"),
    (deletion, "drop_entries"),
    (reference_logs, "_replace"),
    (delete_objects, "_pack_again"),
    (delete_objects, "_drop_derived"),
    (deletion, "drop_index"),
)


def cut_after(monkeypatch: pytest.MonkeyPatch, owner: object, name: str, calls: int) -> None:
    """The process ends after this was done so often."""
    real: Callable[..., object] = getattr(owner, name)
    left = [calls]

    def cut(*args: object, **kwargs: object) -> object:
        out = real(*args, **kwargs)
        left[0] -= 1
        if not left[0]:
            raise Cut
        return out

    monkeypatch.setattr(owner, name, cut)


@pytest.mark.parametrize("seeds", [4, pytest.param(200, marks=pytest.mark.chaos)])
def test_what_is_deleted_leads_to_the_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seeds: int) -> None:
    for seed in range(seeds):
        rng = Random(f"delete {seed}")
        monkeypatch.setenv("VAULT_AGENT_HOME", str(tmp_path / f"home{seed}"))
        monkeypatch.setenv("VAULT_AGENT_GIT__DURABLE", "false")
        root = lived_in(tmp_path / str(seed), rng)
        forgetter = purged(root)
        for _ in range(rng.randrange(0, 3)):
            Person(root, rng).reset()
        before, doomed, held = objects(root), leading_to_the_word(root), kept(root)
        logs, refs = log_rows(root, doomed), git(root, "for-each-ref", "refs/heads", "refs/stash")
        if rng.random() < 0.5:
            with monkeypatch.context() as planted, pytest.raises(Cut):
                cut_after(planted, *rng.choice(CUTS[:3] + CUTS[-2:]), calls=1)
                forgetter.delete_for_good()
            open_workspace(root)
        else:
            forgetter.delete_for_good()
        after = objects(root)
        assert before.keys() - after.keys() <= doomed, seed
        assert {oid for oid, data in after.items() if WORD.encode() in data} <= held, seed
        assert log_rows(root, doomed) == logs, f"{seed}: entries that lead elsewhere stay"
        assert refs == git(root, "for-each-ref", "refs/heads", "refs/stash")
        assert git(root, "for-each-ref", "refs/vault-agent/before-purge") == ""
        assert "error" not in git(root, "fsck", "--strict", "--no-dangling") and git(root, "fsck").find("missing") == -1


@pytest.mark.parametrize(("owner", "name"), CUTS, ids=[name for _, name in CUTS])
def test_a_deletion_that_was_killed_is_finished_by_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: object, name: str
) -> None:
    monkeypatch.setenv("VAULT_AGENT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("VAULT_AGENT_GIT__DURABLE", "false")
    root = make_vault(tmp_path, {"a.md": "# A\n"}).place.root
    person = Person(root, Random(1))
    for deed in (person.secret, person.commit, person.pack, person.secret, person.commit):
        deed()
    forgetter = purged(root)
    with monkeypatch.context() as planted:
        cut_after(planted, owner, name, 1)
        with pytest.raises(Cut):
            forgetter.delete_for_good()
    open_workspace(root)
    assert leading_to_the_word(root) == set() and git(root, "for-each-ref", "refs/vault-agent") == ""
    assert "error" not in git(root, "fsck", "--strict", "--no-dangling")
    assert git(root, "log", "-1", "--format=%s") != "" and not any(
        NOTE in Path(parent, each).read_text("utf-8", "replace")
        for parent, _, names in os.walk(root / ".git/logs")
        for each in names
    )
