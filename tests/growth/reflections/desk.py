"""A vault in which runs are asked for and reflected on, with a model that speaks from a script."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

from agent.app.agent import opened_runs
from agent.app.open import open_workspace
from agent.context.budget import estimate
from agent.events.runs import Speaker
from agent.growth.lessons.reflecting import Reflecting
from agent.growth.lessons.reflection import Reflection
from agent.growth.lessons.reflection_notes import load_reflections, reflections_name
from agent.growth.lessons.rounds import ReflectionRound
from agent.llm.scripted import Scripted
from agent.loop.outcome import Ended
from agent.loop.records import RunRequest
from agent.runs.accounts import open_accounts
from agent.runs.service import RunService
from agent.vault.history.find import commits
from agent.workspace.workspace import Workspace
from tests.fakes import FakeClock
from tests.stories.agents import call, script, settings
from tests.vaults import make_vault

ANSWER = """[
  {"part": "result", "text": "The person has what they wanted."},
  {"part": "efficiency", "text": "One read too many."},
  {"part": "error", "text": "The note has another name.", "kind": "tool"},
  {"part": "strategy", "text": "Search for a note before you read it.", "when": "a note is not found",
   "effect": "no failing reads", "confidence": "high", "severity": "low"}
]"""
JUDGES, FEEDBACK, DAY = "You judge the work", "The person has reacted to this work", "the tasks of one day"
"""By these words a script knows that it is asked for a reflection, and on which occasion."""
NOTHING_NEW = '[{"part": "result", "text": "All was well."}, {"part": "error", "text": "", "kind": "tool"}]'
OWNER = Speaker("cli")
READS = call("vault_read", path="nowhere.md")


def says(prompt: str, text: str = ANSWER) -> dict[str, object]:
    """A reply of the script to a prompt of reflection, at any time."""
    return {"when": prompt, "text": text}


@dataclass
class Desk:
    """One vault with its clock."""

    workspace: Workspace
    clock: FakeClock

    @property
    def root(self) -> Path:
        return self.workspace.vault.place.root

    @contextmanager
    def runs(self) -> Iterator[RunService]:
        with opened_runs(self.workspace) as service:
            yield service

    def ask(self, task: str, session: str = "", job: str = "", purpose: str = "", speaker: Speaker = OWNER) -> Ended:
        """Ask, and wait until what follows from the run is written."""
        role = "guest" if speaker.sender else "owner"
        with self.runs() as service:
            ended = service.ask(RunRequest(task, speaker, role=role, job=job, purpose=purpose), session)
        self.clock.advance(30)
        return ended

    @cached_property
    def reflecting(self) -> Reflecting:
        return Reflecting(self.workspace, open_accounts(self.workspace, estimate))

    @property
    def prompts(self) -> list[str]:
        """What the model was asked for reflections."""
        model = self.reflecting.accounts.models.main
        assert isinstance(model, Scripted)
        return [each.messages[-1].text for each in model.requests]

    @property
    def round(self) -> ReflectionRound:
        return ReflectionRound(self.reflecting)

    def look(self, *sessions: str) -> list[Reflection]:
        """Reflect as the daemon does once these conversations are silent."""
        return [each for path in sessions for each in self.round.look_at_session(path)]

    @property
    def reflections(self) -> tuple[Reflection, ...]:
        return load_reflections(self.workspace.vault)

    def note(self) -> str:
        """The note of today."""
        return (self.root / reflections_name(self.clock.now().date())).read_text("utf-8")

    def made(self) -> list[str]:
        """The subjects of the commits of reflections, oldest first."""
        found = commits(self.workspace.vault, job="growth/reflections")
        return [each.subject for each in reversed(found)]


def desk(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *replies: object,
    notes: dict[str, str] | None = None,
    language: str = "en",
    **own: str,
) -> Desk:
    """A vault; with `replies`, a model that gives them. `own` are settings such as `REFLECTION__DEPTH`."""
    told = script(tmp_path / "script.json", *replies) if replies else None
    chosen = {f"VAULT_AGENT_{key}": value for key, value in own.items()}
    for key, value in {**settings(tmp_path, told), "VAULT_AGENT_MEMORY__LONG_TERM": "off", **chosen}.items():
        monkeypatch.setenv(key, value)
    monkeypatch.setenv("VAULT_AGENT_VAULT__LANGUAGE", language)
    clock = FakeClock()
    root = make_vault(
        tmp_path, {"AGENT.md": "---\ntype: agent\n---\n# Here\n", **(notes or {})}, clock=clock
    ).place.root
    return Desk(open_workspace(root, clock=clock), clock)


def failing(calls: int = 1) -> Sequence[object]:
    """The replies of a run that calls a tool so often in vain, and then has an answer."""
    return [*([READS] * calls), "I could not find it."]
