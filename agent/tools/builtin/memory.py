"""`memory_save`, `memory_update` and `memory_forget`: keep one fact, put another one in its place, and forget; each in
one commit.

What a job's run saves are the agent's words: nobody asked for it, so it neither counts as the person's nor replaces
what they have said. What the person has said is replaced and forgotten in their own conversations only.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Protocol

from agent.clock import Clock
from agent.dataclass import dataclass
from agent.errors import NoteGone, ToolFailed, ToolRetry, UserError
from agent.llm.messages import JsonObject
from agent.memory.capture.dedupe import Judgement, Resolution, changes_of, judge
from agent.memory.capture.facts import quote_for
from agent.memory.entry import MODEL, QUOTE, SAVED, Entry, EntryType, slug
from agent.memory.forgetting.forget import carry_out, plan_named
from agent.memory.forgetting.forgotten_statements import ForgottenStatements
from agent.memory.forgetting.places import Forgetting
from agent.memory.memory_note import memory_change
from agent.memory.store import ARCHIVED, StoredEntry, load_entries
from agent.texts import Language, Sentence
from agent.tools import arguments
from agent.tools.builtin.notes import Notes
from agent.tools.tool import Draft, Effect, RunContext, Tool, ToolOutput
from agent.vault.change import Stamp
from agent.vault.find import find_named_note, find_note
from agent.vault.folders import ENTRIES
from agent.vault.message import one_line

SAVE, UPDATE, FORGET = "memory_save", "memory_update", "memory_forget"
MANY = 5
"""The most memories that go in a conversation without a second call."""
_SHOWN = 60
"""The most notes that are named."""
_NOT_GONE = (
    "It can still be brought back: undo does that, and the history still holds it. Only the person can end that, in a "
    "terminal: vault-agent forget WHAT --purge --for-good"
)
_TEXT: JsonObject = {
    "type": "string",
    "minLength": 1,
    "maxLength": 20_000,
    "description": "whole sentences, with names",
}
_WHAT: JsonObject = {"type": "string", "minLength": 1, "maxLength": 2_000, "description": "a memory's path"}
_GROUP = frozenset({"memory"})
_KIND = "kind"


class MemoryWriter(Protocol):
    """Compares new entries with known ones."""

    def judged(self, entry: Entry, /) -> Judgement: ...

    def wrote(self, path: str, /) -> None:
        """Called with the path of an entry that was written."""


def forgets_nothing(run: str, forgotten: ForgottenStatements) -> None:
    """Take no note of what was forgotten in a run."""


@dataclass(frozen=True, slots=True)
class MemoryTools:
    """The tools for one vault: `writer` compares with known entries, `language` is that of MEMORY.md, `forgot` is
    told what was forgotten in a run, whose own record is not finished then. `is_models`: what is saved are a model's
    words, though no job asks."""

    notes: Notes
    clock: Clock
    writer: MemoryWriter
    language: Language
    forgot: Callable[[str, ForgottenStatements], object] = forgets_nothing
    is_models: bool = False

    def tools(self) -> tuple[Tool, ...]:
        """The three tools; few conversations need the last two."""
        words: JsonObject = {"type": "string", "minLength": 1, "maxLength": 60}
        keywords: JsonObject = {"type": "array", "maxItems": 20, "items": words}
        schema, done = arguments.schema, self.notes.done
        save = Effect(self._new_path, self._plan_save, done)
        update = Effect(self._paths, self._plan_update, done)
        forget = Effect(self._paths, self._plan_forget, done)
        about = "Remember one thing for good."
        to_save = schema("text", text=_TEXT, keywords=keywords)
        changed = schema("what", "text", what=_WHAT, text=_TEXT)
        gone = schema("what", what=_WHAT, all={"type": "boolean"})
        return (
            Tool(SAVE, about, to_save, self._save, _GROUP, timeout=0, effect=save),
            Tool(UPDATE, "Correct a memory: put a new text in its place.", changed,
                 self._update, _GROUP, timeout=0, effect=update, seldom=True),
            Tool(FORGET, "Forget a memory, or words wherever you wrote them.", gone,
                 self._forget, _GROUP, timeout=0, effect=forget, seldom=True),
        )  # fmt: skip

    def _new_path(self, call: JsonObject) -> tuple[str, ...]:
        return (self.notes.vault.home.at(f"{ENTRIES}{slug(arguments.text(call, 'text')) or 'memory'}.md"),)

    def _paths(self, call: JsonObject) -> tuple[str, ...]:
        name, home = _name(call), self.notes.vault.home
        return (name if home.holds(name, ENTRIES) and name.endswith(".md") else home.at(f"{ENTRIES}words.md"),)

    def _entry(self, call: JsonObject, context: RunContext, known: StoredEntry | None = None) -> Entry:
        """The entry that a call asks for. One that takes the place of a `known` one stays of its kind, and is found by
        its keywords; its words rest on those of the person's."""
        text = arguments.text(call, "text")
        if not text.strip():
            raise ToolRetry("there is nothing to remember")
        kind = known.entry.slots.get(_KIND, "") if known else ""
        values = {"run": context.run, _KIND: kind, QUOTE: quote_for(text, context.asked)}
        slots = {name: value for name, value in values.items() if value}
        is_models = bool(context.job) or self.is_models
        return Entry(
            self.clock.new_id(),
            self.clock.now(),
            text,
            EntryType.AUTO_CAPTURE if is_models else EntryType.USER_EXPLICIT,
            channel=context.channel,
            source=MODEL if is_models else SAVED,
            keywords=known.entry.keywords if known else arguments.texts(call, "keywords"),
            session_id=context.session,
            sender_id=context.sender,
            slots=slots,
            supersedes=known.link if known else "",
            evidence=(f"[[{context.session.removesuffix('.md')}]]",) if context.session else (),
            untrusted=tuple(context.taint.sources),
        )

    def _drafts(self, verdict: Judgement) -> tuple[Draft, ...]:
        """The notes that a verdict creates or changes, that of the memory first."""
        vault = self.notes.vault
        changes = changes_of(verdict, vault.home)
        return tuple(Draft(*each) for each in (*changes, *memory_change(vault, changes, self.language)))

    def _plan_save(self, call: JsonObject, context: RunContext) -> tuple[Draft, ...]:
        return self._drafts(self.writer.judged(self._entry(call, context)))

    def _save(self, call: JsonObject, context: RunContext) -> ToolOutput:
        verdict = self.writer.judged(self._entry(call, context))
        return self._written(
            SAVE, verdict, Sentence("memory(entry): remember {text}", text=one_line(verdict.entry.text)), context
        )

    def _written(self, tool: str, verdict: Judgement, subject: str, context: RunContext) -> ToolOutput:
        drafts = self._drafts(verdict)
        if not drafts:
            return ToolOutput("nothing had to change: it is remembered already")
        result = self.notes.commit(tool, context, subject, drafts)
        self.writer.wrote(drafts[0].path)
        text = f"{result.text}\n{_format_verdict(verdict, drafts[0].path)}"
        return ToolOutput(text, result.sources, result.is_changed)

    def _updated(self, call: JsonObject, context: RunContext) -> Judgement:
        known = self._known(call, context)
        return judge(self._entry(call, context, known), (known,))

    def _plan_update(self, call: JsonObject, context: RunContext) -> tuple[Draft, ...]:
        return self._drafts(self._updated(call, context))

    def _update(self, call: JsonObject, context: RunContext) -> ToolOutput:
        verdict = self._updated(call, context)
        return self._written(
            UPDATE, verdict, Sentence("memory(entry): now {text}", text=one_line(verdict.entry.text)), context
        )

    def _known(self, call: JsonObject, context: RunContext) -> StoredEntry:
        """The memory that a call names; raises `ToolRetry` or `ToolFailed`."""
        _refuse_others(context)
        vault, name = self.notes.vault, _name(call)
        try:
            path = find_named_note(vault, name)
        except UserError as error:
            raise ToolRetry(f"{error.message}; memory_recall finds the right path") from error
        known = next(iter(load_entries(vault, (path,))), None) if vault.home.holds(path, ENTRIES) else None
        if known is None or known.untrusted or known.entry.sender_id or known.entry.chat_id:
            raise ToolRetry(f"{path} is no memory of the person's; memory_recall finds the right path")
        if known.entry.superseded_by:
            raise ToolRetry(f"{path} was replaced already by {known.entry.superseded_by}: update that one")
        return known

    def _planned(self, call: JsonObject, context: RunContext) -> Forgetting:
        _refuse_others(context)
        vault, name = self.notes.vault, _name(call)
        if not name:
            raise ToolRetry("say what to forget: a path, an id, or the words")
        try:
            named = find_named_note(vault, name) if is_link(arguments.text(call, "what")) else name
            self._refuse_notes(named)
            return plan_named(vault, named, self.language)
        except UserError as error:
            raise ToolRetry(f"{error.message}; memory_recall finds the right path or words") from error

    def _refuse_notes(self, name: str) -> None:
        """Raise `ToolRetry` if a note is named that is no memory: only its person deletes one."""
        vault = self.notes.vault
        with suppress(NoteGone):
            path = find_note(vault, name)
            if not vault.home.holds(path, ENTRIES, ARCHIVED):
                raise ToolRetry(
                    f"{path} is no memory, and nothing was forgotten: the person deletes notes, you can only put one "
                    "aside (vault_move without `to`)"
                )

    def _plan_forget(self, call: JsonObject, context: RunContext) -> tuple[Draft, ...]:
        planned = self._planned(call, context)
        gone = (Draft(path, data, None) for path, data in planned.gone)
        return (*gone, *(Draft(each.path, each.before, each.after) for each in planned.changed))

    def _forget(self, call: JsonObject, context: RunContext) -> ToolOutput:
        planned = self._planned(call, context)
        if context.session and len(planned.gone) > MANY and call.get("all") is not True:
            lines = ["nothing is forgotten yet: that would take", *_effects(planned)]
            return ToolOutput("\n".join([*lines, "say what more narrowly, or with all: true once the person agreed"]))
        stamp = Stamp(context.actor, run=context.run, session=context.session, call=context.call)
        outcome = carry_out(self.notes.vault, planned, self.language, stamp=stamp)
        self.forgot(context.run, planned.forgotten)
        head = "forgotten" if outcome.commit else "accepted, and waiting" if outcome.queued else "nothing to forget"
        lines = [f"{head} (commit {outcome.commit[:10]}):" if outcome.commit else f"{head}:", *_effects(planned)]
        lines += [_NOT_GONE] if outcome.commit else []
        return ToolOutput("\n".join(lines), is_changed=bool(outcome.commit), forgotten=planned.forgotten.redacted)


def _name(call: JsonObject) -> str:
    name = arguments.text(call, "what").strip()
    return name[2:-2].partition("|")[0] if is_link(name) else name


def is_link(text: str) -> bool:
    """True for what can only name a note."""
    return text.strip().startswith("[[") and text.strip().endswith("]]")


def _refuse_others(context: RunContext) -> None:
    """Raise `ToolFailed` in a job's run, and in one of a guest's."""
    if context.job or context.role != "owner":
        raise ToolFailed("what the person has said is changed and forgotten in their own conversations only")


def _effects(forgetting: Forgetting) -> Iterator[str]:
    """The notes that go, change, or stay because the person wrote them."""
    rows = [f"  goes: {path}" for path, _ in forgetting.gone]
    rows += [f"  loses lines: {each.to or each.path}" for each in forgetting.changed]
    rows += [f"  stays, and says it too: {path}" for path in forgetting.mentions]
    yield from rows[:_SHOWN]
    if len(rows) > _SHOWN:
        yield f"  and {len(rows) - _SHOWN} more"


def _format_verdict(verdict: Judgement, path: str) -> str:
    match verdict.resolution:
        case Resolution.AGAIN:
            return f"it was remembered already, in {path}"
        case Resolution.SUPERSEDES:
            return f"in {path}; it takes the place of {verdict.other.path if verdict.other else 'an older one'}"
        case Resolution.NEW | Resolution.NONE:
            return f"in {path}"
