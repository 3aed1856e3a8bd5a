"""Shortens a skill's text at a heading, and names the omitted sections."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from agent.markdown import blocks

TokenCounter: TypeAlias = Callable[[str], int]
"""Function from a text to its number of tokens."""
_SHOWN = 6


@dataclass(frozen=True, slots=True)
class Truncated:
    """A text, its tokens, and the headings of the omitted sections."""

    text: str
    tokens: int
    left_out: tuple[str, ...] = ()
    whole: bool = True


@lru_cache(maxsize=256)
def truncate(text: str, room: int, count: TokenCounter, name: str) -> Truncated:
    """The text in at most `room` tokens: without its last sections or, if the first one does not fit, its last lines.

    `name` is the skill's, for the line that says how to read the rest. Cached.
    """
    tokens = count(text)
    if tokens <= room:
        return Truncated(text, tokens)
    body = blocks.parse_body(text)
    starts = [heading.line - 1 for heading in body.headings if heading.line > 1]
    titles = [heading.text for heading in body.headings if heading.line > 1]
    lines = text.split("\n")
    for kept in range(len(starts) - 1, -1, -1):
        left_out = tuple(titles[kept:])
        shown = "\n".join(lines[: starts[kept]]).rstrip()
        shortened = f"{shown}\n\n{_rest(name, left_out)}"
        if shown and (used := count(shortened)) <= room:
            return Truncated(shortened, used, left_out, whole=False)
    return _by_lines(lines, room, count, name, tuple(titles))


def _by_lines(lines: list[str], room: int, count: TokenCounter, name: str, titles: tuple[str, ...]) -> Truncated:
    """The first lines that fit; none if there is only room for the remark."""
    remark = _rest(name, titles)
    least, most = 0, len(lines) - 1
    while least < most:
        middle = (least + most + 1) // 2
        if count("\n".join(lines[:middle]) + f"\n\n{remark}") <= room:
            least = middle
        else:
            most = middle - 1
    shown = "\n".join(lines[:least]).rstrip()
    text = f"{shown}\n\n{remark}" if shown else remark
    return Truncated(text, count(text), titles, whole=False)


def _rest(name: str, titles: tuple[str, ...]) -> str:
    named = ", ".join(titles[:_SHOWN]) + (f" and {len(titles) - _SHOWN} more" if len(titles) > _SHOWN else "")
    return f"(cut here{f'; left out: {named}' if named else ''}; skill_show {name} gives the whole)"
