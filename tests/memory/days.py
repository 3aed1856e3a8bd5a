"""A vault over simulated days: conversations become entries as capture writes them, and the upkeep runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from agent.config.load import load_settings
from agent.config.memory_settings import MemorySettings
from agent.memory.capture.writer import EntryWriter
from agent.memory.entry import Entry, EntryType, Scope
from agent.memory.forgetting.tombstones import load_tombstones
from agent.memory.upkeep.lifecycle import UpkeepPlan, plan, run
from agent.texts import Language
from agent.vault.change import Outcome, Stamp
from agent.vault.store import Vault
from tests.fakes import FakeClock
from tests.vaults import git, make_vault, write

DAY = 86_400.0


@dataclass
class Days:
    """One vault whose time a test moves."""

    vault: Vault
    clock: FakeClock
    settings: MemorySettings
    language: Language = "en"
    said: list[str] = field(default_factory=list)

    @property
    def root(self) -> Path:
        return self.vault.place.root

    def pass_days(self, days: float) -> None:
        self.clock.advance(days * DAY)

    def say(self, text: str, answer: str = "Noted.", **changes: object) -> str:
        """A turn of a conversation of its own, kept as an entry unless it was forgotten; the entry's path."""
        entry = replace(self.entry(f"User: {text}\nAssistant: {answer}", EntryType.CHAT_TURN), **changes)  # type: ignore[arg-type]
        if load_tombstones(self.vault).is_forgotten(entry.text):
            return ""
        return self.keep(entry)

    def entry(self, text: str, kind: EntryType = EntryType.USER_EXPLICIT) -> Entry:
        identity, now = self.clock.new_id(), self.clock.now()
        session = f"sessions/{now:%Y/%m}/{now:%Y-%m-%d}-talk-{identity[-6:].lower()}"
        return Entry(
            identity,
            now,
            text,
            kind,
            Scope.USER,
            session_id=f"{session}.md",
            evidence=(f"[[{session}]]",),
        )

    def keep(self, entry: Entry) -> str:
        with self.vault.transaction("memory(capture): keep", Stamp("agent", tool="capture")) as change:
            change.create(entry.path, entry.note())
        return entry.path

    def capture(self, text: str, answer: str = "Noted.") -> None:
        """The same as capture itself does it: what is known already is only counted."""
        paths = sorted(path for path in self.vault.note_paths() if path.startswith("entries/"))
        keeper = EntryWriter(self.vault, lambda entry: paths, "en")
        entry = self.entry(f"User: {text}\nAssistant: {answer}", EntryType.CHAT_TURN)
        keeper.keep([entry], "memory(capture): keep", Stamp("agent", tool="capture"))

    def tend(self) -> tuple[UpkeepPlan, Outcome]:
        upkeep = plan(self.vault, self.settings, self.language, self.clock.now())
        return upkeep, run(self.vault, upkeep) if upkeep.requests else Outcome()

    def text(self, path: str) -> str:
        return (self.vault.read(path) or b"").decode()

    @property
    def memory(self) -> str:
        return self.text("MEMORY.md")

    def by_hand(self, path: str, text: str | None) -> None:
        """A person saves a note (None: deletes it), and it is committed in their name."""
        if text is None:
            (self.root / path).unlink()
        else:
            write(self.root / path, text)
        self.vault.commit_human()

    def paths(self, folder: str) -> list[str]:
        return [path for path in self.vault.note_paths() if path.startswith(folder)]

    def commits(self) -> int:
        return int(git(self.root, "rev-list", "--count", "HEAD"))


def days(
    folder: Path, notes: Mapping[str, str | bytes] | None = None, language: Language = "en", **changes: object
) -> Days:
    """A vault with these notes, and the default settings with these changes."""
    clock = FakeClock()
    settings = replace(load_settings(environ={"VAULT_AGENT_HOME": str(folder / "home")}).settings.memory, **changes)  # type: ignore[arg-type]
    return Days(make_vault(folder, notes, clock=clock), clock, settings, language)
