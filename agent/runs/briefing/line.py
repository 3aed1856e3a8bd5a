"""A line of a briefing: the person's words, and the note in which they stand."""

from collections.abc import Iterator
from datetime import date, time

from agent.dataclass import dataclass
from agent.markdown.blocks import parse_body
from agent.markdown.tasks import TaskBox, find_tasks
from agent.memory.blame import person_lines
from agent.vault.folders import DAILY
from agent.vault.store import Vault
from agent.vault.task_lines import own_words


@dataclass(frozen=True, slots=True)
class BriefingLine:
    """Words of a note at `path` about a `day`, at a time of day if they name one. `note` says more in the person's
    language, such as how late it is."""

    words: str
    path: str
    day: date
    at: time | None = None
    note: str = ""
    written: str = ""
    """The line as it stands in the note, if words were taken out of it."""


@dataclass(frozen=True, slots=True)
class OwnLine:
    """A line that the person wrote: its words without the sign of a list, and its box if it has one."""

    words: str
    box: TaskBox | None = None
    in_section: bool = False
    """Below a heading of the second level or deeper."""


def own_lines(vault: Vault, path: str) -> Iterator[OwnLine]:
    """The lines of the person's own in a note, without headings, quotes, code, comments and what is struck out; of the
    note of a day, in which the agent writes, too, only those that the person wrote."""
    note = own_words(vault, path)
    body = parse_body(note.body, note.body_line)
    boxes = {box.line: box for box in find_tasks(body)}
    written = person_lines(vault, path, vault.own_version(path) or b"") if vault.home.holds(path, DAILY) else ()
    in_section = False
    for at, (line, kind) in enumerate(zip(body.lines, body.kinds, strict=True), body.first):
        plain, box = line.strip(), boxes.get(at)
        in_section = in_section or plain.startswith("## ")
        is_words = plain and not plain.startswith(("#", ">", "%%")) and kind not in {"code", "fence", "comment"}
        if is_words and "~~" not in plain and (not written or written[at - 1]):
            yield OwnLine(box.text if box else plain.lstrip("-*+ ").strip(), box, in_section)
