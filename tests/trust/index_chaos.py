"""Random work on a vault while its daemon is killed again and again, with the harness's own list of what must be found.

The list is what the harness itself wrote; neither the product nor git is asked what there is.
"""

import random
import shutil
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from zlib import crc32

from agent.app.open import open_workspace
from agent.workspace.search_index import SearchIndex, open_index
from tests.daemon.house import WORDS, blob, check_equals_a_rebuild, prose
from tests.daemon.process import kill, spawn, wait_for
from tests.vaults import git, make_vault, write


@dataclass
class Work:
    """What a person does to the notes; `texts` is what every note is to say."""

    root: Path
    chance: random.Random
    texts: dict[str, str] = field(default_factory=dict)
    made: int = 0

    def text(self) -> str:
        self.made += 1
        return f"# Note {self.made}\n\nword{self.made}x {prose(f'{self.made}')}"

    def step(self) -> None:
        name = self.chance.choice(["make", "make", "edit", "edit", "edit", "move", "remove", "folder", "burst", "back"])
        getattr(self, name)()

    def put(self, path: str) -> None:
        self.texts[path] = self.text()
        write(self.root / path, self.texts[path])

    def some(self) -> str:
        return self.chance.choice(sorted(self.texts)) if self.texts else ""

    def make(self) -> None:
        self.put(f"{self.chance.choice(['', 'a/', 'a/b/', 'c/'])}{self.chance.randrange(40)}.md")

    def edit(self) -> None:
        if self.texts:
            self.put(self.some())

    def move(self) -> None:
        path, to = self.some(), f"moved/{self.made}-{self.chance.randrange(99)}.md"
        if path and to not in self.texts:
            (self.root / "moved").mkdir(exist_ok=True)
            (self.root / path).rename(self.root / to)
            self.texts[to] = self.texts.pop(path)

    def remove(self) -> None:
        if len(self.texts) > 3:
            path = self.some()
            (self.root / path).unlink()
            del self.texts[path]

    def folder(self) -> None:
        """A whole folder gets another name."""
        to = f"d{self.made}"
        if (self.root / "a").is_dir() and not (self.root / to).exists():
            (self.root / "a").rename(self.root / to)
            moved = {path: text for path, text in self.texts.items() if path.startswith("a/")}
            for path, text in moved.items():
                del self.texts[path]
                self.texts[to + path[1:]] = text

    def burst(self) -> None:
        for _ in range(10):
            self.make()

    def back(self) -> None:
        """git takes back what was not committed in one note, unless the daemon is just committing, or died at it."""
        path = self.some()
        if path and git(self.root, "ls-tree", "HEAD", "--", path):
            git(self.root, "checkout", "-q", "HEAD", "--", path, check=False)
            self.texts[path] = (self.root / path).read_text()


def harm(folder: Path, chance: random.Random) -> None:
    """Do something to the files of an index that must not happen.

    They are replaced, not written over: a program that has mapped a file into memory does not survive its being cut.
    """
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size)
    kind = chance.choice(["delete all", "delete", "flip", "cut"])
    if kind == "delete all" or not files:
        shutil.rmtree(folder, ignore_errors=True)
        return
    path = chance.choice(files)
    data = bytearray(path.read_bytes())
    path.unlink()
    if kind == "cut":
        path.write_bytes(data[: len(data) // 2])
    elif kind == "flip":
        data[chance.randrange(len(data))] ^= 0xFF
        path.write_bytes(data)


def chaos(folder: Path, seed: str, kills: int, env: Mapping[str, str]) -> None:
    """Work on, with a daemon that is killed `kills` times; in the end the index has what the list has."""
    chance = random.Random(seed)
    root = make_vault(folder, {"first.md": "first\n"}).place.root
    work = Work(root, chance, {"first.md": "first\n"})
    with closing(open_index(open_workspace(root))) as index:
        for _ in range(kills):
            daemon = spawn(root, env)
            try:
                wait_for(daemon, index.known, "there is an index")
                for _ in range(chance.randrange(4, 16)):
                    work.step()
                    index.workspace.clock.sleep(chance.choice([0.0, 0.0, 0.02, 0.3]))
            finally:
                kill(daemon)
            if chance.random() < 0.3:
                work.step()
            if chance.random() < 0.3:
                index.close()
                harm(index.files.folder, chance)
        daemon = spawn(root, env)
        try:
            wanted = {path: blob(text.encode()) for path, text in work.texts.items()}
            wait_for(daemon, lambda: index.known() == wanted, f"the index has what there is ({seed})")
            # Damage that no update has read is met by the first search that reads there, and mended by the daemon.
            wait_for(daemon, lambda: all_right(index, work.texts), f"the index is whole ({seed})")
            check_found(index, work.texts)
            check_equals_a_rebuild(index, folder / "rebuilt", WORDS[crc32(seed.encode()) % 20 :: 4])
        finally:
            kill(daemon)


def check_found(index: SearchIndex, texts: Mapping[str, str]) -> None:
    """Every note is found by the word that it alone has."""
    assert all_right(index, texts), "an answer is degraded"


def all_right(index: SearchIndex, texts: Mapping[str, str]) -> bool:
    """Ask for every note by the word that it alone has; whether no answer said that it is degraded.

    Raises `AssertionError` for an answer that is wrong and does not say so.
    """
    whole = True
    for path, text in texts.items():
        mark = text.split("\n\n")[-1].split()[0]
        answer = index.search(mark, 50)
        found = [hit.path for hit in answer.hits if mark in hit.passage.split()]
        wanted = sorted(path for path, other in texts.items() if mark in other.split())
        assert sorted(found) == wanted or answer.degraded, f"{mark} of {path}"
        whole = whole and answer.degraded is None
    return whole
