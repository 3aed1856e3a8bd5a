"""The wire format of OpenAI's Responses API, in which its models think on between calls of tools.

Nothing is stored at the provider: thinking comes encrypted and goes back with the calls that it led to. Parsing the
answer is left to `responses_reply`, sending and retrying to `wire`.
"""

import json
from collections.abc import Iterator, Mapping

from agent.llm.dialect import Dialect
from agent.llm.endpoint import Endpoint
from agent.llm.kept_thinking import Part, ordered_parts
from agent.llm.messages import Assistant, Json, JsonObject, Message, Request, System, ToolCall, ToolResult, ToolSpec
from agent.llm.responses_reply import THOUGHTS, parse_reply
from agent.llm.turns import format_message, order_messages, sendable_text, tool_name
from agent.llm.wire import Api, Wire

ENCRYPTED = "reasoning.encrypted_content"


class Responses(Wire):
    """A `Provider` for OpenAI's Responses API; see `Wire`."""

    def api(self) -> Api:
        """The format of this kind of server."""
        return _API


def _headers(key: str) -> Mapping[str, str]:
    return {"authorization": f"Bearer {key}"}


def body(endpoint: Endpoint, request: Request, dialect: Dialect) -> JsonObject:
    """The JSON body of a request."""
    system = [format_message(each) for each in request.messages if isinstance(each, System) and each.text.strip()]
    others = [each for each in order_messages(request.messages) if not isinstance(each, System)]
    told: dict[str, Json] = {
        "model": endpoint.model.name,
        "input": [item for message in others for item in _items(message)],
        "stream": True,
        "store": False,
        "max_output_tokens": request.max_output,
        **dialect.optional,
    }
    if system:
        told["instructions"] = "\n\n".join(system)
    if request.tools:
        told["tools"] = [_tool(tool) for tool in request.tools]
        if not request.may_call:
            told["tool_choice"] = "none"
    return told


def _items(message: Message) -> Iterator[JsonObject]:
    """The items of a message."""
    if isinstance(message, ToolResult):
        text = format_message(message)
        images: list[JsonObject] = [
            {"type": "input_image", "image_url": each.url, "detail": "auto"} for each in message.images
        ]
        shown: Json = [{"type": "input_text", "text": text}, *images] if images else text
        yield {"type": "function_call_output", "call_id": message.call, "output": shown}
    elif isinstance(message, Assistant):
        yield from (_item(part) for part in ordered_parts(message, THOUGHTS))
    else:
        yield {"role": "user", "content": format_message(message)}


def _item(part: Part) -> JsonObject:
    """A part of the model's own message: thinking unchanged, text, or a call."""
    if isinstance(part, str):
        return {"role": "assistant", "content": sendable_text(part)}
    if isinstance(part, ToolCall):
        arguments = json.dumps(part.arguments, ensure_ascii=False)
        return {"type": "function_call", "call_id": part.id, "name": tool_name(part.name), "arguments": arguments}
    return part


def _tool(tool: ToolSpec) -> JsonObject:
    told: JsonObject = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", **told, "strict": False}


def _dialect(endpoint: Endpoint) -> Dialect:
    effort: JsonObject = {"reasoning": {"effort": endpoint.effort}} if endpoint.effort else {}
    return Dialect("max_tokens", {"include": [ENCRYPTED], **effort, **endpoint.extra})


_API = Api("/responses", _headers, body, _tool, parse_reply, _dialect)
