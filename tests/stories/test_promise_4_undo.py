"""Promise 4: one command undoes any run, byte for byte, and keeps what people wrote.

The harness keeps two worlds of its own: what is on disk, and what would be there had the run never been. People and
the run act on both; after the undo the disk must be the second world, and after the undo's undo the first again.
"""

import random
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agent.vault.change import Stamp
from agent.vault.history.undo import undo
from agent.vault.history.undo_choice import Selection
from agent.vault.store import Vault
from tests.vaults import git, make_vault, write

RUN = Stamp(run="01HZZZZZZZZZZZZZZZZZZZRUN1", tool="edit")
SMALL, FULL = 20, 500
WORDS = ["river", "山水", "bread", "lamp", "ünder", "kettle", "今天", "stone", "paper", "cloud"]


@dataclass
class Text:
    """One version of a note: a header of two keys, unique lines, and where it is (None: nowhere)."""

    path: str | None
    status: str
    owner: str
    lines: list[str]
    newline: str

    def data(self) -> bytes:
        text = "\n".join(["---", f"status: {self.status}", f"owner: {self.owner}", "---", *self.lines, ""])
        return text.replace("\n", self.newline).encode()


@dataclass
class Note:
    """A note in both worlds; `made_by_run` notes are nowhere in the other one."""

    real: Text
    other: Text
    made_by_run: bool = False
    person_worked_on_it: bool = False
    gaps: set[str] = field(default_factory=set)
    """Lines below which the run removed one: where an insertion by a person would have no certain place."""

    def shared(self) -> list[str]:
        """Lines that are in both worlds, and so are the person's."""
        return [line for line in self.real.lines if self.made_by_run or line in self.other.lines]


class World:
    """A random vault, a run and a person, from one seed."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.random = random.Random(seed)
        self.count = 0
        self.notes = [self.new_note() for _ in range(8)]
        self.vault: Vault = make_vault(folder, {n.real.path or "": n.real.data() for n in self.notes})

    def new_path(self) -> str:
        self.count += 1
        # not daily/: from a log, the lines of the run go even where the person worked on the note
        folder = self.random.choice(["", "days/", "a/b/", "日记/", "new/deep/"])
        return f"{folder}note {self.count}.md"

    def new_line(self) -> str:
        self.count += 1
        return f"{self.random.choice(['', '- [ ] ', '## ', '> '])}{self.random.choice(WORDS)} {self.count}"

    def new_note(self) -> Note:
        path, newline = self.new_path(), self.random.choice(["\n", "\n", "\r\n"])
        lines = [self.new_line() for _ in range(self.random.randint(8, 16))]
        texts = [Text(path, "open", "anna", list(lines), newline) for _ in range(2)]
        return Note(texts[0], texts[1])

    def alive(self) -> list[Note]:
        return [note for note in self.notes if note.real.path is not None]

    # What the run does

    def run_acts(self) -> None:
        """One commit of the run, of one to three changes to different notes."""
        some = self.random.sample(self.alive(), k=min(3, len(self.alive())))
        with self.vault.transaction("edit(notes): the run's work", RUN) as tx:
            for note in some[: self.random.randint(1, 3)]:
                before, path = note.real.data(), note.real.path or ""
                match self.random.choice(["edit", "edit", "append", "move", "delete", "header", "create"]):
                    case "edit":
                        self.run_edits(note)
                        tx.edit(path, before, note.real.data())
                    case "append":
                        line = self.new_line()
                        note.real.lines.append(line)
                        tx.append(path, line.encode())
                    case "move":
                        note.real.path = self.new_path()
                        tx.move(path, note.real.path)
                    case "delete":
                        note.real.path = None
                        tx.delete(path, before)
                    case "header":
                        self.count += 1
                        note.real.status = f"done {self.count}"
                        tx.edit(path, before, note.real.data())
                    case _:
                        made = self.new_note()
                        made.made_by_run, made.other.path = True, None
                        self.notes.append(made)
                        tx.create(made.real.path or "", made.real.data())

    def run_edits(self, note: Note) -> None:
        lines = note.real.lines
        index = self.random.randrange(1, len(lines) - 1)
        match self.random.choice(["insert", "replace", "remove"]):
            case "insert":
                lines.insert(index, self.new_line())
            case "replace":
                lines[index] = self.new_line()
            case _:
                note.gaps.add(lines[index - 1])
                del lines[index]

    # What the person does

    def person_acts(self, *, last: bool = False) -> None:
        """One change by hand; committed with git, by the program, or not yet."""
        note = self.random.choice(self.alive())
        renamed = False
        match self.random.choice(["edit", "edit", "edit", "owner", "rename", "create", "delete"]):
            case "rename":
                self.person_renames(note)
                renamed = True
            case "owner":
                self.count += 1
                note.real.owner = note.other.owner = f"bea {self.count}"
                self.save(note)
            case "create":
                self.notes.append(self.new_note())
                self.save(self.notes[-1])
            case "delete" if len(self.alive()) > 6:
                (self.vault.place.root / (note.real.path or "")).unlink()
                note.real.path = note.other.path = None
            case _:
                self.person_edits(note)
                self.save(note)
        how = self.random.choice(["git", "program", "later"])
        if how == "git" or (how == "later" and renamed and not last):
            git(self.vault.place.root, "add", "-A")
            git(self.vault.place.root, "commit", "-q", "--allow-empty", "-m", "mine")
        elif how == "program":
            self.vault.commit_human()

    def person_edits(self, note: Note) -> None:
        """A change of the person's own lines, the same in both worlds; never where its place would be uncertain."""
        places = [line for line in note.shared()[:-1] if line not in note.gaps]
        if not places:
            return
        line, new = self.random.choice(places), self.new_line()
        act = self.random.choice(["insert", "replace"])
        for text in (note.real,) if note.made_by_run else (note.real, note.other):
            index = text.lines.index(line)
            if act == "insert":
                text.lines.insert(index + 1, new)
            else:
                text.lines[index] = new
        note.person_worked_on_it = True

    def person_renames(self, note: Note) -> None:
        root, old, new = self.vault.place.root, note.real.path or "", self.new_path()
        (root / new).parent.mkdir(parents=True, exist_ok=True)
        (root / old).rename(root / new)
        note.real.path = new
        note.other.path = new
        note.person_worked_on_it = True

    def save(self, note: Note) -> None:
        write(self.vault.place.root / (note.real.path or ""), note.real.data())
        note.person_worked_on_it = True

    # What must be there

    def disk(self) -> dict[str, bytes]:
        root = self.vault.place.root
        files = (path for path in root.rglob("*") if path.is_file() and ".git" not in path.relative_to(root).parts)
        return {path.relative_to(root).as_posix(): path.read_bytes() for path in files}

    def real(self) -> dict[str, bytes]:
        return {"vault-agent.yaml": b"", **{n.real.path: n.real.data() for n in self.notes if n.real.path}}

    def without_the_run(self) -> dict[str, bytes]:
        """The other world; a note that the run made stays, as it stands, where the person worked on it."""
        kept = {
            n.real.path: n.real.data() for n in self.notes if n.made_by_run and n.person_worked_on_it and n.real.path
        }
        others = {n.other.path: n.other.data() for n in self.notes if not n.made_by_run and n.other.path}
        return {"vault-agent.yaml": b"", **others, **kept}


def play(folder: Path, seed: int) -> None:
    """A person and a run take turns; then the run is undone, and the undo undone."""
    world = World(folder, seed)
    for _ in range(world.random.randint(0, 2)):
        world.person_acts()
    for _ in range(world.random.randint(2, 5)):
        world.run_acts()
        for _ in range(world.random.randint(0, 2)):
            world.person_acts()
    for _ in range(world.random.randint(0, 2)):
        world.person_acts(last=True)
    before = world.real()
    assert world.disk() == before, "the harness lost track"

    result = undo(world.vault, Selection(run=RUN.run), confirmed=True)
    assert world.disk() == world.without_the_run()
    assert not result.refused

    if result.commit:
        undo(world.vault, Selection(commits=(result.commit,)), confirmed=True)
    assert world.disk() == before
    root = world.vault.place.root
    world.vault.commit_human()
    assert git(root, "status", "--porcelain") == ""
    assert git(root, "fsck", "--strict", "--no-dangling") == ""


@pytest.mark.parametrize("seed", range(SMALL))
def test_a_run_is_undone_to_the_byte(tmp_path: Path, seed: int) -> None:
    play(tmp_path, seed)
    assert (tmp_path / "vault").is_dir()


@pytest.mark.chaos
@pytest.mark.parametrize("seed", range(SMALL, FULL))
def test_any_run_is_undone_to_the_byte(tmp_path: Path, seed: int) -> None:
    play(tmp_path, seed)
    assert (tmp_path / "vault").is_dir()
