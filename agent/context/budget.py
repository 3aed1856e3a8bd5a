"""The token budget of a request, the share of each part, and the number of tokens of a text, a message or a tool.

Shortens a long text visibly: its beginning and its end are kept, and a note gives the length of the missing part.

The same text and room always give the same result, and a text that fits is unchanged; so a shortened tool result stays
the same in every later request.
"""

import json
from collections.abc import Callable
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from agent.dataclass import dataclass
from agent.llm.messages import IMAGE_TOKENS, Assistant, Json, Message, Model, ToolResult, ToolSpec

if TYPE_CHECKING:
    from agent.index.embedder import Embedder

Count: TypeAlias = Callable[[str], int]
"""The tokens of a text; always the same number for the same text."""

SHARES = MappingProxyType(
    {
        "system": 0.15,
        "anchor": 0.05,
        "rules": 0.04,
        "profile": 0.03,
        "memories": 0.20,
        "skills": 0.06,
        "skill_index": 0.03,
        "hooks": 0.06,
        "history": 0.20,
        "errors": 0.05,
        "tools": 0.13,
    }
)
"""Parts of the budget, from 0 to 1, with a sum of 1. Sources, hooks, anchor and errors are limited to theirs; the
history may use the rest, and `system` and `tools` are not cut to theirs."""
_SOURCE = 0.06
"""The share of a source that is not in the table: the same as skills."""
_TEXTS = ("rules", "memories", "skills", "hooks")
"""The parts that are added when a task begins."""
_MOST = MappingProxyType({"skills": 0.25})
"""The parts that may take more than their share, from what is left of those of all `_TEXTS`. A skill is given whole or
not at all: each of the program's has up to 1,000 tokens, a quarter of the budget of a window of 8,192."""
_ANSWER_SHARE = 4
"""The largest part of a small window that is reserved for the answer, as a divisor."""
_STEP = 4
"""The results of one step get a quarter of the budget, so that the last two steps, which are never cut, leave half of
it."""


@dataclass(frozen=True, slots=True)
class Window:
    """A model's context window in tokens, and the tokens reserved for its answer."""

    tokens: int
    reserve: int

    @property
    def budget(self) -> int:
        """The most tokens of a request; zero or less when the reserve leaves none."""
        return int(self.tokens * 0.75) - self.reserve

    def allowed(self, name: str) -> int:
        """The tokens of the budget for the part with this name."""
        return max(int(self.budget * SHARES.get(name, _SOURCE)), 0)

    def most(self, name: str) -> int:
        """The most tokens that the part with this name may take while the other texts of a task leave them."""
        return max(self.allowed(name), int(self.budget * _MOST.get(name, 0.0)))

    @property
    def texts_room(self) -> int:
        """The tokens of all texts together that are added when a task begins."""
        return sum(map(self.allowed, _TEXTS))

    def result_room(self, results: int) -> int:
        """The most tokens of each of `results` results of one step; see `shorten`."""
        return max(self.budget // (_STEP * max(results, 2)), 32)


def window_of(model: Model) -> Window:
    """The window of a model, with the tokens reserved for its answer."""
    return Window(model.window, min(model.max_output, model.window // _ANSWER_SHARE))


@dataclass(frozen=True, slots=True)
class BudgetRow:
    """A row of the budget table: tokens used and allowed, and how many things were included and cut."""

    name: str
    used: int
    allowed: int
    included: int
    cut: int = 0


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
    if isinstance(message, ToolResult):
        total += IMAGE_TOKENS * len(message.images)
    if isinstance(message, Assistant):
        total += sum(count(call.name) + count(_written(call.arguments)) + MESSAGE for call in message.calls)
        total += sum(count(_written(part)) for part in message.thinking)
    return total


def count_tool(spec: ToolSpec, count: Count) -> int:
    """The tokens of a tool's description."""
    return count(spec.name) + count(spec.description) + count(_written(spec.parameters)) + MESSAGE


def _written(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


_HEAD = 2 / 3
"""The part of the room for the beginning, where the topic of a text is more often than at its end."""
_TRIES = 12


def shorten(text: str, room: int, count: Count) -> str:
    """`text` in at most `room` tokens: cut in the middle, at line ends if there are any nearby.

    If the room is too small for the note, the beginning only.
    """
    whole = count(text)
    if whole <= room:
        return text
    keep = int(len(text) * room / whole)
    for _ in range(_TRIES):
        short = _cut(text, keep, whole, count)
        used = count(short)
        if used <= room:
            return short
        keep = min(int(keep * room / used), keep - 1) if keep > 1 else 0
        if keep <= 0:
            break
    return _beginning(text, room, count)


def _cut(text: str, keep: int, whole: int, count: Count) -> str:
    head = _back_to_line(text[: int(keep * _HEAD)])
    tail = _on_to_line(text[len(text) - (keep - int(keep * _HEAD)) :] if keep else "")
    left_out = whole - count(head) - count(tail)
    return f"{head}\n[… left out here: about {max(left_out, 1):,} of {whole:,} tokens …]\n{tail}"


def _back_to_line(head: str) -> str:
    """The text without its cut last line, unless that line is most of it."""
    end = head.rfind("\n")
    return head[:end] if end > len(head) // 2 else head


def _on_to_line(tail: str) -> str:
    start = tail.find("\n")
    return tail[start + 1 :] if 0 <= start < len(tail) // 2 else tail


def _beginning(text: str, room: int, count: Count) -> str:
    low, high = 0, min(len(text), max(room, 0) * 16)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count(text[:middle]) <= room else (low, middle - 1)
    return text[:low]
