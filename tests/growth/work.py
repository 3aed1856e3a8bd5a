"""A vault in which tasks are done as the daemon does them, without a model or with one that speaks from a script."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from agent.app.agent import opened_runs
from agent.app.open import open_workspace
from agent.growth.task_work import TaskEnded, TaskWork
from agent.markdown.note import Note
from agent.memory.entry import Entry, EntryType
from agent.memory.profile.evidence import Evidence
from agent.schedule.task import Task
from agent.schedule.task_notes import load_tasks
from agent.vault.history.find import commits
from agent.workspace.catch_up import catch_up
from agent.workspace.search_index import open_index
from agent.workspace.workspace import Workspace
from tests.fakes import FakeClock
from tests.stories.agents import script as write_script
from tests.stories.agents import settings
from tests.vaults import git, make_vault, write

NOW = datetime(2026, 11, 22, 21, 0, tzinfo=UTC)
"""A Sunday evening."""
YESTERDAY = NOW - timedelta(days=1)


@dataclass
class Office:
    """One vault with its task work."""

    workspace: Workspace
    clock: FakeClock

    @property
    def root(self) -> Path:
        return self.workspace.vault.place.root

    @property
    def work(self) -> TaskWork:
        return TaskWork(self.workspace, partial(opened_runs, self.workspace))

    def task(self, kind: str, title: str = "", **header: object) -> Task:
        """A task that a person has written by hand, committed."""
        rows = "".join(f"{key}: {value}\n" for key, value in header.items())
        words = f"---\ntype: task\ntask_type: {kind}\n{rows}---\n# {title or kind}\n"
        write(self.root / f"tasks/{kind}.md", words)
        self.workspace.vault.commit_human()
        return next(each for each in load_tasks(self.workspace.vault).waiting if each.name == kind)

    def do(self, kind: str, title: str = "", **header: object) -> TaskEnded:
        """Write a task and do it."""
        return self.work.do(self.task(kind, title, **header))

    def index(self) -> None:
        """Bring the search index up to date."""
        index = open_index(self.workspace)
        try:
            catch_up(self.workspace, index)
        finally:
            index.close()

    def text(self, path: str) -> str:
        return (self.root / path).read_text("utf-8")

    def done(self, kind: str) -> Note:
        """The note of a task that is over."""
        return Note.parse((self.root / f"tasks/done/2026-11/{kind}.md").read_bytes())

    def history(self) -> list[str]:
        """The subjects of the commits, the last one first."""
        return git(self.root, "log", "--format=%s").splitlines()

    def actors(self) -> list[str]:
        """The actors of the commits, the last one first."""
        return [each.actor for each in commits(self.workspace.vault)]

    def commit_count(self) -> int:
        return len(self.history())


def entry(text: str, at: datetime, keywords: tuple[str, ...] = ()) -> Entry:
    """Something that the person has said."""
    id = f"01HZZZZZZZ{abs(hash((text, at))) % 10**16:016d}"
    return Entry(id, at, text, EntryType.FACT, channel="cli", source="conversation", keywords=keywords)


def day(at: datetime, *logged: tuple[str, str]) -> dict[str, str]:
    """The note of a day with these tasks in its log, each with its time."""
    session = f"[[sessions/{at:%Y/%m}/{at:%Y-%m-%d} A talk]]"
    rows = "".join(f"\n### {time} - {title}\n\n- Took 2 s\n- In {session}\n" for time, title in logged)
    return {f"daily/{at:%Y-%m-%d}.md": f"---\ntype: daily\n---\n# {at:%Y-%m-%d}\n\n## Conversations\n{rows}"}


def said(*entries: Entry) -> dict[str, str]:
    """The notes of these entries."""
    return {each.path: each.note().decode() for each in entries}


def office(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    notes: dict[str, str] | None = None,
    *replies: object,
    language: str = "en",
) -> Office:
    """A vault with these notes; with `replies`, a model that gives them."""
    told = write_script(tmp_path / "script.json", *replies) if replies else None
    for key, value in settings(tmp_path, told).items():
        monkeypatch.setenv(key, value)
    monkeypatch.setenv("VAULT_AGENT_VAULT__LANGUAGE", language)
    monkeypatch.setenv("VAULT_AGENT_MEMORY__LONG_TERM", "off")  # the upkeep after a run has commits of its own
    clock = FakeClock(NOW)
    laid = {"AGENT.md": "---\ntype: agent\n---\n# Here\n", **(notes or {})}
    root = make_vault(tmp_path, laid, clock=clock).place.root
    made = Office(open_workspace(root, clock=clock), clock)
    made.index()
    return made


def dated_link(entry: Entry) -> str:
    """The link to an entry as a line of the profile has it."""
    return Evidence(entry.link.strip("[]")).dated_link
