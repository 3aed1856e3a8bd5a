"""The person's lines of the notes that a search has found: what the agent wrote in them itself is not found."""

from collections.abc import Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING

from agent.dataclass import dataclass
from agent.index.analysis import terms
from agent.index.hit import Hit
from agent.lazy import later
from agent.markdown.note import Note
from agent.memory.recall.authorship import persons_rows
from agent.memory.recall.eligibility import filled
from agent.vault.folders import DAILY, SESSIONS
from agent.vault.store import Vault

if TYPE_CHECKING:
    from agent.memory.blame import person_lines
    from agent.memory.forgetting.tombstones import Tombstones, load_tombstones
else:  # only of notes that several write, and of logs
    person_lines = later("agent.memory.blame", "person_lines")
    load_tombstones = later("agent.memory.forgetting.tombstones", "load_tombstones")

_MOST = 256
"""Notes that are remembered: who wrote a line is asked of git."""


@dataclass(frozen=True, slots=True)
class OwnLines:
    """A note as it is now; `theirs` says for each of its `rows` whether it is the person's. `body_line` is the line on
    which the text below the header begins."""

    data: bytes
    rows: Sequence[str]
    theirs: Sequence[bool]
    body_line: int
    stones: "Tombstones | None" = None
    """What is forgotten, for a log, which may repeat it."""

    def text(self, begin: int, end: int) -> str:
        """The person's lines among these (inclusive, from 1), without what is forgotten or not filled in."""
        numbered = zip(self.rows[begin - 1 : end], self.theirs[begin - 1 : end], strict=False)
        stones = self.stones
        kept = (stones.left_of_log(row) if row and stones else row for row, is_theirs in numbered if is_theirs)
        return filled("\n".join(kept)).strip("\n")


@dataclass(slots=True)
class PersonsLines:
    """The notes of one vault, each read once for each of its versions; used by one thread at a time."""

    vault: Vault
    _known: dict[str, OwnLines] = field(default_factory=dict)

    def of(self, path: str) -> OwnLines:
        """A note with its authors; without lines if there is none."""
        data = self.vault.read(path) or b""
        known = self._known.get(path)
        if known is None or known.data != data:
            if len(self._known) >= _MOST:
                self._known.clear()
            known = self._known[path] = self._read(path, data)
        return known

    def left_of(self, hit: Hit, asked: str) -> Hit | None:
        """A hit with the person's lines only; None if these are blank, or if only the others have words of what is
        asked. An attachment is given as it is."""
        if not hit.is_of_note:
            return hit
        note = self.of(hit.path)
        first, last = hit.lines
        text = note.text(first, last)
        if not text.strip():
            return None
        words = set() if all(note.theirs[first - 1 : last]) else {*terms(asked)}.intersection(terms(hit.passage))
        return replace(hit, passage=text) if not words or words & {*terms(text)} else None

    def _read(self, path: str, data: bytes) -> OwnLines:
        rows = [row.removesuffix("\r") for row in data.decode("utf-8", "replace").removesuffix("\n").split("\n")]
        theirs = persons_rows(path, data, self.vault.home, lambda name, now: person_lines(self.vault, name, now))
        is_log = self.vault.home.holds(path, DAILY, SESSIONS)
        stones = load_tombstones(self.vault) if is_log else None
        return OwnLines(data, rows, theirs, Note.parse(data).body_line, stones)
