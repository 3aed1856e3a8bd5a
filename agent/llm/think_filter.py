"""The filter for `<think>…</think>`, with which models on one's own machine often begin an answer.

Servers that know such models send the thinking apart; that of the others would end up in notes.
"""

from dataclasses import dataclass
from typing import Literal

_OPEN, _CLOSE = "<think>", "</think>"


@dataclass(slots=True)
class ThinkFilter:
    """Leaves out one block of thinking at the very beginning of a text that comes in pieces."""

    _place: Literal["start", "inside", "behind", "text"] = "start"
    _held: str = ""

    def without(self, piece: str) -> str:
        """What of the text so far can be given on, now that `piece` has come."""
        if self._place == "text":
            return piece
        self._held += piece
        if self._place == "start":
            begin = self._held.lstrip()
            if begin.startswith(_OPEN):
                self._place, self._held = "inside", begin.removeprefix(_OPEN)
            elif not _OPEN.startswith(begin):
                self._place = "text"
                return self._release()
        if self._place == "inside":
            _, closed, rest = self._held.partition(_CLOSE)
            self._place, self._held = ("behind", rest) if closed else ("inside", self._held[-len(_CLOSE) :])
        if self._place == "behind":
            self._held = self._held.lstrip()
            if self._held:
                self._place = "text"
                return self._release()
        return ""

    def rest(self) -> str:
        """What was held back and was no thinking after all; the text is over."""
        return self._release() if self._place == "start" else ""

    def _release(self) -> str:
        held, self._held = self._held, ""
        return held
