"""The wire format of OpenAI's chat completions, which DeepSeek, ARK, Ollama, llama.cpp and others also use.

Each deviates in its own way; `openai_reply` handles the deviations. Sending and retrying is left to `wire`.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence

from agent.clock import Clock
from agent.llm.endpoint import Endpoint
from agent.llm.messages import Assistant, Json, JsonObject, Message, Request, ToolCall, ToolResult, ToolSpec
from agent.llm.openai_reply import parse_reply
from agent.llm.retry import Jitter
from agent.llm.turns import format_message, order_messages, sendable_text, tool_name
from agent.llm.wire import Api, Dialect, Wire


class OpenAI(Wire):
    """A `Provider` for a server with chat completions; see `Wire`."""

    def __init__(self, endpoint: Endpoint, clock: Clock, count: Callable[[str], int], jitter: Jitter) -> None:
        optional = {"stream_options": {"include_usage": True}, **endpoint.extra}
        super().__init__(_API, Dialect(endpoint.limit, optional), endpoint, clock, count, jitter)


def _headers(key: str) -> Mapping[str, str]:
    return {"authorization": f"Bearer {key}"}


def body(endpoint: Endpoint, request: Request, dialect: Dialect) -> JsonObject:
    """The JSON body of a request."""
    told: dict[str, Json] = {
        "model": endpoint.model.name,
        "messages": list(_turns(request.messages, merge=endpoint.merge)),
        "stream": True,
        dialect.limit: min(request.max_output, endpoint.model.max_output),
        **dialect.optional,
    }
    if request.tools:
        told["tools"] = [_tool(tool) for tool in request.tools]
    return told


def _turns(messages: Sequence[Message], *, merge: bool) -> Iterator[JsonObject]:
    """The turns of a request; with `merge`, neighbouring user messages become one turn, its beginning unchanged."""
    waiting: list[str] = []
    for message in order_messages(messages):
        turn = _turn(message)
        if merge and turn["role"] == "user":
            waiting.append(str(turn["content"]))
            continue
        if waiting:
            yield {"role": "user", "content": "\n\n".join(waiting)}
            waiting = []
        yield turn
    if waiting:
        yield {"role": "user", "content": "\n\n".join(waiting)}


def _turn(message: Message) -> JsonObject:
    if isinstance(message, ToolResult):
        return {"role": "tool", "tool_call_id": message.call, "content": format_message(message)}
    if isinstance(message, Assistant):
        # Empty text and not null: some servers' templates write "None".
        told: dict[str, Json] = {"role": "assistant", "content": sendable_text(message.text)}
        if message.calls:
            told["tool_calls"] = [_call(call) for call in message.calls]
        return told
    return {"role": _ROLES[type(message).__name__], "content": format_message(message)}


_ROLES = {"System": "system", "User": "user", "Context": "user"}


def _call(call: ToolCall) -> JsonObject:
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    return {"id": call.id, "type": "function", "function": {"name": tool_name(call.name), "arguments": arguments}}


def _tool(tool: ToolSpec) -> JsonObject:
    told: JsonObject = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": told}


_API = Api("/chat/completions", _headers, body, _tool, parse_reply)
