"""`lessons/found-methods.md`: tools and methods that research has found, as boxes that a person may tick. Pure, but for
the present note.

    - [ ] **ripgrep**: searches folders faster than grep ([[research/Fast search]], 2026-11-03; example.org)

A line steers nothing: mostly strangers describe the tool, and nobody has tried it here. So the whole note counts as
theirs, and a tick only asks for a proposal.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import urlsplit

from agent.dataclass import dataclass
from agent.markdown.inertness.active import inert_line
from agent.markdown.links import note_link
from agent.markdown.note import Note
from agent.texts import Language, text
from agent.vault.change import Append
from agent.vault.folders import FOUND_METHODS
from agent.vault.store import Vault

TYPE = "found_methods"
_LINE = re.compile(
    r"- \[(?P<box>[ xX])\] \*\*(?P<name>[^*]+)\*\*[:：] (?P<use>.+) \(\[\[(?P<source>[^\]|]+)\]\], "
    r"(?P<day>\d{4}-\d\d-\d\d)(?:; (?P<who>[^()]*))?\)"
)
_NAMED = 3
"""The strangers who are named in a line."""


@dataclass(frozen=True, slots=True)
class FoundTool:
    """A tool or a method, by its `name` with what it is for (`use`), from the note `source` of a `day` (YYYY-MM-DD).

    `who` names the hosts whose text says so; empty: the person's own notes do.
    """

    name: str
    use: str
    source: str
    day: str
    who: str = ""

    @property
    def link(self) -> str:
        """A link to the note with its sources."""
        return note_link(self.source)

    @property
    def line(self) -> str:
        """Its line, without a line end; no word of it can end the line's parts or begin another one."""
        name, use = _plain(self.name), _plain(self.use)
        who = f"; {_plain(self.who)}" if self.who else ""
        return f"- [ ] **{name}**: {use} ({self.link}, {self.day}{who})"


def found_tool(name: str, use: str, source: str, day: str, origins: Iterable[str]) -> FoundTool:
    """A tool that was found; `origins` are the addresses of the strangers whose text says so."""
    hosts = dict.fromkeys(urlsplit(each).hostname or each for each in origins if each)
    return FoundTool(name, use, source, day, ", ".join([*hosts][:_NAMED]))


def append_tools(vault: Vault, found: Sequence[FoundTool], language: Language) -> Append | None:
    """The request that adds the tools which the note does not name yet; None without any."""
    known = {each.name.casefold() for each, _ in _lines(vault.read(vault.home.at(FOUND_METHODS)) or b"")}
    new = {_plain(each.name).casefold(): each for each in found if _plain(each.name) and _plain(each.use)}
    rows = [each.line for key, each in new.items() if key not in known]
    if not rows:
        return None
    about = text("lessons.methods_about", language)
    body = f"# {text('lessons.methods', language)}\n\n{about}\n\n"
    head = Note.compose({"type": TYPE, "untrusted": [text("lessons.methods_from", language)]}, body).data
    return Append(vault.home.at(FOUND_METHODS), "".join(f"{row}\n" for row in rows).encode(), head)


def ticked_tools(vault: Vault) -> tuple[FoundTool, ...]:
    """The tools whose boxes the person has ticked here; a tick that arrived from elsewhere does not count."""
    lines = _lines(vault.own_version_of(FOUND_METHODS) or b"")
    return tuple(each for each, is_ticked in lines if is_ticked)


def _lines(data: bytes) -> Iterator[tuple[FoundTool, bool]]:
    for row in Note.parse(data).body.splitlines():
        if (found := _LINE.fullmatch(row.strip())) is not None:
            tool = FoundTool(found["name"], found["use"], f"{found['source']}.md", found["day"], found["who"] or "")
            yield tool, found["box"] != " "


def _plain(words: str) -> str:
    """Words on one line that end no part of it."""
    return " ".join(re.sub(r"[*()\[\]]+", " ", inert_line(words)).split())
