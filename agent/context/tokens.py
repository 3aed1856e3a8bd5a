"""Counts the tokens of a text, a message or a tool.

The tokenizer is the one that ships for search: about as fine as those of current models for English, finer for Chinese,
so the count is rather too high. Without it the count is estimated from the characters.
"""

import json
from functools import lru_cache
from typing import TYPE_CHECKING

from agent.context.budget import Count
from agent.llm.messages import Assistant, Json, Message, ToolSpec

if TYPE_CHECKING:
    from agent.index.embedder import Embedder

MESSAGE = 4
"""Tokens for a message's role and its separators on the wire."""
_REMEMBERED = 8_192
_ASCII_PER_TOKEN = 4


def counter(embedder: "Embedder | None") -> Count:
    """A count by the tokenizer of the search model, by estimate without one.

    Remembers the counts of recent texts: a history only grows, so each message is counted once.
    """
    if embedder is None:
        return with_cache(estimate)
    return with_cache(lambda text: len(embedder.tokens([text])[0]))


def with_cache(count: Count) -> Count:
    """The same count with a cache of recent texts. Safe to use from several threads."""
    return lru_cache(maxsize=_REMEMBERED)(count)


def estimate(text: str) -> int:
    """The estimated tokens of a text: one for four ASCII characters, and one for every other character."""
    plain = sum(map(str.isascii, text)) if not text.isascii() else len(text)
    return -(-plain // _ASCII_PER_TOKEN) + len(text) - plain


def count_message(message: Message, count: Count) -> int:
    """The tokens of a message with its calls and everything else that is sent with it."""
    total = count(message.text) + MESSAGE
    if isinstance(message, Assistant):
        total += sum(count(call.name) + count(_written(call.arguments)) + MESSAGE for call in message.calls)
        total += sum(count(_written(part)) for part in message.kept)
    return total


def count_tool(spec: ToolSpec, count: Count) -> int:
    """The tokens of a tool's description."""
    return count(spec.name) + count(spec.description) + count(_written(spec.parameters)) + MESSAGE


def _written(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
