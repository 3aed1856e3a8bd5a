"""The result of a call of a server's tool as text and pictures."""

import json
from base64 import b64decode
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from agent.dataclass import dataclass
from agent.llm.messages import ImagePart

if TYPE_CHECKING:
    from mcp_types import CallToolResult

_MOST_PICTURES = 4
_PICTURES = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp"))
_LARGEST_PICTURE = 4_000_000


@dataclass(frozen=True, slots=True)
class ServerReply:
    """The result of a call, all of it the server's words; `is_error`: the server says that the call has failed."""

    text: str
    is_error: bool = False
    images: tuple[ImagePart, ...] = ()


def reply_of(result: "CallToolResult") -> ServerReply:
    """The reply that a result is; pictures beside its text are for models that see."""
    texts = list(filter(None, map(_text_of, result.content)))
    if not texts and result.structured_content is not None:
        texts = [json.dumps(result.structured_content, ensure_ascii=False, default=str)]
    return ServerReply("\n\n".join(texts), bool(result.is_error), tuple(_pictures(result))[:_MOST_PICTURES])


def _text_of(block: object) -> str:
    """The text of a part of a result; of anything else, what it is."""
    kind = getattr(block, "type", "")
    if kind == "text":
        return str(getattr(block, "text", ""))
    if kind == "resource":
        resource = getattr(block, "resource", None)
        return str(getattr(resource, "text", None) or f"[a file: {getattr(resource, 'uri', '')}]")
    if kind == "resource_link":
        return f"[{getattr(block, 'name', '')}: {getattr(block, 'uri', '')}]"
    return f"[{kind or 'something'}: {getattr(block, 'mime_type', '')}]"


def _pictures(result: "CallToolResult") -> Iterator[ImagePart]:
    for number, block in enumerate(result.content, 1):
        kind, data = getattr(block, "mime_type", ""), getattr(block, "data", "")
        if getattr(block, "type", "") != "image" or kind not in _PICTURES or len(data) > _LARGEST_PICTURE * 4 // 3:
            continue
        with suppress(ValueError):
            yield ImagePart(f"picture {number}", kind, b64decode(data, validate=True))
