"""What a person works towards: current focus, core drives and sources of initiative, from their note of goals.

Tolerant of how people write: a list item is a goal or a drive, also as `- **Now**: …`. What is not filled in, and
comments, count for nothing. Goals' own notes are in focus, too.
"""

import re
from collections.abc import Iterator

from agent.dataclass import dataclass
from agent.markdown.blocks import parse_body
from agent.markdown.note import Note
from agent.schedule.shelf import GOALS_NOTE, is_goal, is_over
from agent.vault.find import notes_with_line
from agent.vault.store import Vault

_FOCUS = frozenset(("current focus", "focus", "goals", "当前重点", "当前目标", "当前焦点", "目标"))
_DRIVES = frozenset(("core drives", "drives", "核心驱动力", "驱动力", "核心动力"))
_SOURCES = frozenset(("initiative sources", "initiative", "主动性来源", "主动来源"))
_NOTHING = frozenset(("nothing", "none", "no", "off", "无", "没有", "不要", "关闭"))
_ITEM = re.compile(r"^\s*(?:[-*+]|\d{1,3}[.)])\s+(?:\[.\]\s+)?(.*\S)\s*$")
_FIELD = re.compile(r"^\*\*[^*]{1,60}\*\*\s*[:：]\s*(.*)$")
_EMPTY = re.compile(r"^\[[^\]]*\]$|^$")
_COMMENT = re.compile(r"%%.*?%%", re.DOTALL)
_LINK = re.compile(r"\s*[(（]?\[\[[^\]\n]*\]\][)）]?")
_GOAL_LINE = "^type[[:space:]]*:[[:space:]]*[\"']?goal"
_MOST = 20
"""The most goals in focus, and notes of goals that are read."""


@dataclass(frozen=True, slots=True)
class Aims:
    """The person's aims, in their words. `sources` says what suggestions may be about; none: anything."""

    focus: tuple[str, ...] = ()
    drives: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()

    @property
    def may_be_spoken_of(self) -> bool:
        """False if there are none, or if their person wants no suggestion about them."""
        is_refused = any(each.casefold().strip(" .。") in _NOTHING for each in self.sources)
        return bool(self.focus or self.drives) and not is_refused


def load_aims(vault: Vault) -> Aims:
    """The aims in the notes of a vault, as far as they count as the person's."""
    found = parse_aims(vault.own_version(vault.home.at(GOALS_NOTE)) or b"")
    titles = tuple(_goal_titles(vault))
    return Aims(tuple(dict.fromkeys((*found.focus, *titles)))[:_MOST], found.drives, found.sources)


def parse_aims(data: bytes) -> Aims:
    """The aims in the note of goals."""
    lines = _COMMENT.sub("", Note.parse(data).body).splitlines()
    items = list(_items("\n".join(lines)))
    focus, drives, sources = (
        tuple(item for section, item in items if section in titles) for titles in (_FOCUS, _DRIVES, _SOURCES)
    )
    return Aims(focus[:_MOST], drives[:_MOST], sources[:_MOST])


def _items(body: str) -> Iterator[tuple[str, str]]:
    """The list items that say something, each with the title of its section in small letters."""
    parsed = parse_body(body)
    titles = {each.line: each.text for each in parsed.headings}
    section = ""
    for number, line in enumerate(body.splitlines(), 1):
        if number in titles:
            section = titles[number].strip().casefold()
        elif item := _ITEM.match(line):
            field = _FIELD.match(item[1])
            content = _LINK.sub("", field[1] if field else item[1]).strip()
            if not _EMPTY.match(content):
                yield section, content


def _goal_titles(vault: Vault) -> Iterator[str]:
    for path in notes_with_line(vault, _GOAL_LINE)[:_MOST]:
        note = Note.parse(vault.own_version(path) or b"")
        if note.data and is_goal(path, note, vault.home) and not is_over(note) and path != vault.home.at(GOALS_NOTE):
            yield note.title(path)
