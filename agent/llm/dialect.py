"""What one server accepts of a request, learned from what it refuses: each wire begins with its format's usual form.

A refusal names what to leave out or to add; the next try does that. What holds for the server is remembered, what holds
for one conversation (thinking that the server no longer knows) is not.
"""

import re
from collections.abc import Mapping
from dataclasses import field, replace
from itertools import islice
from typing import Literal, TypeAlias

from agent.dataclass import dataclass
from agent.llm.endpoint import Limit
from agent.llm.failures import NO_TOOLS
from agent.llm.messages import Json, Request
from agent.llm.thinking import own_thinking
from agent.llm.turns import REFUSED

Part: TypeAlias = Literal["tools", "kept", "thinking"]
"""A part of a request that can be left out: the tools, the thinking that is sent back, the wish for thinking."""
EMPTY_TEXTS: tuple[str | None, ...] = ("", None, "(no text)")
"""The text beside calls where the model wrote none, in the order in which it is tried: templates of open models write
None out, and servers in front of other formats refuse an empty text."""

_UNKNOWN_FIELD = re.compile(r"unknown|unrecogni[sz]ed|unexpected|unsupported|extra (inputs|fields)|not permitted", re.I)
_WANTS_REASONING = re.compile(
    r"reasoning_content.{0,80}(must|required|missing|need|pass)|missing.{0,20}reasoning_content", re.I
)
_WANTS_SIGNATURE = re.compile(r"missing.{0,20}thought_?signature", re.I)
_WANTS_THINKING = re.compile(r"expected.{0,10}`?thinking`?|must start with a thinking block", re.I)
_KEPT_IS_STALE = re.compile(
    r"(invalid|corrupted|cannot be|could not be|expired|not found|without its|unable to)"
    r".{0,60}(signature|thinking|encrypted|reasoning|\brs_)"
    r"|(signature|thinking|encrypted|reasoning|\brs_).{0,80}"
    r"(invalid|corrupted|cannot be|could not be|expired|not found)",
    re.I,
)
_KEPT_IS_UNKNOWN = re.compile(r"\b(reasoning_content|reasoning_details|extra_content|messages.{0,12}reasoning)\b", re.I)
_EMPTY_TEXT = re.compile(
    r"(content|text|message).{0,60}(non-?empty|(not|cannot|can't) be (empty|null|none)|at least (1|one) char|is empty"
    r"|is required|should not be empty)|empty.{0,20}(content|text)|content.{0,40}(null|none).{0,20}(str|type|valid)",
    re.I,
)
_MEANT_FIELDS = (
    (re.compile("include_usage"), "stream_options"),
    (re.compile("encrypted content is not supported", re.I), "include"),
)
"""Words of a refusal that mean a field, which they do not name."""
_MOST = re.compile(r"max_(?:completion_|output_)?tokens|max output", re.I)
_NUMBER = re.compile(r"(?<![\w.-])\d{3,7}(?![\w-])")


@dataclass(frozen=True, slots=True)
class Dialect:
    """The form of requests for one server.

    `limit`: the name of the field for the longest answer, `most`: the most that it may say (0: not known). `optional`:
    fields that may be left out. `plain`: the template refuses a system message, or calls and their results.
    `without` are parts that are left out, `once` those left out in this request only. `empty`: which of `EMPTY_TEXTS`
    stands beside calls. `filled`: missing thinking is replaced by a blank; `signs`: a missing signature by the word
    that skips its check.
    """

    limit: Limit
    optional: Mapping[str, Json] = field(default_factory=dict)
    most: int = 0
    plain: bool = False
    without: frozenset[Part] = frozenset()
    once: frozenset[Part] = frozenset()
    empty: int = 0
    filled: bool = False
    signs: bool = False

    def leaves_out(self, part: Part) -> bool:
        """True if requests go without this part."""
        return part in self.without or part in self.once

    def fitted(self, request: Request) -> Request:
        """The request without what the server refuses: tools, thinking that it no longer knows, a longer answer."""
        if self.leaves_out("tools"):
            request = replace(request, tools=())
        if self.leaves_out("kept"):
            request = own_thinking(request, "")
        return replace(request, max_output=min(request.max_output, self.most or request.max_output))

    @property
    def lasting(self) -> "Dialect":
        """The part of the dialect that holds for further conversations with this server."""
        return replace(self, once=frozenset())

    @property
    def empty_text(self) -> str | None:
        """The text beside calls where the model wrote none."""
        return EMPTY_TEXTS[self.empty]

    def after(self, refusal: str) -> "Dialect | None":
        """The dialect to try after a server refused this one with the message `refusal`; None if it names nothing.

        Each refusal changes one thing, so that what follows from it is seen before the next.
        """
        if NO_TOOLS.search(refusal) and not _names_effort(refusal):
            return None if "tools" in self.without else replace(self, without=self.without | {"tools"}, plain=True)
        if not self.plain and REFUSED.search(refusal):
            return replace(self, plain=True)
        return self._after_thinking(refusal) or self._after_text(refusal) or self._after_field(refusal)

    def _after_thinking(self, refusal: str) -> "Dialect | None":
        """The dialect after a refusal of thinking that was sent back, or is missing."""
        is_sent = not self.leaves_out("kept")
        is_unknown = _KEPT_IS_UNKNOWN.search(refusal) and _UNKNOWN_FIELD.search(refusal)
        return self._first_change(
            (_WANTS_REASONING.search(refusal), replace(self, filled=True)),
            (_WANTS_SIGNATURE.search(refusal), replace(self, signs=True)),
            (_WANTS_THINKING.search(refusal), replace(self, once=self.once | {"thinking"})),
            (is_sent and _KEPT_IS_STALE.search(refusal), replace(self, once=self.once | {"kept"})),
            (is_sent and is_unknown, replace(self, without=self.without | {"kept"})),
            (
                _names_effort(refusal) and "tool" in refusal,
                replace(self, optional={**self.optional, "reasoning_effort": "none"}),
            ),
        )

    def _after_text(self, refusal: str) -> "Dialect | None":
        """The dialect after a refusal of an empty text."""
        is_left = self.empty + 1 < len(EMPTY_TEXTS)
        return replace(self, empty=self.empty + 1) if is_left and _EMPTY_TEXT.search(refusal) else None

    def _after_field(self, refusal: str) -> "Dialect | None":
        """The dialect after a refusal of a field, or of its value."""
        most = _most_in(refusal, self.most) if _MOST.search(refusal) else 0
        refused = self._refused_fields(refusal)
        return self._first_change(
            ("max_completion_tokens" in refusal, replace(self, limit="max_completion_tokens")),
            (most, replace(self, most=most)),
            (re.search(r"\bmax_completion_tokens\b", refusal), replace(self, limit="max_tokens")),
            (refused, replace(self, optional={name: self.optional[name] for name in self.optional.keys() - refused})),
        )

    def _refused_fields(self, refusal: str) -> set[str]:
        """The optional fields that a refusal names, or means by other words; all of them if it names none."""
        named = {name for name in self.optional if re.search(rf"\b{re.escape(name)}\b", refusal)}
        meant = (name for words, name in _MEANT_FIELDS if name in self.optional and words.search(refusal))
        return named or set(islice(meant, 1)) or (set(self.optional) if _UNKNOWN_FIELD.search(refusal) else set())

    def _first_change(self, *changes: tuple[object, "Dialect"]) -> "Dialect | None":
        """The first other dialect whose condition holds; None if there is none."""
        return next((other for condition, other in changes if condition and other != self), None)


def _names_effort(refusal: str) -> bool:
    return "reasoning_effort" in refusal


def _most_in(refusal: str, known: int) -> int:
    """The most tokens of an answer that a refusal names beside those that were asked for; 0 if it names none."""
    numbers = sorted({int(found) for found in _NUMBER.findall(refusal)})
    most = numbers[0] if len(numbers) > 1 else 0
    return most if most >= 256 and (not known or most < known) else 0
