"""Our messages as conversation turns, for every wire: in an order that servers accept, and as text.

The same messages always give the same turns, and more messages only add turns: a provider's cache needs that.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from agent.llm.messages import (
    Assistant,
    Context,
    JsonObject,
    Message,
    System,
    ToolCall,
    ToolResult,
    User,
    items,
    mapping,
)

_TAG = re.compile(r"<(?=\s*/?\s*context\b)", re.I)
_LINE_OPENING = re.compile(r"(^|[\n\r\v\f\x85\u2028\u2029])(\s*)\[")
_UNSEEN = "(the picture is not shown: this model does not see pictures; say so, and use what is written about it)"
_NAME = re.compile(r"[^A-Za-z0-9_-]")


def order_messages(messages: Sequence[Message]) -> list[Message]:
    """The messages with each tool result directly after its call: servers refuse anything in between."""
    done: list[Message] = []
    others: list[Message] = []
    for message in messages:
        if isinstance(message, ToolResult):
            done.append(message)
        elif isinstance(message, Assistant):
            done += [*others, message]
            others = []
        else:
            others.append(message)
    return done + others


def without_images(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages for a model that sees no pictures: each is named in its place."""
    return tuple(
        replace(each, text=f"{each.text}\n{_UNSEEN}", images=())
        if isinstance(each, ToolResult) and each.images
        else each
        for each in messages
    )


def format_message(message: User | Context | ToolResult | System) -> str:
    """The text of a message that is not the model's own."""
    match message:
        case System(text):
            return sendable_text(text)
        case User(text, ""):
            return sendable_text(text)
        case User(text, sender):
            return f"[{_name(sender)}] {_LINE_OPENING.sub(_quoted, sendable_text(text))}"
        case Context(text, source):
            inside = _TAG.sub("&lt;", sendable_text(text))
            return f'<context source="{_attribute(source)}">\n{inside}\n</context>'
        case ToolResult(text=text, failed=failed):
            marked = failed and not text.casefold().startswith("error")
            return f"Error: {sendable_text(text)}" if marked else sendable_text(text)


def sendable_text(text: str) -> str:
    """`text` with lone surrogates replaced, which no server accepts."""
    return text.encode("utf-8", "replace").decode("utf-8")


def tool_name(name: str) -> str:
    """A tool's name with the characters that servers accept; a model may have invented another name."""
    return _NAME.sub("_", name)[:64] or "unknown"


def taken_ids(messages: Sequence[Message]) -> frozenset[str]:
    """The ids of all calls so far."""
    return frozenset(call.id for call in _calls(messages))


def counted_texts(messages: Sequence[Message]) -> list[str]:
    """Every text that the model reads in these messages, for an estimate of their size."""
    texts = [message.text if isinstance(message, Assistant) else format_message(message) for message in messages]
    return texts + [f"{call.name} {call.arguments}" for call in _calls(messages)]


def _calls(messages: Sequence[Message]) -> list[ToolCall]:
    return [call for message in messages if isinstance(message, Assistant) for call in message.calls]


def _quoted(found: re.Match[str]) -> str:
    """A line that begins with a bracket, marked: in a group, it could imitate another person's message."""
    return f"{found[1]}{found[2]}\\["


def _name(sender: str) -> str:
    return " ".join(sender.replace("[", "(").replace("]", ")").split())


def _attribute(text: str) -> str:
    text = sendable_text(" ".join(text.split()))
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")


REFUSED = re.compile(
    r"roles? must alternate|system role not supported|unexpected message role|single tool-calls? at once"
    r"|tool call ids should be|only user.{0,20}assistant.{0,20}roles are supported",
    re.IGNORECASE,
)
"""What a server says after its template has refused the turns of a request."""


def plain_turns(turns: Iterable[JsonObject]) -> list[JsonObject]:
    """The same turns as text of a user and an assistant, the user first and last; neighbours are joined."""
    plain: list[JsonObject] = []
    for turn in turns:
        role, content = _as_plain_turn(turn)
        if plain and plain[-1]["role"] == role:
            plain[-1] = {"role": role, "content": f"{plain[-1]['content']}\n\n{content}"}
        else:
            plain.append({"role": role, "content": content})
    return plain


def _as_plain_turn(turn: JsonObject) -> tuple[str, str]:
    content = str(turn["content"] or "")
    if turn["role"] == "tool":
        return "user", f"[result of a tool]\n{content}"
    if turn["role"] != "assistant":
        return "user", content
    asked = (mapping(mapping(call).get("function")) for call in items(turn.get("tool_calls")))
    calls = [f"[call of the tool {function['name']} {function['arguments']}]" for function in asked]
    return "assistant", "\n".join(filter(None, [content, *calls]))
