"""A person's days with the agent in this process: time moves when a test says so, and each sitting is a new start."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path, PurePosixPath

from agent.app.agent import build_runs
from agent.app.open import open_workspace
from agent.background.inbox.answering import WrittenAnswer, run_request, write_answer
from agent.clock import SystemClock
from agent.events.runs import Speaker
from agent.loop.outcome import Ended
from agent.loop.records import RunRequest
from agent.loop.session import load_session
from agent.markdown import blocks, links
from agent.markdown.note import Note
from agent.memory.entry import Entry, parse_entry
from agent.memory.upkeep.lifecycle import UpkeepPlan
from agent.runs.open_requests import asked_in
from agent.runs.run_io import RunIO
from agent.runs.service import RunService
from agent.runs.upkeep_jobs import Upkeeper
from agent.workspace.search_index import open_index
from agent.workspace.workspace import Workspace
from tests.fakes import FakeClock
from tests.stories.agents import furnish, given_texts, script
from tests.vaults import write

ME = Speaker("cli")


@dataclass
class Calendar(FakeClock):
    """Days pass when a test says so; who waits for another thread's lock really waits."""

    real: SystemClock = field(default_factory=SystemClock)

    def monotonic(self) -> float:
        return self.real.monotonic()

    def sleep(self, seconds: float) -> None:
        self.real.sleep(seconds)


@dataclass
class Life:
    """A vault and its person."""

    root: Path
    clock: Calendar = field(default_factory=Calendar)

    @property
    def workspace(self) -> Workspace:
        return open_workspace(self.root, clock=self.clock)

    @property
    def now(self) -> datetime:
        return self.clock.now()

    def morning_of(self, day: int) -> None:
        """Let it be nine o'clock of a day, the first being 1."""
        start = self.clock.start.replace(hour=9, minute=0) + timedelta(days=day - 1)
        assert start >= self.now or day == 1, "time does not go back"
        self.clock.elapsed = (start - self.clock.start).total_seconds()

    def later(self, minutes: float) -> None:
        self.clock.advance(60 * minutes)

    @contextmanager
    def sitting(self) -> Iterator[RunService]:
        """The agent as a new process has it, its index up to date; what is to be remembered is, when this is over."""
        workspace = self.workspace
        with closing(open_index(workspace)) as index:
            index.refresh()
            with closing(build_runs(workspace, index)) as agent:
                yield agent

    def talk(self, *lines: str, session: str = "", minutes: float = 5) -> Ended:
        """A conversation, a line some minutes after the other, and its end; in a new session unless it is given."""
        with self.sitting() as agent:
            for line in lines:
                ended = agent.ask(RunRequest(line, ME), session)
                session = ended.session
                self.later(minutes)
            agent.capturing.settle()
            agent.close_session(session, "closed")
        return ended

    def asks_in(self, path: str, words: str) -> WrittenAnswer:
        """A note is written and answered, as `vault-agent ask --note` does."""
        write(self.root / path, words)
        with self.sitting() as agent:
            (request,) = asked_in(agent.workspace, path, named=True)
            placed = write_answer(
                agent.workspace, path, request, run_request(agent.workspace, agent, path, request, RunIO())
            )
        assert placed is not None
        return placed

    def tend(self) -> UpkeepPlan | None:
        """The day's upkeep, where it is still to be done."""
        return Upkeeper(self.workspace).run_when_due()

    def by_hand(self, path: str, change: Callable[[str], str]) -> str:
        """A person edits a note, and it is committed in their name; the text."""
        note = self.root / path
        text = change(note.read_text("utf-8") if note.exists() else "")
        write(note, text)
        self.workspace.vault.commit_human()
        return text

    def text(self, path: str) -> str:
        return (self.root / path).read_text("utf-8")

    def diary(self, day: datetime | None = None) -> str:
        return self.text(f"daily/{day or self.now:%Y-%m-%d}.md")

    def given(self, question: str) -> str:
        """What is put before the model of a new session beside the question: the block about the owner, and texts."""
        path = self.talk(question).session
        system = load_session(self.workspace.vault, path).system
        owner = system.partition("\n\nYour owner\n")[2].partition("\n\n")[0]
        return "\n".join([owner, *given_texts(self.workspace.vault, path)])

    @property
    def entries(self) -> dict[str, Entry]:
        vault = self.workspace.vault
        read = {path: parse_entry(vault.read(path) or b"") for path in self.paths("entries/")}
        return {path: entry for path, entry in read.items() if entry is not None}

    def paths(self, folder: str = "") -> list[str]:
        return [path for path in self.workspace.vault.note_paths() if path.startswith(folder)]

    def broken_links(self, paths: Sequence[str]) -> list[tuple[str, str]]:
        """Links in these notes that would open nothing in Obsidian, which finds a note by its path or its name."""
        known = {path.removesuffix(".md") for path in self.paths()}
        names = {PurePosixPath(path).name for path in known}
        broken = []
        for path in paths:
            note = Note.parse((self.root / path).read_bytes())
            for link in links.find_links(blocks.parse_body(note.body))[0]:
                target = link.target.removesuffix(".md")
                if not link.external and target and target not in known and ("/" in target or target not in names):
                    broken.append((path, link.target))
        return broken


def life(folder: Path, put: Callable[[str, str], None], *replies: object, after: str = "Noted.") -> Life:
    """The vault of `agents.NOTES` with a model that speaks from a script, and its memory tended by hand."""
    said = script(folder / "script.json", {"when": "Who are you?", "text": "Your agent."}, *replies, after=after)
    root = furnish(folder, put, said)
    put("VAULT_AGENT_MEMORY__LIFECYCLE", "true")
    return Life(root)
