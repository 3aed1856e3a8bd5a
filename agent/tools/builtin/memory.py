"""`memory_save`: writes one memory as one entry in one commit; a known one is counted again.

What a job's run saves are the agent's words: nobody asked for it, so it neither counts as the person's nor replaces
what they have said.
"""

from typing import Protocol

from agent.clock import Clock
from agent.errors import ToolRetry
from agent.llm.messages import JsonObject
from agent.memory.capture.dedupe import Judgement, Resolution, changes_of
from agent.memory.entry import MODEL, Entry, EntryType, slug
from agent.memory.memory_lines import memory_change
from agent.texts import Language
from agent.tools import arguments
from agent.tools.builtin.notes import Notes
from agent.tools.tool import Draft, Effect, RunContext, Tool, ToolOutput
from agent.vault.folders import ENTRIES
from agent.vault.message import one_line
from agent.vault.store import Vault


class Keeper(Protocol):
    """Compares new entries with known ones."""

    def judged(self, entry: Entry, /) -> Judgement: ...

    def wrote(self, path: str, /) -> None:
        """Called with the path of an entry that was written."""


def save_tool(notes: Notes, clock: Clock, keeper: Keeper, language: Language) -> Tool:
    """The tool for one vault; `keeper` compares with known entries, `language` is that of MEMORY.md."""

    def decide(call: JsonObject, context: RunContext) -> Judgement:
        text = arguments.text(call, "text")
        if not text.strip():
            raise ToolRetry("there is nothing to remember")
        entry = Entry(
            clock.new_id(),
            clock.now(),
            text,
            EntryType.AUTO_CAPTURE if context.job else EntryType.USER_EXPLICIT,
            channel=context.channel,
            source=MODEL if context.job else "memory_save",
            keywords=arguments.texts(call, "keywords"),
            session_id=context.session,
            sender_id=context.sender,
            slots={"run": context.run} if context.run else {},
            evidence=(f"[[{context.session.removesuffix('.md')}]]",) if context.session else (),
            untrusted=tuple(context.taint.sources),
        )
        return keeper.judged(entry)

    def paths(call: JsonObject) -> tuple[str, ...]:
        return (notes.vault.home.at(f"{ENTRIES}{slug(arguments.text(call, 'text')) or 'memory'}.md"),)

    def plan(call: JsonObject, context: RunContext) -> tuple[Draft, ...]:
        return _drafts(decide(call, context), notes.vault, language)

    def perform(call: JsonObject, context: RunContext) -> ToolOutput:
        verdict = decide(call, context)
        drafts = _drafts(verdict, notes.vault, language)
        if not drafts:
            return ToolOutput("nothing had to change: it is remembered already")
        subject = f"memory(entry): remember {one_line(arguments.text(call, 'text'))}"
        result = notes.commit("memory_save", context, subject, drafts)
        keeper.wrote(drafts[0].path)
        return ToolOutput(f"{result.text}\n{_format_verdict(verdict, drafts[0].path)}", result.sources, result.commits)

    words: JsonObject = {"type": "string", "minLength": 1, "maxLength": 60}
    schema = arguments.schema(
        "text",
        text={"type": "string", "minLength": 1, "maxLength": 20_000, "description": "whole sentences, with names"},
        keywords={"type": "array", "maxItems": 20, "items": words},
    )
    description = "Remember one thing for good: a fact, a preference, a decision."
    effect = Effect(paths, plan, notes.done)
    return Tool("memory_save", description, schema, perform, frozenset({"memory"}), timeout=0, effect=effect)


def _drafts(verdict: Judgement, vault: Vault, language: Language) -> tuple[Draft, ...]:
    """The notes that a verdict creates or changes, that of the memory first."""
    changes = changes_of(verdict, vault.home)
    return tuple(Draft(*each) for each in (*changes, *memory_change(vault, changes, language)))


def _format_verdict(verdict: Judgement, path: str) -> str:
    match verdict.resolution:
        case Resolution.AGAIN:
            return f"it was remembered already, in {path}"
        case Resolution.SUPERSEDES:
            return f"in {path}; it takes the place of {verdict.other.path if verdict.other else 'an older one'}"
        case Resolution.NEW | Resolution.NONE:
            return f"in {path}"
