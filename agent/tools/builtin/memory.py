"""`memory_save`: one thing worth remembering becomes one entry and one commit."""

from agent.clock import Clock
from agent.errors import ToolRetry
from agent.llm.messages import Object
from agent.memory.entry import Entry, Scope, slug
from agent.tools import arguments as given
from agent.tools.builtin.notes import Notes
from agent.tools.tool import Draft, Effect, Given, RunContext, Tool
from agent.vault.store import Transaction
from agent.vault.write.message import one_line


def save_tool(notes: Notes, clock: Clock) -> Tool:
    """The tool over one vault."""

    def plan(call: Object, context: RunContext) -> tuple[Draft, ...]:
        text = given.text(call, "text")
        if not text.strip():
            raise ToolRetry("there is nothing to remember")
        entry = Entry(
            clock.new_id(),
            clock.now(),
            text,
            scope=Scope.USER if context.role == "owner" else Scope.CHAT,
            channel=context.channel,
            source="memory_save",
            keywords=given.texts(call, "keywords"),
            session_id=context.session,
            sender_id=context.sender,
        )
        return (Draft(entry.path, None, entry.note()),)

    def perform(call: Object, context: RunContext) -> Given:
        (draft,) = drafts = plan(call, context)

        def fill(change: Transaction) -> None:
            change.create(draft.path, draft.after or b"")

        subject = f"memory(entry): remember {one_line(given.text(call, 'text'))[:80]}"
        result = notes.commit("memory_save", context, subject, drafts, fill)
        return Given(f"{result.text}\nin {draft.path}", result.sources, result.commits)

    schema: Object = {
        "type": "object",
        "properties": {
            "text": {
                "type": "string",
                "minLength": 1,
                "maxLength": 20_000,
                "description": "whole sentences, with names",
            },
            "keywords": {"type": "array", "maxItems": 20, "items": {"type": "string", "minLength": 1, "maxLength": 60}},
        },
        "required": ["text"],
        "additionalProperties": False,
    }
    said = "Remember one thing for good: a fact, a preference, a decision."
    effect = Effect(_paths, plan, notes.done)
    return Tool("memory_save", said, schema, perform, frozenset({"memory"}), timeout=0, effect=effect)


def _paths(call: Object) -> tuple[str, ...]:
    return (f"entries/{slug(given.text(call, 'text')) or 'memory'}.md",)
