"""A day in a few lines by a model: what was done, decided, promised, and what is open.

The model is shown what happened, each piece with a key and a link. A line of its answer counts only if it quotes one of
them, and has no number that none of its pieces has; links are made here, of the keys. Sending the prompt, and writing,
are left to the caller.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias, get_args

from agent.dataclass import dataclass
from agent.llm.messages import reply_items
from agent.markdown.title import clipped
from agent.memory.daily import inert
from agent.texts import Language, text

Part: TypeAlias = Literal["done", "decided", "promised", "open"]
PARTS: tuple[Part, ...] = get_args(Part)
MOST, LONGEST = 8, 240
"""The most lines, and the most characters of one."""
_PIECES, _PIECE = 60, 600
"""The most pieces that are shown, and the most characters of one."""
_NUMBER = re.compile(r"\d+")
_KEY = re.compile(r"K\d+")
_LINKS = re.compile(r"\[\[|\]\]")


@dataclass(frozen=True, slots=True)
class DayPiece:
    """Something that happened: `kind` says what it is, `link` is the link to its note."""

    kind: str
    text: str
    link: str


@dataclass(frozen=True, slots=True)
class DayReading:
    """A day as a model reads it; of many pieces the last."""

    pieces: Sequence[DayPiece]

    def question(self) -> str:
        """The pieces, as the prompt shows them."""
        lines = [
            {"key": key, "kind": each.kind, "text": clipped(each.text, _PIECE)} for key, each in self._keys().items()
        ]
        return json.dumps(lines, ensure_ascii=False, indent=1)

    def words(self, reply: str, language: Language) -> str:
        """The lines of the answer as a section of the day's note; empty if none of them can be relied on. Raises
        `ValueError` for an answer without a list."""
        found: dict[Part, list[str]] = {part: [] for part in PARTS}
        keys = self._keys()
        for item in reply_items(reply):
            part = next((each for each in PARTS if each == item.get("part")), None)
            line = _line(item, keys)
            if part is not None and line and line not in found[part]:
                found[part].append(line)
        rows = [f"- {text(f'memory_day.{part}', language)}{line}" for part, lines in found.items() for line in lines]
        if not rows:
            return ""
        return "\n".join([f"## {text('memory_day.summary', language)}", "", *rows[:MOST]]) + "\n"

    def _keys(self) -> Mapping[str, DayPiece]:
        return {f"K{number}": each for number, each in enumerate(self.pieces[-_PIECES:], 1)}


def _line(item: Mapping[str, str], keys: Mapping[str, DayPiece]) -> str:
    """A line with its links; empty if it does not rest on what was shown."""
    named = [keys[key] for key in dict.fromkeys(_KEY.findall(item.get("from", ""))) if key in keys]
    words, quote = _flat(_LINKS.sub("", item.get("text", ""))), _flat(item.get("quote", ""))
    pieces = [_flat(clipped(each.text, _PIECE)) for each in named]
    if not words or len(words) > LONGEST or not quote or not any(quote in each for each in pieces):
        return ""
    if not set(_NUMBER.findall(words)) <= {number for each in pieces for number in _NUMBER.findall(each)}:
        return ""
    return " ".join([inert(words), *dict.fromkeys(each.link for each in named if each.link)])


def _flat(words: str) -> str:
    return " ".join(words.split())
