"""A real vault with an agent whose model says its lines, for tests of runs."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agent.config.load import load_settings
from agent.context.budget import Count, estimate
from agent.errors import ToolFailed
from agent.events.bus import Bus
from agent.events.runs import Speaker
from agent.index.query import SearchResult
from agent.llm.messages import Provider, ToolCall, ToolResult
from agent.llm.scripted import Scripted, ScriptedReply
from agent.loop.agent import Agent, Models, SystemMessages, unfinished_result
from agent.loop.limits import Breaker, Progress
from agent.loop.mailbox import Mailbox
from agent.loop.outcome import Ended
from agent.loop.records import RunRequest
from agent.loop.run import Run
from agent.loop.session import Session, begin_session
from agent.memory.recall.recaller import Recollection
from agent.memory.remember import SameWords
from agent.tools.approvals import Approvals
from agent.tools.builtin.toolbox import ToolDeps, builtin_tools, tool_search_tool
from agent.tools.policy import load_policies
from agent.tools.registry import Registry, ToolSource
from agent.tools.tool import RunContext, Tool, ToolOutput
from agent.vault.store import Vault
from tests.fakes import FakeClock
from tests.vaults import make_vault

ANNA = Speaker("cli")


def nothing_found(question: str, limit: int) -> SearchResult:
    """A search over an empty vault."""
    return SearchResult(question, "keyword", "none")


def nothing_remembered(question: str, limit: int, context: RunContext) -> Recollection:
    """A memory that is empty."""
    return Recollection()


def no_sub_runs(task: str, background: str, context: RunContext) -> ToolOutput:
    """Sub-runs are not allowed here."""
    raise ToolFailed("no sub-runs here")


@dataclass
class Stage:
    """A vault at `folder/vault` and whatever a run needs; `model` says its lines."""

    folder: Path
    model: Provider
    notes: dict[str, str] = field(default_factory=dict)
    clock: FakeClock = field(default_factory=FakeClock)
    more: tuple[Tool, ...] = ()
    sources: tuple[ToolSource, ...] = ()
    count: Count = estimate
    said: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.vault = make_vault(self.folder, self.notes, clock=self.clock)
        self.bus = Bus(self.clock)
        self.approvals = Approvals(self.vault, self.clock, 24, "en")
        self.cancel = False

    @property
    def root(self) -> Path:
        return self.folder / "vault"

    def agent(self) -> Agent:
        """The agent, as a new process would have it."""
        settings = load_settings(environ={"VAULT_AGENT_HOME": str(self.folder / "home")}).settings
        deps = ToolDeps(nothing_found, nothing_remembered, SameWords(self.vault), no_sub_runs)
        tools = builtin_tools(self.vault, self.clock, 24, deps, self.more, "en")
        policies = load_policies(self.folder / "home" / "config")
        return Agent(
            vault=self.vault,
            clock=self.clock,
            bus=self.bus,
            models=lambda run, job: Models(self.model, self.model),
            tools=Registry(
                tools,
                policies,
                self.approvals.guard,
                self.clock,
                about=lambda registry: [tool_search_tool(registry.specs)],
                sources=self.sources,
            ),
            system=SystemMessages(self.vault, "en"),
            sources=(),
            count=self.count,
            limits=settings.run,
            context=settings.context,
            language="en",
            endnote=lambda run: "",
        )

    def session(self, task: str = "a task") -> Session:
        """A new session."""
        return begin_session(self.vault, "cli", task)

    def run(self, task: str, session: Session, number: str = "", mailbox: Mailbox | None = None) -> Run:
        """A run in a session; `number` names it where it is taken up again."""
        context = RunContext(number or self.clock.new_id(), session.path, cancelled=lambda: self.cancel)
        models = Models(self.model, self.model)
        return Run(
            self.agent(),
            session,
            RunRequest(task, ANNA),
            context,
            mailbox or Mailbox(),
            self.said.append,
            models,
            Progress(self.clock.monotonic()),
            Breaker(3),
        )

    def ask(self, task: str, session: Session | None = None) -> Ended:
        """Ask, in a new session unless one is given."""
        ended = self.run(task, session or self.session(task)).go()
        self.vault.commit_held()  # as the worker does that captures a run
        return ended


def stage(folder: Path, lines: Sequence[ScriptedReply | str], **notes: str) -> Stage:
    """A stage whose model says these lines; `notes` by name without the ending."""
    said = [ScriptedReply(line) if isinstance(line, str) else line for line in lines]
    return Stage(folder, Scripted(said), {f"{name}.md": text for name, text in notes.items()})


def carried_out(session: Session) -> list[ToolResult]:
    """The results in a session without those of calls that were left open at a limit."""
    results = [message for message in session.history if isinstance(message, ToolResult)]
    return [result for result in results if result != unfinished_result(ToolCall(result.call, result.name))]


def note(vault: Vault, path: str) -> str:
    """A note's text, empty where there is none."""
    return (vault.read(path) or b"").decode()
