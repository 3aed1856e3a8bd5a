"""A person who types slowly, renames, deletes, adds below answers, overwrites them, beside the daemon's inbox.

Real files and git; the clock is ours, so that a person's pauses cost nothing. Everything that they have ever typed and
not taken back is kept beside, to be compared with what the notes say in the end.
"""

import random
from collections.abc import Callable, Iterator
from concurrent.futures import wait
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from agent.app.agent import opened_runs
from agent.app.open import open_workspace
from agent.background.inbox.inbox import Inbox
from agent.background.pool import Pool
from agent.background.turns import TurnsToGiveBack
from agent.clock import SystemClock
from agent.events.types import DaemonStarted, FilesChanged
from agent.loop.records import Began
from agent.loop.session import load_session, sessions
from agent.markdown import requests
from agent.watch.snapshot import Recent
from agent.watch.watcher import Watcher
from agent.workspace.machine import open_claims
from agent.workspace.search_index import open_index
from agent.workspace.vault_watcher import watch_vault
from agent.workspace.workspace import Workspace
from tests.fakes import FakeClock
from tests.vaults import write

QUIET = 5.0
WORDS = ["amber", "anchor", "barley", "basket", "beacon", "bishop", "canyon", "carpet", "cellar", "cinder", "copper"]


@dataclass
class Written:
    """A note of the person's: their lines in order, how many of their requests were finished, the text as it stood in
    their editor before the last answer."""

    lines: list[str]
    finished: int = 0
    at_most: int = 0
    loaded: str = ""


@dataclass
class Desk:
    """The person, the vault, and the daemon's eyes and inbox."""

    workspace: Workspace
    clock: FakeClock
    eyes: Watcher
    inbox: Inbox
    chance: random.Random
    notes: dict[str, Written] = field(default_factory=dict)
    gone: int = 0
    gone_at_most: int = 0
    count: int = 0
    overwrites: int = 0

    @property
    def root(self) -> Path:
        return self.workspace.vault.place.root

    def turn(self, seconds: float) -> None:
        """Let time pass and the daemon take a turn."""
        self.clock.advance(seconds)
        self.eyes.hints.overflow("a turn of the test")
        now = self.clock.monotonic()
        self.inbox.changed(FilesChanged(tuple(self.eyes.poll(now)), now))
        self.inbox.turn(now)
        self.inbox.turns.turn(now)

    @property
    def busy(self) -> bool:
        """Whether a request is worked on."""
        return any(entry.is_running for entry in self.inbox.entries.values())

    def rest(self) -> None:
        """Until all that is asked is answered."""
        calm = 0
        for _ in range(400):
            self.turn(1.0)
            for entry in list(self.inbox.entries.values()):
                if entry.work is not None:
                    wait([entry.work], 30)
            calm = 0 if self.inbox.entries or self.eyes.comparison.missing else calm + 1
            if calm == 6:  # a look at all files, a look at what it found, and the telling of it take a turn each
                return
        raise AssertionError(f"never at rest: {self.inbox.entries}")

    def act(self) -> None:
        """One thing that a person does."""
        self.count += 1
        known = sorted(self.notes)
        acts = [self.ask, self.ask]
        if known:
            acts += [self.follow, self.follow, self.rename, self.delete, self.hurry, self.touch, self.overwrite]
        self.chance.choice(acts)()
        if self.chance.random() < 0.2:
            self.workspace.vault.commit_human()

    def ask(self) -> None:
        """A new note, or a new task, typed slowly and left alone; sometimes thrown away before that."""
        path = f"inbox/n{self.count}.md" if self.chance.random() < 0.7 else f"plans/p{self.count}.md"
        first = f"Question {self.count} {self._words()}"
        lines = [first] if path.startswith("inbox") else ["# Plan", f"- [ ] @agent {first}", "- [ ] mine"]
        self._type(path, "", "\n".join(lines))
        if self.chance.random() < 0.15:
            (self.root / path).unlink()
            self.rest()
            return
        self.notes[path] = Written([self._plain(line) for line in lines], 1, 1, "\n".join(lines))
        if self.chance.random() < 0.2:
            path = self._renamed(path)
        self.rest()

    def follow(self) -> None:
        """More words below the answer, or another task."""
        path = self._any()
        before = (self.root / path).read_text("utf-8")
        line = f"Follow {self.count} {self._words()}"
        line = line if path.startswith("inbox") else f"- [ ] @agent {line}"
        self._type(path, before, f"\n{line}\n")
        self.notes[path].lines.append(self._plain(line))
        self.notes[path].finished += 1
        self.notes[path].at_most += 1
        self.notes[path].loaded = f"{before}\n{line}\n"
        self.rest()

    def touch(self) -> None:
        """Words above the answer, which ask nothing."""
        path = self._any()
        text = (self.root / path).read_text("utf-8")
        first = self.notes[path].lines[0]
        write(self.root / path, text.replace(first, f"{first} really", 1))
        self.notes[path].lines[0] = f"{first} really"
        self.rest()

    def overwrite(self) -> None:
        """An editor that has not seen the answer saves what it had loaded, and later once more what it then shows."""
        path = self._any()
        note = self.notes[path]
        if self._own(note.loaded) != note.lines:
            return
        with_answer = (self.root / path).read_text("utf-8")
        write(self.root / path, note.loaded)
        self.overwrites += 1
        self.rest()
        write(self.root / path, with_answer)
        self.rest()

    def hurry(self) -> None:
        """Words below the answer, and more while the agent works on them, or another name for the note."""
        path = self._any()
        if not path.startswith("inbox"):
            return
        before = (self.root / path).read_text("utf-8")
        line = f"Hurry {self.count} {self._words()}"
        self._type(path, before, f"\n{line}\n")
        for _ in range(12):
            if self.busy:
                break
            self.turn(1.0)
        note = self.notes[path]
        note.finished, note.at_most = note.finished + 1, note.at_most + 2
        note.lines.append(line)
        if self.chance.random() < 0.5:
            self._renamed(path)
        else:
            more = f"More {self.count} {self._words()}"
            with (self.root / path).open("a", encoding="utf-8") as file:
                file.write(f"\n{more}\n")
            note.lines.append(more)
        self.rest()

    def rename(self) -> None:
        """Another name for an answered note."""
        self._renamed(self._any())
        self.rest()

    def delete(self) -> None:
        """An answered note goes."""
        path = self._any()
        if self.chance.random() < 0.5:
            return
        (self.root / path).unlink()
        note = self.notes.pop(path)
        self.gone, self.gone_at_most = self.gone + note.finished, self.gone_at_most + note.at_most
        self.rest()

    def check(self) -> None:
        """Every finished request answered once, nothing else; every line of the person's there, in order."""
        for path, note in self.notes.items():
            data = (self.root / path).read_bytes()
            assert self._own(data.decode()) == note.lines, path
            answers = data.count(b"%% vault-agent: answer ")
            assert note.finished <= answers <= note.at_most, f"{path}: {answers} answers, {note}\n{data.decode()}"
        least = self.gone + sum(note.finished for note in self.notes.values())
        most = self.gone_at_most + sum(note.at_most for note in self.notes.values())
        assert least <= self.runs() <= most, f"{self.runs()} runs, between {least} and {most} were asked for"
        assert not list(self.root.rglob("*conflict*"))

    def runs(self) -> int:
        """How many runs there have been."""
        vault = self.workspace.vault
        found = (load_session(vault, path).records for path in sessions(vault))
        return sum(isinstance(record.event, Began) for records in found for record in records)

    def _type(self, path: str, before: str, words: str) -> None:
        """Save pieces of the words with pauses that are shorter than the quiet interval."""
        cuts = sorted({self.chance.randrange(len(words)) for _ in range(3)} | {len(words)})
        for cut in cuts:
            write(self.root / path, before + words[:cut])
            self.turn(self.chance.uniform(0.3, QUIET - 3.0))
            assert not self.busy, "it began before the person was done"

    def _renamed(self, path: str) -> str:
        folder = path.partition("/")[0]
        new = f"{folder}/r{self.count}-{self.chance.randrange(10**6)}.md"
        (self.root / path).rename(self.root / new)
        self.notes[new] = self.notes.pop(path)
        return new

    def _any(self) -> str:
        return self.chance.choice(sorted(self.notes))

    def _words(self) -> str:
        return " ".join(self.chance.sample(WORDS, 4))

    def _own(self, text: str) -> list[str]:
        return [self._plain(line) for line in requests.own_words(text.encode()).splitlines() if line.strip()]

    def _plain(self, line: str) -> str:
        return line.replace("- [x] @agent", "- [ ] @agent").rstrip()


@contextmanager
def desk(
    root: Path, seed: int, changed: Callable[[Workspace], Workspace] = lambda workspace: workspace
) -> Iterator[Desk]:
    """A person at their desk, and the inbox of a daemon that has started; `changed` may swap a part of it."""
    clock = FakeClock()
    workspace = changed(open_workspace(root, clock=clock))
    with closing(open_index(workspace)) as index:
        index.refresh()
        eyes = watch_vault(workspace, index.known(), Recent(1 << 20))
        pool = Pool(SystemClock())
        open_runs, turns = partial(opened_runs, workspace), TurnsToGiveBack(pool, open_claims(workspace))
        inbox = Inbox(workspace, pool, open_runs, turns, lambda path, hash: None, lambda: None)
        inbox.start(None)
        turns.start(DaemonStarted(""))
        with closing(eyes), closing(inbox), closing(pool):
            eyes.poll(clock.monotonic())
            yield Desk(workspace, clock, eyes, inbox, random.Random(seed))
