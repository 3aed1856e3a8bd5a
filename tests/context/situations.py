"""The situations of a run whose requests are kept as files: each is lived through by a real agent in a real vault."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from agent.app.agent import build_runs
from agent.app.open import open_workspace
from agent.events.runs import Speaker
from agent.interfaces.cli.main import main
from agent.llm.messages import Assistant, Cancelled, Model, OnText, Reply, Request, ToolCall, Usage, ignore, never
from agent.llm.providers import Providers
from agent.loop.outcome import Ended
from agent.loop.records import RunRequest
from agent.runs import accounts
from agent.runs.decisions import approvals
from agent.runs.service import RunService
from agent.workspace.search_index import open_index
from tests.stories.agents import furnish, settings
from tests.stories.life import Calendar
from tests.vaults import write

SUMMARY = (
    "Goal: plan the tea party\nDecisions: it is on Sunday\nCompleted: the list\nPending: the cake\nConstraints: none"
)
YOU = Speaker("cli")
ENTRY = """---
id: 01JBAAAAAAAAAAAAAAAAAAAAAA
type: user_explicit
created: 2026-11-20T09:00:00+00:00
scope: user
channel: cli
source: remember
keywords: [tea]
---
Anna drinks jasmine tea in the evening.
"""
SKILL = """---
name: tea-round
description: Notes down who wants which tea.
triggers:
  intent_patterns: ["tea round"]
---
1. Look up who is there with `search_vault`.
2. Write one line for each into `tea-list.md`.
"""


def call(tool: str, **arguments: str) -> Assistant:
    """A reply that asks for one tool."""
    return Assistant("", (ToolCall("", tool, arguments),))


@dataclass
class Teller:
    """A model that says its replies one after the other and keeps the requests of runs; what else it is asked (a
    summary, facts) it answers in a fixed way."""

    replies: list[Assistant] = field(default_factory=list)
    heard: list[Request] = field(default_factory=list)
    calls: int = 0
    model: Model = Model("teller", 32_768, 4_096)

    def chat(self, request: Request, on_text: OnText = ignore, cancelled: Cancelled = never) -> Reply:
        if not request.tools or "NO_REPLY" in request.messages[-1].text:
            return Reply(Assistant(SUMMARY if not request.tools else "NO_REPLY"), Usage(10, 5), "end", "teller")
        self.heard.append(request)
        said = self.replies.pop(0)
        return Reply(Assistant(said.text, tuple(map(self._named, said.calls))), Usage(10, 5), "end", "teller")

    def _named(self, asked: ToolCall) -> ToolCall:
        self.calls += 1
        return ToolCall(f"call{self.calls:05d}", asked.name, asked.arguments)  # nine characters, as Mistral's


@dataclass
class Home:
    """A vault with its agent; `ask` returns the end of a run whose model says these replies."""

    root: Path
    agent: RunService
    model: Teller

    def ask(self, task: str, *replies: Assistant | str, session: str = "", who: Speaker = YOU) -> Ended:
        self.model.replies = [Assistant(reply) if isinstance(reply, str) else reply for reply in replies]
        return self.agent.ask(RunRequest(task, who), session)


@contextmanager
def home(folder: Path, put: Callable[[str, str], None], patch: Callable[[object, str, object], None]) -> Iterator[Home]:
    """A home under `folder`, with one memory and one skill that its owner has looked at."""
    root = furnish(folder, put)
    model = Teller()
    patch(accounts, "providers", lambda *_: Providers(model, model))
    chosen = {
        "LLM__BASE_URL": "http://127.0.0.1:9/v1",
        "LLM__WIRE": "openai",
        "MEMORY__CAPTURE": "off",
        "GROWTH__ENABLED": "false",
    }
    chosen |= {"CONTEXT__KEEP_TURNS": "2", "RUN__STEPS": "5"}
    for key, value in {**settings(folder), **{f"VAULT_AGENT_{key}": value for key, value in chosen.items()}}.items():
        put(key, value)
    write(root / "entries/2026/11/jasmine.md", ENTRY)
    write(root / "skills/tea-round/SKILL.md", SKILL)
    assert main(["--vault", str(root), "skills", "review", "tea-round"]) == 0
    workspace = open_workspace(root, clock=Calendar())
    with closing(open_index(workspace)) as index:
        index.refresh()
        with closing(build_runs(workspace, index)) as agent:
            yield Home(root, agent, model)


def first_question(here: Home) -> None:
    here.ask("Write a haiku about snow", "Done.")


def with_memories(here: Home) -> None:
    here.ask("Which tea does Anna drink in the evening?", "Jasmine.")


def with_a_skill(here: Home) -> None:
    here.ask("It is time for a tea round", "Done.")


def follow_up(here: Home) -> None:
    ended = here.ask("Write a haiku about snow", "White on white.")
    here.ask("And now one about rain", "Grey on grey.", session=ended.session)


def in_a_group(here: Home) -> None:
    ended = here.ask("Who brings the cake?", "Nobody yet.", who=Speaker("lark:tea", "Anna", group=True))
    here.ask("I do", "Noted.", session=ended.session, who=Speaker("lark:tea", "Bo", group=True))


def after_tool_calls(here: Home) -> None:
    both = Assistant(
        "I look at both.", (*call("vault_read", path="tea.md").calls, *call("vault_list", folder="entries").calls)
    )
    here.ask("What do my notes say of the plan?", both, "Done.")


def after_a_failure(here: Home) -> None:
    here.ask("Read the list of guests", call("vault_read", path="guests.md"), "There is none.")


def after_compaction(here: Home) -> None:
    tasks = [f"Plan part {number} of the party: {'tea and cake, ' * 12}please" for number in range(1, 5)]
    session = ""
    for task in tasks:
        session = here.ask(task, f"Part is planned: {'all is ready, ' * 12}good.", session=session).session
    here.agent.compact(session)
    here.ask("What is left to do?", "The cake.", session=session)


def after_an_approval(here: Home) -> None:
    edit = call("vault_edit", path="AGENT.md", old="Be brief.", new="Be kind.")
    asked = here.ask("Be kind from now on", edit)
    here.agent.approvals.decide(approvals(here.agent.workspace).pending()[-1].id, yes=True)
    here.model.replies = [Assistant("I am.")]
    here.agent.resume(asked.session)


def in_a_sub_run(here: Home) -> None:
    part = call("delegate", task="Count the notes", background="Those in the main folder only.")
    here.ask("How many notes are there?", part, call("vault_list", folder="entries"), "Four.", "There are four.")
    here.model.heard = here.model.heard[-2:-1]


def after_a_sub_run(here: Home) -> None:
    part = call("delegate", task="Count the notes", background="Those in the main folder only.")
    here.ask("How many notes are there?", part, "Four.", "There are four.")


def at_a_limit(here: Home) -> None:
    looks = [call("vault_list", folder=folder) for folder in ("entries", "skills")]
    looks += [call("vault_read", path=path) for path in ("tea.md", "plan.md", "gone.md")]
    here.ask("Describe all that is here", *looks, "Two folders and two notes are described.")


def after_a_stop(here: Home) -> None:
    ended = here.ask("Change it", call("human_ask", question="Which one?"))
    here.ask("Never mind. Write a haiku", "White on white.", session=ended.session)


Situation: TypeAlias = Callable[[Home], None]
SITUATIONS: Sequence[Situation] = (
    first_question,
    with_memories,
    with_a_skill,
    follow_up,
    in_a_group,
    after_tool_calls,
    after_a_failure,
    after_compaction,
    in_a_sub_run,
    after_a_sub_run,
    at_a_limit,
    after_a_stop,
    after_an_approval,
)
