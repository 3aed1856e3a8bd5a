"""A vault with a profile from the template, and statements of its person, for tests."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from agent.memory.entry import Entry, EntryType
from agent.memory.forgetting.tombstones import load_tombstones
from agent.memory.profile.changes import Consent, ProfileChange, Proposed, Writing, propose_changes
from agent.memory.profile.evidence import Evidence
from agent.memory.profile.load import load_file, template_notes
from agent.memory.profile.profile_file import ProfileFile
from agent.texts import Language
from agent.vault.change import Stamp
from agent.vault.store import Vault
from tests.fakes import FakeClock
from tests.vaults import make_vault, write

NOW = datetime(2026, 11, 22, 21, 0, tzinfo=UTC)


def statement(text: str, *, back: int = 1, kind: EntryType = EntryType.FACT, **more: object) -> Entry:
    """Something that the person said so many days ago."""
    at = NOW - timedelta(days=back)
    fields: dict[str, object] = {"channel": "cli", "source": "conversation", **more}
    return Entry(f"01HZZZZZZZ{abs(hash((text, back))) % 10**16:016d}", at, text, kind, **fields)  # type: ignore[arg-type]


@dataclass
class Home:
    """A vault with a profile."""

    vault: Vault
    language: Language = "en"
    consent: Consent = "yes"

    @property
    def writing(self) -> Writing:
        is_forgotten = load_tombstones(self.vault).is_forgotten
        return Writing(self.vault, self.language, NOW, is_forgotten, self.consent, "job:task/update_profile")

    def propose(self, *changes: ProfileChange) -> Proposed:
        """Propose the changes, and commit what comes of them."""
        found = propose_changes(self.writing, changes)
        self.commit(found)
        return found

    def commit(self, found: Proposed) -> None:
        """Make one commit of the requests, as a procedure does."""
        if found.requests:
            stamp = Stamp("job:task/update_profile", tool="procedure")
            with self.vault.transaction("task(update-profile): x", stamp, masked=True) as change:
                change.requests += found.requests

    def said(self, text: str, **more: object) -> Evidence:
        """The evidence of a statement that is remembered."""
        entry = statement(text, **more)  # type: ignore[arg-type]
        write(self.vault.place.root / entry.path, entry.note())
        self.vault.commit_human()
        return Evidence(entry.link.strip("[]"), text, "2026-11-21")

    def text(self, name: str) -> str:
        return (self.vault.place.root / "profile" / name).read_text("utf-8")

    def edit(self, name: str, old: str, new: str, *, commit: bool = True) -> None:
        """Change a note as its person would in an editor."""
        before = self.text(name)
        assert old in before
        write(self.vault.place.root / "profile" / name, before.replace(old, new, 1))
        if commit:
            self.vault.commit_human()

    def file(self, name: str) -> ProfileFile:
        found = load_file(self.vault, name)
        assert found is not None
        return found


def home(tmp_path: Path, *, language: Language = "en", consent: Consent = "yes") -> Home:
    """A vault into which the agent has laid the profile's template."""
    vault = make_vault(tmp_path, clock=FakeClock(NOW))
    with vault.transaction("init(vault): added notes", Stamp("agent", tool="init")) as change:
        for name, data in template_notes(language).items():
            change.create(f"profile/{name}", data)
    return Home(vault, language, consent)
