"""Requests that a server refuses as too long, and the numbers in its words: each server has its own.

What is done about it is left to the caller, who can make the request smaller.
"""

import re

from agent.errors import Permanent
from agent.llm.fields import mapping, number, parsed
from agent.llm.messages import Json
from agent.texts import Sentence

_TOO_LONG = re.compile(
    r"context.{0,30}(length|window|size|limit)|too (many|long|large).{0,40}(token|model)|prompt.{0,20}too long"
    r"|input.{0,20}(is )?too long|request too large|maximum (model|prompt|context|input).{0,20}length"
    r"|(input|prompt).{0,40}exceed|exceed.{0,40}(token|context|maximum length)|range of input length"
    r"|reduce the length|超长|超出.{0,12}长度|tokens?.{0,40}must be <=|body too large",
    re.I | re.S,
)
_OF_ANSWER = re.compile(r"(?!.*\bcontext\b).*\bmax_(completion_|output_)?tokens\b", re.I | re.S)
"""A refusal of the longest answer, not of the request."""
_NUMBER = re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?![\w,])|(?<![\w.,])\d+(?!\w|,\d|\.\d)")
_LIMIT = re.compile(
    r"(?:maximum|max|limit|only|allowed|available|up to|cannot exceed|must be|\bmodel with|than|size|\[\d+,)"
    r"[^\d\n.;]{0,60}?[ (:=]*(\d[\d,]*)",
    re.I,
)
_BY_SIGN = re.compile(r"(?:>|<=|\(TPM\): Limit)\s*(\d[\d,]*)")
_LEAST = 256
"""The smallest number that can be a context window in tokens."""


class TooLong(Permanent):
    """The request is longer than the model's window. `window`: what it takes, `sent`: what it was sent, in the server's
    own tokens; 0 where it does not say."""

    def __init__(self, message: Sentence, *, window: int, sent: int, hint: Sentence) -> None:
        super().__init__(message, hint=hint)
        self.window = window
        self.sent = sent


def is_too_long(words: str) -> bool:
    """True if a server's refusal means the length of the request."""
    return bool(_TOO_LONG.search(words)) and not _OF_ANSWER.match(words)


def numbers_in(body: str, words: str) -> tuple[int, int]:
    """The window and the length of the request in a refusal, in tokens; 0 for what it does not say."""
    try:
        error = mapping(mapping(parsed(body)).get("error"))
    except ValueError:
        error = {}
    window, sent = _first(error, "n_ctx", "max_context_length"), _first(error, "n_prompt_tokens")
    named = [value for found in _LIMIT.finditer(words) if (value := _value(found[1])) >= _LEAST]
    others = [value for found in _NUMBER.finditer(words) if (value := _value(found[0])) >= _LEAST]
    if not window and (signed := _BY_SIGN.search(words)):
        window = _value(signed[1])
    elif not window and others:
        # what was sent is more than what is allowed, so the largest number is no limit unless it stands alone
        smaller = [each for each in named if each < max(others)]
        window = (smaller or named or (sorted(others)[:1] if len(others) > 1 else [0]))[0]
    sent = sent or max((each for each in others if each > window), default=0)
    return window, sent if window else 0


def _first(error: Json, *names: str) -> int:
    return next((value for name in names if (value := number(mapping(error).get(name)))), 0)


def _value(digits: str) -> int:
    return int(digits.replace(",", "") or 0)
