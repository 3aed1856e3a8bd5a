"""Counts the tokens of a text, a message or a tool.

The tokenizer is the one that ships for search: about as fine as those of current models for English, finer for Chinese,
so that it errs on the side of too many. Without it the count is estimated from the characters.
"""

import json
from functools import lru_cache

from agent.context.budget import Count
from agent.index.embedder import Embedder
from agent.llm.messages import Assistant, Json, Message, ToolSpec

MESSAGE = 4
"""Tokens for a message's role and its marks on the wire."""
_REMEMBERED = 8_192
_ASCII_PER_TOKEN = 4


def counter(embedder: Embedder | None) -> Count:
    """A count by the tokenizer of the search's model, by estimate when there is none.

    Remembers the texts that it was asked about last: a history only grows, and each message is counted once.
    """
    if embedder is None:
        return with_cache(estimate)
    return with_cache(lambda text: len(embedder.tokens([text])[0]))


def with_cache(count: Count) -> Count:
    """The same count, which remembers its answers for the texts asked about last. May be used by several threads."""
    return lru_cache(maxsize=_REMEMBERED)(count)


def estimate(text: str) -> int:
    """Tokens by rule of thumb: four plain characters each, and one for every other character."""
    plain = sum(map(str.isascii, text)) if not text.isascii() else len(text)
    return -(-plain // _ASCII_PER_TOKEN) + len(text) - plain


def count_message(message: Message, count: Count) -> int:
    """Tokens of a message with its calls and everything else that is sent with it."""
    total = count(message.text) + MESSAGE
    if isinstance(message, Assistant):
        total += sum(count(call.name) + count(_written(call.arguments)) + MESSAGE for call in message.calls)
        total += sum(count(_written(part)) for part in message.kept)
    return total


def count_tool(spec: ToolSpec, count: Count) -> int:
    """Tokens of a tool's description."""
    return count(spec.name) + count(spec.description) + count(_written(spec.parameters)) + MESSAGE


def _written(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
