"""The wire format of OpenAI's chat completions, which DeepSeek, ARK, Ollama, llama.cpp and others also use.

Each deviates in its own way; `openai_reply` handles the deviations. Sending and retrying is left to `wire`.
"""

import json
from collections.abc import Mapping, Sequence

from agent.llm.endpoint import Endpoint
from agent.llm.messages import Assistant, Context, Json, JsonObject, Message, Request, ToolCall, ToolResult, ToolSpec
from agent.llm.openai_reply import parse_reply
from agent.llm.plain_turns import plain_turns
from agent.llm.turns import format_message, order_messages, sendable_text, tool_name
from agent.llm.wire import Api, Dialect, Wire


class OpenAI(Wire):
    """A `Provider` for a server with chat completions; see `Wire`."""

    def api(self) -> Api:
        """The format of this kind of server."""
        return _API


def _headers(key: str) -> Mapping[str, str]:
    return {"authorization": f"Bearer {key}"}


def body(endpoint: Endpoint, request: Request, dialect: Dialect) -> JsonObject:
    """The JSON body of a request."""
    turns = _turns(request.messages)
    told: dict[str, Json] = {
        "model": endpoint.model.name,
        "messages": plain_turns(turns) if dialect.plain else turns,
        "stream": True,
        dialect.limit: min(request.max_output, endpoint.model.max_output),
        **dialect.optional,
    }
    if request.tools:
        told["tools"] = [_tool(tool) for tool in request.tools]
        if not request.may_call:
            told["tool_choice"] = "none"
    return told


def _turns(messages: Sequence[Message]) -> list[JsonObject]:
    """The turns of a request. Many servers' templates refuse two user turns in a row, and one after a tool's result.

    So neighbouring user messages are joined, our own text after a result stands in its turn, below it, and a person's
    message after a result, as when a run was stopped, has a turn of the assistant before it.
    """
    turns: list[tuple[str, JsonObject]] = []
    for message in order_messages(messages):
        turn = _turn(message)
        role = str(turn["role"])
        last = turns[-1][0] if turns else ""
        if role == "user" and (last == "user" or (last == "tool" and isinstance(message, Context))):
            before = turns[-1][1]
            turns[-1] = last, {**before, "content": f"{before['content']}\n\n{turn['content']}"}
        else:
            turns += [("assistant", _STOPPED)] if (last, role) == ("tool", "user") else []
            turns.append((role, turn))
    return [turn for _, turn in turns]


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


_STOPPED: JsonObject = {"role": "assistant", "content": "(stopped here)"}
_ROLES = {"System": "system", "User": "user", "Context": "user"}


def _call(call: ToolCall) -> JsonObject:
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    return {"id": call.id, "type": "function", "function": {"name": tool_name(call.name), "arguments": arguments}}


def _tool(tool: ToolSpec) -> JsonObject:
    told: JsonObject = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": told}


def _dialect(endpoint: Endpoint) -> Dialect:
    return Dialect(endpoint.limit, {"stream_options": {"include_usage": True}, **endpoint.extra})


_API = Api("/chat/completions", _headers, body, _tool, parse_reply, _dialect)
