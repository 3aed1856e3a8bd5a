"""The thinking of a model beside its answer, in the order in which it came: some models check that when it goes back.

`Assistant.thinking` has the model's own blocks, and marks for the pieces of the text and for the calls between them.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import is_
from typing import TypeAlias

from agent.llm.messages import Assistant, Json, JsonObject, Message, Request, ToolCall, items, mapping, number, text

Part: TypeAlias = JsonObject | str | ToolCall
"""A block of the model's own, a piece of its text, or a call."""


def call_mark(at: int, more: JsonObject | None = None) -> JsonObject:
    """The mark for the call at this position, with what goes back with it."""
    return {"type": "call", "number": at, **(more or {})}


def with_marks(
    thoughts: Mapping[int, JsonObject], texts: Mapping[int, int], calls: Iterable[int]
) -> Sequence[JsonObject]:
    """The blocks of thinking by their positions in an answer, with marks for what stands between them: the lengths of
    `texts`, and `calls`. Thinking that comes first, as it mostly does, needs none."""
    others: dict[int, JsonObject] = {at: {"type": "text", "characters": characters} for at, characters in texts.items()}
    others |= {at: call_mark(number) for number, at in enumerate(calls)}
    if not thoughts or not others or max(thoughts) < min(others):
        return tuple(thoughts.values())
    blocks: Mapping[int, JsonObject] = {**others, **thoughts}
    return tuple(blocks[at] for at in sorted(blocks))


def thinking_field(name: str, value: Json) -> JsonObject:
    """Thinking that goes back as a field of the message."""
    return {"type": "field", "name": name, "value": value}


def thinking_fields(message: Assistant) -> dict[str, Json]:
    """The fields of a message with its thinking."""
    return {text(each.get("name")): each.get("value") for each in message.thinking if each.get("type") == "field"}


def thought_in(message: Assistant) -> str:
    """The words of the thinking of a message: of blocks, fields and summaries; empty where it is encrypted."""
    found: list[str] = []
    for block in message.thinking:
        found.append(text(block.get("value" if block.get("type") == "field" else "thinking")))
        found += (text(mapping(each).get("text")) for each in items(block.get("summary")))
    return "\n\n".join(filter(None, map(str.strip, found)))


def marked_call(message: Assistant, at: int) -> JsonObject:
    """The mark of the call at this position; empty without one."""
    marks = (each for each in message.thinking if each.get("type") == "call" and number(each.get("number")) == at)
    return next(marks, {})


def ordered_parts(message: Assistant, kinds: Collection[str]) -> Iterator[Part]:
    """The blocks of these kinds, the text and the calls of a message, as the model wrote them.

    Where the text is no longer what it was (a secret is masked), it stands whole before the first call.
    """
    lengths = [number(each.get("characters")) for each in message.thinking if each.get("type") == "text"]
    left, is_whole = message.text, sum(lengths) == len(message.text)
    calls = dict(enumerate(message.calls))
    for block in message.thinking:
        kind = text(block.get("type"))
        if kind in kinds:
            yield block
        elif kind == "text" and is_whole:
            characters = number(block.get("characters"))
            yield left[:characters]
            left = left[characters:]
        elif kind == "call" and number(block.get("number")) in calls:
            if left and not is_whole:
                yield left
                left = ""
            yield calls.pop(number(block.get("number")))
    yield from filter(None, (left, *calls.values()))


def own_thinking(request: Request, origin: str) -> Request:
    """The request with the thinking of `origin` only (a model and its server; empty for none): another one cannot read
    it."""

    def own(message: Message) -> Message:
        if not isinstance(message, Assistant) or not message.thinking or message.thinking_by == origin:
            return message
        return replace(message, thinking=())

    messages = tuple(map(own, request.messages))
    return request if all(map(is_, messages, request.messages)) else replace(request, messages=messages)
