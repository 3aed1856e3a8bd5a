"""The text of a file that is no note, in its parts: the pages of a PDF, slides, sheets, sections.

Extracting it is left to `attachments`. Its lines are counted through all parts: a part with a label of its own begins
with a line `[page 3]`.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterator

from agent.dataclass import dataclass
from agent.json_value import parse_json

_ASKED = re.compile(r"(?:[a-z]+ )?(\d{1,6})(?: ?[-–] ?(\d{1,6}))?")
_LONGEST_LABEL = 100


@dataclass(frozen=True, slots=True)
class TextPart:
    """A part: its label, such as `page 3` or a heading, empty for none, and its text."""

    label: str
    text: str


@dataclass(frozen=True, slots=True)
class PagedText:
    """All parts of a file. `unit` is what its labelled parts are (`page`, `slide`, `sheet`), empty for sections, whose
    text begins with their heading. `problem`: why it has no text, or not all of it; empty if it is whole."""

    parts: tuple[TextPart, ...] = ()
    unit: str = ""
    problem: str = ""

    @property
    def has_text(self) -> bool:
        return any(part.text.strip() for part in self.parts)

    def lines(self) -> list[str]:
        """All lines, with the labels of parts that have no heading."""
        return [line for part in self.parts for line in self._lines_of(part)]

    def starts(self) -> list[int]:
        """The number of the first line of each part, from 1."""
        found, line = [], 1
        for part in self.parts:
            found.append(line)
            line += sum(1 for _ in self._lines_of(part))
        return found

    def lines_asked(self, asked: str) -> tuple[int, int] | None:
        """The first and the last line of the parts that words ask for: a label, a heading, `3`, `page 3` or `pages
        3-5`; None if there is no such part."""
        wanted = " ".join(asked.strip("#[] ").casefold().split())
        labels = [part.label.casefold() for part in self.parts]
        numbers = _ASKED.fullmatch(wanted)
        if wanted in labels:
            first = last = labels.index(wanted)
        elif f"{self.unit} {wanted}" in labels:
            first = last = labels.index(f"{self.unit} {wanted}")
        elif numbers is not None:
            first, last = int(numbers[1]) - 1, min(int(numbers[2] or numbers[1]), len(labels)) - 1
        else:
            return None
        if not 0 <= first <= last < len(labels):
            return None
        ends = [*self.starts()[1:], len(self.lines()) + 1]
        return self.starts()[first], ends[last] - 1

    def place(self, lines: tuple[int, int]) -> str:
        """What the lines are part of: `page 3 of 12`, `page 3 to page 5 of 12`, a heading; empty for no label."""
        starts = self.starts()
        first, last = (self.parts[max(bisect_right(starts, line) - 1, 0)].label for line in lines)
        labels = first if first == last or not last else f"{first} to {last}" if first else last
        return f"{labels} of {len(self.parts)}" if labels and self.unit in {"page", "slide"} else labels

    def to_bytes(self) -> bytes:
        """The text as JSON, for `parse_paged_text`."""
        value = {"parts": [(part.label, part.text) for part in self.parts], "unit": self.unit, "problem": self.problem}
        return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")

    def _lines_of(self, part: TextPart) -> Iterator[str]:
        if self.unit and part.label:
            yield f"[{part.label}]"
        yield from part.text.split("\n")


def parse_paged_text(data: bytes) -> PagedText:
    """The text that `to_bytes` wrote; raises `ValueError` for anything else."""
    value = parse_json(data)
    try:
        parts = tuple(TextPart(_plain_label(str(label)), str(text)) for label, text in value["parts"])
        return PagedText(parts, str(value["unit"]), str(value["problem"]))
    except (TypeError, KeyError) as error:
        raise ValueError("this is no paged text") from error


def in_sections(text: str) -> tuple[TextPart, ...]:
    """The sections of a text in Markdown: each heading begins one, outside of code."""
    parts: list[TextPart] = []
    held: list[str] = []
    label, in_code = "", False
    for line in text.split("\n"):
        in_code ^= line.startswith("```")
        if not in_code and re.match("#{1,6} ", line):
            if any(map(str.strip, held)):
                parts.append(TextPart(label, "\n".join(held).rstrip()))
                held = []
            label = _plain_label(line.lstrip("#"))
        held.append(line)
    if any(map(str.strip, held)):
        parts.append(TextPart(label, "\n".join(held).rstrip()))
    return tuple(parts)


def _plain_label(text: str) -> str:
    return " ".join(text.split())[:_LONGEST_LABEL]
