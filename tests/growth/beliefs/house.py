"""A vault with a person and an agent who write in turn, as the belief tests need it; and signals by hand."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.growth.beliefs.blocks import NOTE, parse_blocks
from agent.growth.beliefs.learn import BeliefsLearned, learn_beliefs
from agent.growth.beliefs.sign import Dimension, Sign, SignKind
from agent.memory.entry import Entry, EntryType
from agent.memory.profile.evidence import Evidence
from agent.vault.change import Stamp
from agent.vault.store import Vault
from agent.workspace.workspace import Workspace
from tests.fakes import FakeClock
from tests.stories.agents import settings
from tests.vaults import make_vault, write

LONG = "The talk with the landlord took place on Friday afternoon in the office, and after long words the rent stays."
SHORT = "Talk with the landlord on Friday: the rent stays."
HOUR, DAY = 3_600.0, 86_400.0
TODAY = date(2026, 11, 22)
LENGTH = Dimension("style", "length")


def signal(
    value: str,
    days_ago: int = 0,
    kind: SignKind = "edited",
    dimension: Dimension = LENGTH,
    note: str = "plan",
) -> Sign:
    """A signal of some days before `TODAY`."""
    day = TODAY - timedelta(days=days_ago)
    return Sign(kind, dimension, value, day, Evidence(note, day=day.isoformat()))


@dataclass
class House:
    """One vault; `learn` brings its beliefs up to date."""

    workspace: Workspace
    clock: FakeClock
    count: int = 0

    @property
    def vault(self) -> Vault:
        return self.workspace.vault

    @property
    def root(self) -> Path:
        return self.vault.place.root

    def agent(self, path: str, text: str, tool: str = "vault_write", run: str = "r") -> None:
        """The agent writes a note."""
        before = self.vault.read(path)
        with self.vault.transaction(f"run: {path}", Stamp("agent", run=run, tool=tool)) as change:
            if before is None:
                change.create(path, text.encode())
            else:
                change.edit(path, before, text.encode())
        self.clock.advance(HOUR)

    def person(self, path: str, text: str) -> None:
        """The person saves a note, and the burst of edits is committed."""
        write(self.root / path, text)
        self.clock.advance(60)
        self.vault.commit_human()

    def changed(self, name: str, before: str = LONG, after: str = SHORT) -> None:
        """The agent writes a note, and its person changes it."""
        self.agent(name, f"# Note\n\n{before}\n")
        self.person(name, f"# Note\n\n{after}\n")

    def stated(self, text: str, **more: object) -> str:
        """Something that the person has said and that was kept; the name of its note."""
        self.count += 1
        made = Entry(
            f"01HYBELF{self.count:018d}",
            self.clock.now(),
            text,
            **{"type": EntryType.FACT, "source": "conversation", **more},  # type: ignore[arg-type]
        )
        with self.vault.transaction("memory: said", Stamp("agent", tool="capture")) as change:
            change.create(made.path, made.note())
        return Path(made.path).stem

    def learn(self) -> BeliefsLearned:
        return learn_beliefs(self.workspace)

    def pass_days(self, count: float = 1) -> None:
        self.clock.advance(count * DAY)

    @property
    def note(self) -> str:
        return (self.vault.read(NOTE) or b"").decode()

    @property
    def lines(self) -> list[str]:
        """The first lines of the beliefs in the note, without their ids."""
        return [each.rows[0].removeprefix("- ").partition(" ^belief-")[0] for each in parse_blocks(self.note)]

    @property
    def said(self) -> list[str]:
        """The beliefs in the note, in words."""
        return [each.line.says for each in parse_blocks(self.note)]


def house(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, notes: dict[str, str] | None = None, language: str = "en"
) -> House:
    """A vault of its own machine, with these notes."""
    for key, value in settings(tmp_path).items():
        monkeypatch.setenv(key, value)
    monkeypatch.setenv("VAULT_AGENT_VAULT__LANGUAGE", language)
    clock = FakeClock(datetime(2026, 11, 22, 9, 0).astimezone())
    root = make_vault(tmp_path, {"mine.md": f"# Mine\n\n{LONG}\n", **(notes or {})}, clock=clock).place.root
    return House(open_workspace(root, clock=clock), clock)
