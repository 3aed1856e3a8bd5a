"""A vault with the whole toolbox, and calls made as the loop makes them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from agent.clock import SystemClock
from agent.errors import NeedsApproval, UserError
from agent.index.query import Hit, SearchResult
from agent.llm.messages import Json, JsonObject, ToolCall
from agent.memory.recall.recaller import Recollection, Remembered
from agent.memory.remember import SameWords
from agent.skills.loading.files import ReviewPins
from agent.texts import Language
from agent.tools.approvals import Approvals
from agent.tools.builtin.toolbox import ToolDeps, builtin_tools
from agent.tools.policy import Policies, Policy, Profile, RunFilter
from agent.tools.registry import Called, Registry, ToolSource
from agent.tools.text_origin import TextOrigin
from agent.tools.tool import RunContext, Tool, ToolOutput
from agent.vault.store import Vault, open_vault
from tests.fakes import FakeClock
from tests.vaults import FAST, make_vault

FREE = Policies((Profile("default", RunFilter(), Policy()),))
EVIL = "https://evil.example/page"


def tool_of(
    perform: Callable[[JsonObject, RunContext], ToolOutput] = lambda arguments, context: ToolOutput("ok"),
    *,
    name: str = "web_fetch",
    groups: Iterable[str] = ("web",),
    properties: Mapping[str, Json] | None = None,
    egress: bool = False,
    timeout: float = 30.0,
    limit: int = 16_000,
) -> Tool:
    """A tool made of a function."""
    schema: JsonObject = {"type": "object", "properties": properties or {"url": {"type": "string"}}}
    return Tool(
        name, "for tests", schema, perform, frozenset(groups), egress=egress, timeout=timeout, result_limit=limit
    )


@dataclass(slots=True)
class House:
    """A vault, its tools and one run."""

    vault: Vault
    clock: FakeClock
    approvals: Approvals
    registry: Registry
    context: RunContext
    found: list[Hit]
    calls: int = 0

    def call(self, tool: str, call_id: str = "", /, **arguments: Json) -> Called:
        """Call a tool as the model would."""
        self.calls += 1
        try:
            return self.registry.call(ToolCall(call_id or f"call-{self.calls}", tool, arguments), self.context)
        finally:
            with suppress(UserError):  # a full disk
                self.vault.commit_held()  # as the end of the run does

    def says(self, tool: str, /, **arguments: Json) -> str:
        """The text that a call gives; it must not fail."""
        called = self.call(tool, **arguments)
        assert not called.result.failed, called.result.text
        return called.result.text

    def fails(self, tool: str, /, **arguments: Json) -> str:
        """The error that a call gives."""
        called = self.call(tool, **arguments)
        assert called.result.failed and called.output is None, called.result.text
        return called.result.text

    def asks(self, tool: str, /, **arguments: Json) -> str:
        """The path of the note in which a call asks for approval."""
        try:
            called = self.call(tool, **arguments)
        except NeedsApproval as error:
            return error.path
        raise AssertionError(f"{tool} did not ask: {called.result.text}")

    def restarted(self) -> None:
        """Go on as a new process does: nothing is left in memory, the taint is read from the session."""
        self.context = replace(RunContext("run-1", "sessions/s.md", resumed=True), taint=self.context.taint)

    def text(self, path: str) -> str:
        """What a note holds on disk."""
        return (self.vault.place.root / path).read_text("utf-8")

    def tick(self, path: str, *words: str) -> None:
        """Tick boxes in a note as a person does in an editor."""
        text = self.text(path)
        for word in words:
            assert f"- [ ] {word}" in text
            text = text.replace(f"- [ ] {word}", f"- [x] {word}")
        (self.vault.place.root / path).write_text(text, "utf-8")


def house(
    folder: Path,
    notes: Mapping[str, str | bytes] | None = None,
    more: Iterable[Tool] = (),
    policies: Policies = FREE,
    hours: float = 24.0,
    language: Language = "en",
    sources: Sequence[ToolSource] = (),
) -> House:
    """A new vault with these notes, the built-in tools and some more, and those of `sources`."""
    clock = FakeClock()
    vault = make_vault(folder, notes, clock=clock)
    approvals = Approvals(vault, clock, hours, language)
    found: list[Hit] = []

    def search(query: str, limit: int) -> SearchResult:
        return SearchResult(query, "keyword", "fake", tuple(found[:limit]))

    def recall(query: str, limit: int, context: RunContext) -> Recollection:
        return Recollection(
            tuple(
                Remembered(each.path, each.title, "", each.lines, each.passage, each.score, "user_explicit")
                for each in found[:limit]
            ),
            "keyword",
        )

    def delegate(task: str, background: str, context: RunContext) -> ToolOutput:
        return ToolOutput(f"did {task}")

    tools = builtin_tools(vault, clock, hours, ToolDeps(search, recall, SameWords(vault), delegate), more, language)
    registry = Registry(tools, policies, approvals.guard, clock, sources=sources)
    return House(vault, clock, approvals, registry, RunContext("run-1", "sessions/s.md"), found)


def hit(path: str, lines: tuple[int, int], passage: str) -> Hit:
    """A search result."""
    return Hit(path, path.removesuffix(".md"), None, 1.0, lines, passage, ())


def tainted(home: House) -> House:
    """The same house in a run that has read a web page."""
    home.context.taint.mark(EVIL)
    return home


def origin_in(folder: Path) -> TextOrigin:
    """The record of foreign text of a new vault in a folder, where nothing has arrived and no skill is reviewed; asked
    again, as another process opens it."""
    root = folder / "vault"
    vault = open_vault(root, folder / "state", SystemClock(), FAST) if root.exists() else make_vault(folder)
    return TextOrigin(vault, ReviewPins(folder / "pins"))
