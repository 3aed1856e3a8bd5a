"""One attempt of a model call: the limit and tokens of its answer, and its text that arrives in pieces."""

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import field
from typing import Literal, Protocol

from agent.dataclass import dataclass
from agent.errors import Interrupted
from agent.llm.messages import Request, Usage

_TAGS = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<thought>": "</thought>",
    "<reasoning>": "</reasoning>",
    "<seed:think>": "</seed:think>",
    "[THINK]": "[/THINK]",
    "◁think▷": "◁/think▷",
    "<|START_THINKING|>": "<|END_THINKING|>",
    "<|begin_of_thought|>": "<|end_of_thought|>",
}
"""The tags around reasoning at the beginning of an answer."""
_CLOSING = re.compile("|".join(re.escape(each) for each in _TAGS.values()))
_CHANNEL = re.compile(r"<\|(?:start|channel|message)\|>")
"""A token of the format of gpt-oss (harmony)."""
_FINAL = re.compile(r"<\|channel\|>\s*final\b.*?<\|message\|>(.*?)(?=<\|(?:return|end|start|call)\|>|$)", re.S)
_BARE_CHANNELS = re.compile(r"analysis(?=[A-Z\u4e00-\u9fff\"']).*?assistantfinal(.*)", re.S)
"""The same format where a server leaves out its tokens."""
CALL_BEGIN = re.compile(
    r"<tool_call>|<\|tool_call|<function=|<function_calls>|<\w+:tool_call>|\[TOOL_(?:CALLS|REQUEST)\]|<\|python_tag\|>"
    r"|<｜tool▁calls▁begin｜>|<｜DSML｜|<\|tool_calls_section_begin\|>|<\|channel\|>\s*commentary\s+to=|```tool_(?:call|code)\b"
)
"""The beginning of a call that a model wrote as text."""
_LONGEST_BEGIN = 40
_END_TOKENS = re.compile(
    r"(?:\s*(?:<\|(?:im_end|end|eot_id|endoftext|return|eom_id|END_RESPONSE)\|>|</s>|<end_of_turn>))+\s*$"
)
_UNDECIDED_END = re.compile(f"(?:{_END_TOKENS.pattern})|(?:{_CLOSING.pattern})\\Z")
"""An end that is shown only if more follows: tokens of a template, or a tag of which what follows says what it is."""
_EXPECTED = re.compile(r"think|reason|\br1\b|qwq|magistral", re.I)
"""Names of models that reason in their text."""


def reasons_in_text(model: str) -> bool:
    """True if a model of this name is likely to begin its text with reasoning."""
    return bool(_EXPECTED.search(model))


@dataclass(slots=True)
class IncomingText:
    """The part of a model's text that can be shown while it arrives; `answer` is all of it without its reasoning.

    `expects`: the model reasons in its text, so nothing is shown before the reasoning's end. `with_tools`: it may call
    tools, so what looks like a call is held back.
    """

    expects: bool = False
    with_tools: bool = False
    reasoned: bool = False
    """True once reasoning was found that only its end marks; what was shown before is no part of the answer."""
    _place: Literal["start", "reasoning", "text", "held"] = "start"
    _closing: str = ""
    """The tag that ends the reasoning at the beginning; empty if there is none."""
    _pieces: list[str] = field(default_factory=list)
    _streamed: str = ""
    _waiting: str = ""
    """The text since the last decision: not shown yet."""
    _searched: int = 0
    """The number of its characters that were searched for a tag that ends reasoning."""

    def take(self, piece: str) -> str:
        """The text that can be shown after `piece`."""
        self._pieces.append(piece)
        if self._place == "held":
            return ""
        self._waiting += piece
        if self._place == "start":
            self._begin()
        if self._place == "reasoning":
            _, closed, rest = self._waiting.partition(self._closing)
            self._waiting = rest.lstrip() if closed else self._waiting[-len(self._closing) :]
            if closed:
                self._place = "text" if self._waiting else "start"
        visible = self._show() if self._place == "text" else ""
        self._streamed += visible
        return visible

    def expect_no_reasoning(self) -> None:
        """The server sends reasoning apart from the text."""
        if self._place == "start":
            self.expects = False

    def _begin(self) -> None:
        begin = self._waiting.lstrip()
        if opening := next(filter(begin.startswith, _TAGS), ""):
            self._place, self._closing, self._waiting = "reasoning", _TAGS[opening], begin.removeprefix(opening)
            return
        if any(opening.startswith(begin) for opening in (*_TAGS, "<|start|>", "<|channel|>", "analysis")):
            return
        is_channel = begin.startswith(("<|start|>", "<|channel|>")) or _BARE_CHANNELS.match(begin + "assistantfinal")
        is_json = self.with_tools and begin.startswith(("{", "[{", "```json", "```\n{"))
        if is_channel or is_json:
            self._place = "held"
        elif not self.expects or _CLOSING.search(begin, max(self._searched - _LONGEST_BEGIN, 0)):
            self._place = "text"
        self._searched = len(begin)

    def _show(self) -> str:
        undecided = None if self.expects else _UNDECIDED_END.search(self._waiting)
        closes = undecided is None and _CLOSING.search(self._waiting) is not None
        if closes:
            whole = self._streamed + self._waiting
            if (end := _closing_in(whole, is_sure=self.expects)) is not None:
                self.reasoned, self._streamed, self._waiting = True, "", whole[end:].lstrip()
        if (self.reasoned or self._closing) and not self._streamed:
            self._waiting = self._waiting.lstrip()
        if self.with_tools and (begun := CALL_BEGIN.search(self._waiting)):
            visible, self._place = self._waiting[: begun.start()], "held"
            return visible
        if _CHANNEL.search(self._waiting):
            self._place = "held"
            return ""
        # a tag or a call may be cut between two pieces: what could be the beginning of one waits
        at = max(self._waiting.rfind("<"), self._waiting.rfind("["), self._waiting.rfind("```"))
        waits = at >= 0 and len(self._waiting) - at < _LONGEST_BEGIN and ">" not in self._waiting[at:]
        if undecided is not None:
            at, waits = max(len(self._waiting) - len(undecided[0]), 0), True
        visible, self._waiting = (self._waiting[:at], self._waiting[at:]) if waits else (self._waiting, "")
        return visible

    @property
    def answer(self) -> str:
        """The whole answer so far, with calls in it but without reasoning."""
        return answer_in("".join(self._pieces), expects=self.expects)

    def left(self, answer: str) -> str:
        """The part of the final answer that was not shown yet."""
        return answer.removeprefix(self._streamed) if answer.startswith(self._streamed) else ""


def answer_in(text: str, *, expects: bool = False) -> str:
    """A model's whole text without reasoning and without the tokens of its template."""
    begin = text.lstrip()
    for opening, closing in _TAGS.items():
        if begin.startswith(opening):
            _, _, text = begin.removeprefix(opening).partition(closing)
            return answer_in(text.lstrip()) if text else ""
    if (end := _closing_in(text, is_sure=expects)) is not None:
        return answer_in(text[end:].lstrip())
    if _CHANNEL.search(text):
        calls = CALL_BEGIN.search(text)
        final = "\n\n".join(found[1].strip() for found in _FINAL.finditer(text))
        return final + (text[calls.start() :] if calls else "")
    if bare := _BARE_CHANNELS.fullmatch(begin):
        return bare[1].lstrip()
    return _END_TOKENS.sub("", text)


def _closing_in(text: str, *, is_sure: bool) -> int | None:
    """The end of the last tag that closes reasoning; None without one.

    A tag that the answer only talks about has its opening, or stands in quotes or between blanks; `is_sure`: the model
    reasons in its text.
    """
    ends = []
    for found in _CLOSING.finditer(text):
        before, after = text[found.start() - 1 : found.start()], text[found.end() : found.end() + 1]
        is_quoted = before in "`\"'«“（(" and after in "`\"'»”）).,;:" and bool(before or after)
        is_inline = before in (" ", "\t") and after in (" ", "\t")
        is_opened = any(each in text[: found.start()] for each, end in _TAGS.items() if end == found[0])
        if not is_quoted and not is_opened and (is_sure or not is_inline):
            ends.append(found.end())
    return ends[-1] if ends else None


_OVERRUN, _SPARE = 2, 200
"""An answer is cut off at twice its limit plus 200 tokens: a count from characters is right within a factor of two."""
_PLAIN_PER_TOKEN = 4
"""ASCII characters per token, approximately; every other character counts as one token."""
_UNSEEN = 4_096
"""Tokens of output that a failed attempt may have cost without having sent them: an error comes long before the longest
answer that was asked for, or with what has been written until then."""
_CHUNK = 1_000
"""Characters that are counted at once."""


@dataclass(slots=True)
class Attempt:
    """One attempt. `count` returns the tokens of a text, `most` is the largest number of output tokens requested.

    `unsent`: no connection was made. `refused`: the server answered that it did nothing (4xx). `reported`: the usage
    that the server stated; `final`: that usage covers the whole answer.
    """

    count: Callable[[str], int]
    most: int
    unsent: bool = False
    refused: bool = False
    reported: Usage | None = None
    final: bool = False
    _counted: int = 0
    _rough: float = 0.0
    _waiting: list[str] = field(default_factory=list)
    _length: int = 0

    def add(self, text: str) -> None:
        """Add text that the model has written: its answer, its reasoning, or a part of a tool call."""
        if not text:
            return
        plain = len(text) if text.isascii() else sum(map(str.isascii, text))
        self._rough += plain / _PLAIN_PER_TOKEN + len(text) - plain
        self._waiting.append(text)
        self._length += len(text)
        if self._length >= _CHUNK:
            self._count_waiting()

    @property
    def output(self) -> int:
        """The tokens that the model has written so far, reasoning and tool calls included."""
        self._count_waiting()
        return self._counted

    @property
    def too_long(self) -> bool:
        """True if the answer is far longer than `most`, so that reading must stop."""
        return self._rough > _OVERRUN * self.most + _SPARE

    def used(self, reserved: Usage) -> Usage:
        """The usage of a successful attempt: the server's figure, else the estimate of request and answer."""
        if self.too_long:
            return _larger(self.reported, Usage(reserved.input, max(self.output, reserved.output)))
        if self.reported is None or not (self.reported.input or self.reported.output):
            return Usage(reserved.input, self.output)
        return self.reported if self.final else _larger(self.reported, Usage(output=self.output))

    def used_after(self, error: BaseException, reserved: Usage) -> Usage:
        """The usage of an attempt that ended with `error`: the reservation, of its output up to `_UNSEEN` tokens,
        unless a smaller figure is certain.

        Certain are the server's figure for the whole answer, and no output where the server refused or could not be
        reached. A cancelled attempt counts with the output that arrived, if there was any.
        """
        if self.unsent:
            return Usage()
        if self.reported is not None and self.final:
            return self.reported
        if self.refused:
            return Usage(reserved.input, self.output)
        if isinstance(error, Interrupted) and self.output:
            return _larger(self.reported, Usage(reserved.input, self.output))
        return _larger(self.reported, Usage(reserved.input, max(self.output, min(reserved.output, _UNSEEN))))

    def _count_waiting(self) -> None:
        if self._waiting:
            self._counted += self.count("".join(self._waiting))
        self._waiting, self._length = [], 0


def _larger(one: Usage | None, other: Usage) -> Usage:
    """The larger of the two counts, for each kind of token."""
    if one is None:
        return other
    return Usage(
        max(one.input, other.input),
        max(one.output, other.output),
        max(one.cached, other.cached),
        max(one.written, other.written),
    )


class SpendAccount(Protocol):
    """An account that reserves and counts each attempt of a call."""

    def attempt(self, request: Request) -> AbstractContextManager[Attempt]:
        """Enter before a request is sent; leave when its answer has arrived or failed.

        Entering raises `LimitReached` when this attempt could pass a ceiling, `Permanent` when spending cannot be
        counted.
        """
        ...

    def affordable(self, request: Request) -> Request:
        """The request, with a shorter answer if its longest one would pass a ceiling."""
        ...


@dataclass(frozen=True, slots=True)
class Unmetered:
    """An account without limits that keeps no record."""

    count: Callable[[str], int]

    @contextmanager
    def attempt(self, request: Request) -> Iterator[Attempt]:
        """An attempt that is not recorded."""
        yield Attempt(self.count, request.max_output)

    def affordable(self, request: Request) -> Request:
        """The request as it is."""
        return request
