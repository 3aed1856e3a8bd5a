"""The filter for `<think>…</think>`, with which local models often begin an answer.

Servers that support such models send the reasoning separately; other servers leave it in the text, which goes into
notes.
"""

from dataclasses import dataclass
from typing import Literal

_OPEN, _CLOSE = "<think>", "</think>"


@dataclass(slots=True)
class ThinkFilter:
    """Removes one block of thinking at the very beginning of a text that arrives in pieces."""

    _place: Literal["start", "inside", "behind", "text"] = "start"
    _held: str = ""

    def without(self, piece: str) -> str:
        """The text that can be passed on after `piece`."""
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
        """The text that was held back but is not a thinking block; call it at the end of the text."""
        return self._release() if self._place == "start" else ""

    def _release(self) -> str:
        held, self._held = self._held, ""
        return held
