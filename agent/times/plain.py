"""A text as its forms are looked for: without full-width letters, other signs for the same words, and blanks that mean
nothing, and where each of its characters stood."""

import re
from collections.abc import Iterator

from agent.dataclass import dataclass
from agent.times.language import same_signs

HAN = re.compile(r"[\u3400-\u9fff]")
_WIDE = {0xFF01 + at: 0x21 + at for at in range(94)} | {0x3000: " ", 0x2019: "'", 0xA0: " "}


_STAMP = re.compile(r"(?<=\d)T(?=\d\d:)")
"""What stands between day and time in `2026-12-24T09:00`."""


@dataclass(frozen=True, slots=True)
class PlainText:
    """`text` is what is compared, `source` what was written; `places` has the place in it of each character of `text`,
    and the end."""

    text: str
    source: str
    places: tuple[int, ...]

    @property
    def has_han(self) -> bool:
        return HAN.search(self.text) is not None

    def cut(self, first: int, last: int) -> str:
        """The source text from one place of `text` up to another."""
        end = self.places[last - 1] + 1 if last > first else self.places[first]
        return self.source[self.places[first] : end]


def same_width(source: str) -> str:
    """The text with the usual signs in place of full-width and other ones; as long as it was."""
    return source.translate(_WIDE).translate(same_signs())


def plain_text(source: str) -> PlainText:
    """The text as it is compared; it has as many characters as the source or fewer."""
    wide = _STAMP.sub(" ", same_width(source))
    places = tuple(_meaningful_places(wide))
    return PlainText("".join(" " if wide[at].isspace() else wide[at] for at in places), source, (*places, len(source)))


def _meaningful_places(text: str) -> Iterator[int]:
    """The places of the characters that mean something."""
    at, size = 0, len(text)
    while at < size:
        if not text[at].isspace():
            yield at
            at += 1
            continue
        end = at
        while end < size and text[end].isspace():
            end += 1
        before, after = text[at - 1] if at else "", text[end] if end < size else ""
        is_han = any(map(HAN.match, (before, after)))
        is_joined = _is_joined(before, text[end : end + 2]) or (
            before in ":/" and after.isdigit() and text[max(at - 3, 0) : at - 1].strip()[-1:].isdigit()
        )
        if before and after and not (is_han or is_joined):
            yield at
        at = end


def _is_joined(before: str, after: str) -> bool:
    """True for the blank of `9 :30` and `12 / 8`."""
    return before.isdigit() and after[:1] in tuple(":/") and not after[1:].isalpha()
