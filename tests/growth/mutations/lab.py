"""A vault with a learned skill that works well, in which uses are written as runs would write them."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.context.budget import estimate
from agent.growth.lessons.variants import KnownTools, VariantModel, Variants
from agent.llm.messages import Assistant, Cancelled, Model, OnText, Reply, Request, Usage, ignore, never
from agent.llm.scripted import MODEL
from agent.loop.agent import Models
from agent.runs.accounts import open_accounts
from agent.runs.skill_lookup import skills_on_demand
from agent.runs.skill_set import SkillSet
from agent.skills.history.usage import Opinion, Use, history_path, record_uses
from agent.skills.variants.trial_shelf import TrialRecord, trial_records
from agent.skills.variants.variant import Arm, next_arm, trial_label
from agent.vault.change import Stamp
from agent.workspace.workspace import Workspace, reload_settings
from tests.fakes import FakeClock
from tests.growth.work import NOW
from tests.stories.agents import settings
from tests.vaults import git, make_vault, write

SKILL = "skills/learned/plan-week/SKILL.md"
BODY = """# plan-week

1. `vault_read` the plan.
2. Take the best 5 points.
3. Say them in order."""
TEXT = f"""---
name: plan-week
description: Plans a week.
metadata:
  sequence: vault_read
triggers:
  intent_patterns:
    - plan the week
version_history:
  - v1: '2026-11-01: learned from 3 runs'
---
{BODY}
"""
FEWER = BODY.replace("best 5", "best 3")
"""A variant that changes a number only."""
OTHER_STEP = BODY.replace("Say them in order.", "Say them with the reason for each.")
NEW_WAY = f"{BODY}\n4. First list what you do not know.\n5. Ask for it."


def answer(body: str = FEWER, kind: str = "parameter", change: str = "Take the best 3 points instead of 5.") -> str:
    """A model's answer with one proposal."""
    words = {"reason": "Fewer are read.", "risk": "One may be missed.", "verification": "More are called helpful."}
    return json.dumps([{"kind": kind, "change": change, **words, "instructions": body}])


@dataclass
class Proposer:
    """A model that gives these answers, one after the other, and the last one again."""

    answers: list[str] = field(default_factory=lambda: [answer()])
    asked: list[Request] = field(default_factory=list)
    model: Model = MODEL

    def chat(self, request: Request, on_text: OnText = ignore, cancelled: Cancelled = never) -> Reply:
        said = self.answers[min(len(self.asked), len(self.answers) - 1)]
        self.asked.append(request)
        return Reply(Assistant(said), Usage(10, 10), "end", "proposer")


@dataclass
class Lab:
    """One vault with its mutations."""

    workspace: Workspace
    clock: FakeClock
    proposer: Proposer = field(default_factory=Proposer)
    runs: int = 0

    @property
    def root(self) -> Path:
        return self.workspace.vault.place.root

    @property
    def skills(self) -> SkillSet:
        return skills_on_demand(self.workspace)

    @property
    def mutations(self) -> Variants:
        self.workspace = reload_settings(self.workspace)
        return Variants(self.skills)

    def propose(self) -> list[str]:
        """Have a variant proposed; the paths of the notes."""
        account = open_accounts(self.workspace, estimate)
        models = Models(self.proposer, self.proposer)
        account = type(account)(models, account.ledger, lambda run, job, spend=None, /: models)
        tools = KnownTools(frozenset({"vault_read", "web_fetch", "vault_search"}), frozenset({"vault_read"}))
        return list(self.mutations.propose(VariantModel(account, tools)))

    def use(self, good: bool, label: str = "", opinion: Opinion = "", session: bool = False) -> Use:
        """A use of the skill, as its run writes it when it is over."""
        self.runs += 1
        self.clock.advance(3_600)
        path = self.talk() if session else ""
        outcome = "finished" if good else "failed"
        row = Use("plan-week", self.clock.now(), f"r{self.runs}", path, "auto", 0.9, "", outcome, 2, opinion, label)
        with (self.root / history_path("plan-week")).open("a", encoding="utf-8") as history:
            history.write(f"{row.row}\n")
        return row

    def rated(self, good: bool, label: str) -> Use:
        """A use of a trial to which the person has reacted."""
        return self.use(good, label, "helpful" if good else "not_helpful")

    def talk(self, untrusted: str = "") -> str:
        """The note of a session in which the skill was used."""
        path = f"sessions/2026/11/2026-11-22 plan {self.runs}.md"
        mark = f'> %% vault-agent: taint {{"source": "{untrusted}"}} %%\n' if untrusted else ""
        write(
            self.root / path,
            f"---\nid: S{self.runs}\ntype: session\nchannel: cli\n---\n# Plan\n\n"
            f'%% vault-agent: user {{"at": "2026-11-22T20:00:00Z"}} %%\n### 20:00 You\n\nplan the week\n\n'
            f'%% vault-agent: run {{"run": "r{self.runs}", "channel": "cli"}} %%\n\n{mark}'
            f'%% vault-agent: end {{"run": "r{self.runs}", "outcome": "finished"}} %%\n',
        )
        return path

    def uses(self, outcomes: Iterable[bool]) -> None:
        """Uses outside of a trial, in one commit, each in a conversation of its own."""
        rows = []
        for good in outcomes:
            self.runs += 1
            self.clock.advance(3_600)
            outcome = "finished" if good else "failed"
            opinion: Opinion = "helpful" if good else ""
            rows.append(
                Use(
                    "plan-week",
                    self.clock.now(),
                    f"r{self.runs}",
                    self.talk(),
                    outcome=outcome,
                    tools=2,
                    feedback=opinion,
                )  # fmt: skip
            )
        git(self.root, "add", "-A")
        git(self.root, "commit", "-q", "-m", "sessions")
        record_uses(self.workspace.vault, rows, Stamp("agent"))

    def trial(self, number: int = 1) -> TrialRecord:
        """The record of a trial."""
        found = trial_records(self.workspace.vault).get(f"plan-week-{number}")
        assert found is not None
        return found

    def try_out(self, original: Iterable[bool], variant: Iterable[bool], number: int = 1) -> int:
        """Uses of a trial until it is over; how many there were."""
        sides: dict[Arm, list[bool]] = {"original": list(original), "variant": list(variant)}
        count = 0
        while self.trial(number).status == "trial" and any(sides.values()):
            arm = next_arm(count)
            if not sides[arm]:
                break
            self.rated(sides[arm].pop(0), trial_label(number, arm))
            count += 1
            self.mutations.settle()
        return count

    def text(self, path: str) -> str:
        return (self.root / path).read_text("utf-8")

    def subjects(self) -> list[str]:
        """The subjects of the commits, the last one first."""
        return git(self.root, "log", "--format=%s").splitlines()

    @property
    def day(self) -> str:
        """The note of today."""
        return self.text(f"daily/{self.clock.now():%Y-%m-%d}.md")


def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, uses: Iterable[bool] = (), *, language: str = "en") -> Lab:
    """A vault with the skill, written by the agent and reviewed, and these uses of it."""
    for key, value in settings(tmp_path).items():
        monkeypatch.setenv(key, value)
    monkeypatch.setenv("VAULT_AGENT_VAULT__LANGUAGE", language)
    clock = FakeClock(NOW - timedelta(days=30))
    root = make_vault(tmp_path, {"AGENT.md": "# Here\n"}, clock=clock).place.root
    made = Lab(open_workspace(root, clock=clock), clock)
    with made.workspace.vault.transaction("skills(accepted): plan-week", Stamp("agent", tool="skill_learner")) as tx:
        tx.create(SKILL, TEXT.encode())
    trust(made, clock.now())
    made.uses(uses)
    return made


def trust(made: Lab, when: datetime) -> None:
    """Review the skill as it is now."""
    skills = made.skills
    (skill,) = [each for each in skills.library.snapshot().skills if each.name == "plan-week"]
    skills.library.review(skill, when, "test")


WELL = [True] * 9 + [False] + [True] * 9 + [False]
"""Twenty uses; with 18 of them the person was content."""
