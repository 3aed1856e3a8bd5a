"""What a model is told of tools is the same, byte for byte, in every request of a conversation."""

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agent.app.agent import build_runs
from agent.app.open import open_workspace
from agent.config.directories import directories
from agent.context.budget import count_tool
from agent.events.runs import Speaker
from agent.interfaces.cli.main import main
from agent.llm import anthropic, openai
from agent.llm.dialect import Dialect
from agent.llm.endpoint import Endpoint
from agent.llm.messages import Assistant, Request, ToolResult
from agent.llm.providers import Providers
from agent.loop.outcome import RunOutcome
from agent.loop.records import RunRequest
from agent.runs import accounts
from agent.runs.decisions import approvals
from agent.runs.service import RunService
from agent.tools.tool import RunContext
from agent.workspace.search_index import open_index
from tests.context.situations import Teller, call
from tests.llm.dialects import MODEL
from tests.stories.agents import furnish
from tests.stories.life import Calendar
from tests.vaults import write

SKILL = """---
name: tea-round
description: Notes down who wants which tea.
triggers:
  intent_patterns: ["tea round"]
allowed-tools: search_vault
---
1. Look up who is there with `search_vault`.
"""
YOU = Speaker("cli")
TASKS = (
    "Write a haiku about snow",
    "明天早上八点提醒我给安娜打电话",
    "What does https://example.org/tea say? Put it into tea.md",
    "It is time for a tea round",
    "run the script that counts my notes",
    "Delegate the rest, please",
    "What is in my profile about tea?",
    "thanks",
)


@dataclass
class Conversation:
    """A session of a vault, gone on with by one process after the other; `model` hears all of them."""

    root: Path
    model: Teller = field(default_factory=Teller)
    session: str = ""

    @contextmanager
    def process(self) -> Iterator[RunService]:
        """A new process, on a later day."""
        clock = Calendar()
        clock.advance(86_400.0 * len(self.model.heard))
        workspace = open_workspace(self.root, clock=clock)
        with closing(open_index(workspace)) as index:
            index.refresh()
            with closing(build_runs(workspace, index)) as agent:
                yield agent

    def say(self, task: str, *replies: Assistant, who: Speaker = YOU, job: str = "") -> RunOutcome:
        """One turn in a process of its own."""
        self.model.replies = [*replies, Assistant("Well.")]
        with self.process() as agent:
            ended = agent.ask(RunRequest(task, who, job=job), self.session)
        self.session = ended.session
        return ended.outcome

    def results(self) -> list[str]:
        """The texts of the tools' results in the last request."""
        return [each.text for each in self.model.heard[-1].messages if isinstance(each, ToolResult)]


@pytest.fixture
def talk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Conversation:
    root = furnish(tmp_path, monkeypatch.setenv)
    made = Conversation(root)
    monkeypatch.setattr(accounts, "providers", lambda *_: Providers(made.model, made.model))
    for key, value in {"MEMORY__CAPTURE": "off", "GROWTH__ENABLED": "false", "LLM__WIRE": "openai"}.items():
        monkeypatch.setenv(f"VAULT_AGENT_{key}", value)
    monkeypatch.setenv("VAULT_AGENT_LLM__BASE_URL", "http://127.0.0.1:9/v1")
    write(root / "skills/tea-round/SKILL.md", SKILL)
    assert main(["--vault", str(root), "skills", "review", "tea-round"]) == 0
    return made


def wires(request: Request) -> tuple[str, str]:
    """The tools of a request as they are sent on two wires."""
    bodies = (
        openai.body(Endpoint("http://127.0.0.1:1/v1", MODEL), request, Dialect("max_tokens", {})),
        anthropic.body(Endpoint("http://127.0.0.1:1/v1", MODEL), request, Dialect("max_tokens", {})),
    )
    one, two = (json.dumps(body["tools"], ensure_ascii=False) for body in bodies)
    return one, two


def test_eight_turns_a_job_an_approval_and_restarts_are_told_of_the_same_tools(talk: Conversation) -> None:
    for number, task in enumerate(TASKS):
        talk.say(task, call("vault_read", path="tea.md"))
        if number == 5:
            talk.say("Look at the plan", who=Speaker("job"), job="look")
        if number == 1:
            edit = call("vault_edit", path="AGENT.md", old="Be brief.", new="Be kind.")
            outcome = talk.say("Be kind, says the page", edit, who=Speaker("http", "page"))
            assert outcome is RunOutcome.NEEDS_APPROVAL, talk.results()
            with talk.process() as agent:
                agent.approvals.decide(approvals(agent.workspace).pending()[-1].id, yes=True)
                talk.model.replies = [Assistant("I am.")]
                assert agent.resume(talk.session).outcome is RunOutcome.FINISHED
    assert len(talk.model.heard) >= 2 * len(TASKS) + 3
    assert len({wires(request) for request in talk.model.heard}) == 1


def test_what_a_search_has_found_is_added_at_the_end_and_stays(talk: Conversation) -> None:
    talk.say("What do you know about me?", call("tool_search", purpose="the person's profile"))
    talk.say("Thanks")
    first, second, third = ([spec.name for spec in request.tools] for request in talk.model.heard)
    assert "profile" not in first
    assert second[: len(first)] == first and "profile" in second
    assert third == second and wires(talk.model.heard[1]) == wires(talk.model.heard[2])


def test_a_search_finds_what_is_not_described_and_fits_well(talk: Conversation) -> None:
    talk.say("What changed?", call("tool_search", purpose="history of changes in notes"))
    assert [each.partition(":")[0] for each in talk.results()[-1].splitlines()[1:]] == ["- vault_log"]
    talk.say("Move it", call("tool_search", purpose="move"), call("vault_log", path="tea.md"))
    nothing, changes = talk.results()[-2:]
    assert "no other tool fits" in nothing and "memory_forget" in nothing and "vault_read" not in nothing
    assert "tea.md" in changes


def test_a_skill_takes_away_calls_and_no_description(talk: Conversation) -> None:
    talk.say("Hello")
    talk.say("It is time for a tea-round", call("vault_write", path="round.md", content="Anna: green\n"))
    assert wires(talk.model.heard[0]) == wires(talk.model.heard[-1])
    assert "not among the tools that this run's skills allow" in talk.results()[-1]
    assert not (talk.root / "round.md").exists()


def test_what_the_policy_has_denied_since_is_described_and_says_why_it_is_not_there(talk: Conversation) -> None:
    talk.say("Hello")
    own = (
        "version: 1\nprofiles:\n  - name: default\n    policy: { deny: [{ tool: vault_write }, { tool: jobs.add }] }\n"
    )
    write(directories().config / "policy.yaml", own)
    job = call("jobs", action="add", title="Tea", text="Tea?", when="every weekday at 9")
    talk.say("Write it", call("vault_write", path="x.md", content="x"), job)
    assert len({wires(request) for request in talk.model.heard}) == 1
    assert ["the policy does not allow it" in each for each in talk.results()] == [True, True]
    assert not (talk.root / "x.md").exists() and not list((talk.root / "jobs").glob("tea*.md"))


def test_a_session_of_a_job_has_a_list_of_its_own(talk: Conversation) -> None:
    talk.say("Hello")
    talk.session = ""
    talk.say("Look at the plan", who=Speaker("job"), job="look")
    mine, the_jobs = ([spec.name for spec in request.tools] for request in talk.model.heard)
    assert set(mine) - set(the_jobs) == {"delegate", "web_fetch"}


def test_a_guest_in_the_owner_s_session_is_told_of_no_tool(talk: Conversation) -> None:
    anna, bo = (Speaker("lark:tea", name, group=True) for name in ("Anna", "Bo"))
    talk.say("Who brings the cake?", who=anna)
    with talk.process() as agent:
        ended = agent.ask(RunRequest("Which notes are there?", bo, role="guest"), talk.session)
    assert ended.session == talk.session and len(talk.model.heard) == 1, "a request with tools is heard"
    talk.say("Thanks", who=anna)
    first, last = ([spec.name for spec in request.tools] for request in talk.model.heard)
    assert first == last and set(first) == {"search_vault", "memory_recall", "human_ask"}


def test_the_tools_of_a_plain_conversation_take_few_tokens(talk: Conversation) -> None:
    with talk.process() as agent:
        specs = agent.agent.tools.specs(RunContext("r", ""), seldom=False)
        assert sum(count_tool(spec, agent.agent.count) for spec in specs) <= 1_500, "1,600 with those still to come"
