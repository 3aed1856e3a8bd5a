"""A daemon that starts reads few notes, and yet misses nothing that was edited while none was at work."""

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.git.runner import Git
from agent.watch import compare
from agent.watch.scan import read_file
from tests.daemon.house import furnish, living, on_disk, prose
from tests.vaults import git, make_vault, write
from tests.watch.saves import SAVES

NOTES = {f"{n % 5}/note {n}.md": f"# Note {n}\n\n{prose(str(n))}" for n in range(40)}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A vault of forty notes, which a daemon has taken in."""
    furnish(tmp_path / "home", monkeypatch.setenv)
    root = make_vault(tmp_path, NOTES).place.root
    with living(root) as house:
        house.step()
        house.commits_all()
    return root


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that watchers read from now on."""
    found: list[str] = []

    def counted(root: Path, path: str) -> object:
        found.append(path)
        return read_file(root, path)

    monkeypatch.setattr(compare, "read_file", counted)
    return found


def test_a_vault_that_nobody_has_touched_is_not_read(
    root: Path, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, start = list[str](), Git.start

    def counted(git: Git, *args: str, **how: object) -> object:
        asked.append(args[0])
        return start(git, *args, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(Git, "start", counted)
    with living(root) as house:
        assert house.live.lookout.watcher.next_due() is not None, "the first poll need not look at all files"
        assert "grep" not in asked, "the index knows the goals"
        house.for_a_while(0.5)
        assert read == [] and asked.count("status") == 1
        write(root / "0/note 0.md", "# Zebras\n")
        house.until(lambda: house.finds("Zebras") == ["0/note 0.md"], "it is found")
        assert set(read) == {"0/note 0.md"}
        house.commits_all()


def same_size(text: str, chance: random.Random) -> str:
    """Another text of as many bytes."""
    other = list(text)
    chance.shuffle(other)
    return "".join(other)


def edit(root: Path, path: str, how: str, chance: random.Random) -> None:
    """Save a note as some program does: often with the size, and with the time, of before."""
    target = root / path
    before, text = target.stat(), target.read_text("utf-8")
    for _ in SAVES[how](target, (same_size(text, chance) if chance.random() < 0.7 else f"{text}More.\n").encode()):
        pass
    if chance.random() < 0.7:
        os.utime(target, ns=(before.st_atime_ns, before.st_mtime_ns))


def by_branch(root: Path, chance: random.Random) -> None:
    """Another branch is checked out, and merged."""
    git(root, "checkout", "-q", "-b", "other")
    for path in chance.sample(sorted(NOTES), 5):
        write(root / path, f"of another branch {chance.random()}\n")
    git(root, "commit", "-q", "-a", "-m", "other")
    git(root, "checkout", "-q", "main")
    git(root, "merge", "-q", "--ff-only", "other")


def by_backup(root: Path, chance: random.Random) -> None:
    """A folder comes back from a backup, with the times of long ago."""
    for path in chance.sample([each for each in sorted(NOTES) if each.startswith("1/")], 3):
        copy = root.parent / "copy.md"
        write(copy, same_size((root / path).read_text("utf-8"), chance))
        shutil.copystat(root / path, copy)
        copy.replace(root / path)


def by_hand(root: Path, chance: random.Random) -> None:
    """A person saves some notes, and makes, moves and deletes others."""
    paths = chance.sample([each for each in sorted(NOTES) if (root / each).exists()], 6)
    for path in paths[:3]:
        edit(root, path, chance.choice(sorted(SAVES)), chance)
    (root / paths[3]).rename(root / "moved.md")
    (root / paths[4]).unlink()
    write(root / "new/new.md", f"# New\n\n{chance.random()}\n")
    git(root, "add", paths[0])
    edit(root, paths[0], "in_place", chance)


def by_a_careless_git(root: Path, chance: random.Random) -> None:
    """git was told to overlook edits of a note, or that have the time of before."""
    path = chance.choice([each for each in sorted(NOTES) if (root / each).exists()])
    how = chance.choice(["--assume-unchanged", "core.trustctime=false", "core.checkStat=minimal"])
    if how.startswith("--"):
        git(root, "update-index", how, path)
    else:
        git(root, "config", *how.split("="))
    edit(root, path, "in_place", chance)


WAYS: list[Callable[[Path, random.Random], None]] = [by_branch, by_backup, by_hand, by_a_careless_git]


@pytest.mark.parametrize("seed", range(6))
def test_whatever_was_edited_while_none_was_at_work_is_found(root: Path, read: list[str], seed: int) -> None:
    chance = random.Random(seed)
    for way in chance.sample(WAYS, 2):
        way(root, chance)
    with living(root) as house:
        house.step()
        house.catches_up()
        assert house.index.known() == on_disk(root)
