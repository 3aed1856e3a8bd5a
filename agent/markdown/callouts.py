"""The callouts of a note: quotes that begin with `[!type]`."""

import re
from dataclasses import dataclass
from typing import Literal

from agent.markdown.blocks import Body

_CALLOUT = re.compile(r"^((?:[ ]{0,3}>[ ]?)+)\[!([^\[\]\n\0]+)\]([-+]?)([^\n]*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Callout:
    """The first line of a callout: its type in small letters, its title, whether it folds (`-` closed, `+` open)."""

    type: str
    title: str
    fold: Literal["", "-", "+"]
    line: int


def find_callouts(body: Body) -> tuple[Callout, ...]:
    """The callouts in the order of their lines, nested ones too."""
    if "[!" not in body.visible:
        return ()
    folds: dict[str, Literal["", "-", "+"]] = {"-": "-", "+": "+"}
    return tuple(
        Callout(
            found[2].strip().lower(),
            body.text[found.start(4) : found.end(4)].strip(),
            folds.get(found[3], ""),
            body.line_at(found.start()),
        )
        for found in _CALLOUT.finditer(body.visible)
    )
