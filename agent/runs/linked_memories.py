"""Reads the memories of earlier tasks in a session again: its note has links to their lines and not their words.

A line is given again if the note still has it. What was changed, deleted or forgotten since is left out, and so is what
the person who asks now may not see.
"""

from collections.abc import Iterator, Mapping

from agent.context.assemble import fitting
from agent.context.budget import Count
from agent.context.source import Piece
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.events.receipt import MEMORIES
from agent.index.hit import Hit
from agent.loop.records import Began, PinnedLines, Spoken
from agent.loop.session import Session
from agent.memory.entry import parse_entry
from agent.memory.forgetting.tombstones import Tombstones, load_tombstones
from agent.memory.recall.asker import Asker
from agent.memory.recall.candidates import LAYERS, day_of
from agent.memory.recall.eligibility import filled, may_be_offered
from agent.memory.recall.recaller import Remembered, is_for
from agent.memory.store import ARCHIVED
from agent.tools.taint import frame
from agent.tools.text_origin import TextOrigin
from agent.vault.folders import ENTRIES
from agent.vault.history.pins import read_pinned
from agent.vault.store import Vault


@dataclass(frozen=True, slots=True)
class ReadAgain:
    """What was read again: the notes of which the model has all lines that it was given in the session, and the sources
    of text by others than the owner."""

    notes: frozenset[str] = frozenset()
    untrusted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Left:
    """What is left of some lines; `is_whole` if nothing is missing."""

    piece: Piece
    is_whole: bool


@dataclass(frozen=True, slots=True)
class MemoryReader:
    """Reads memories again for one person, from the notes of one vault."""

    vault: Vault
    asker: Asker
    origin: TextOrigin
    room: int
    """The most tokens of the memories of one task."""
    count: Count

    def read(self, session: Session) -> ReadAgain:
        """Put the text of the asker's memories into the records of a session that was loaded from its note.

        A record of which nothing is left gets no text. Nobody is shown what was recalled for others.
        """
        linked = dict(_linked(session, self.asker.sender))
        wanted = {each for given in linked.values() for each in given}
        if not wanted:
            return ReadAgain()
        found = self._pieces(wanted)
        untrusted: dict[str, None] = {}
        for at, given in linked.items():
            kept = fitting([found[each].piece for each in given if each in found], self.room, self.count)
            session.put_text(at, "\n\n".join(piece.text for piece in kept))
            untrusted |= dict.fromkeys(piece.untrusted for piece in kept if piece.untrusted)
        lost = {each.path for each in wanted if each not in found or not found[each].is_whole}
        return ReadAgain(frozenset({each.path for each in wanted} - lost), tuple(untrusted))

    def _pieces(self, wanted: set[PinnedLines]) -> Mapping[PinnedLines, _Left]:
        """What is left of these lines, where anything is."""
        versions = read_pinned(self.vault, {(each.path, each.pin) for each in wanted})
        stones = load_tombstones(self.vault)
        read = ((each, versions.get((each.path, each.pin))) for each in wanted)
        pieces = {each: self._piece(each, data, stones) for each, data in read if data is not None}
        return {each: piece for each, piece in pieces.items() if piece is not None}

    def _piece(self, pinned: PinnedLines, data: bytes, stones: Tombstones) -> _Left | None:
        """What is left of the lines in this version of their note; None if nothing is, or the asker may not see it."""
        present = self._present(pinned.path)
        if present is None:
            return None
        first, last = pinned.lines
        rows = _rows(data)[max(first, 1) - 1 : last]
        standing = set(_rows(present))
        left = [kept for row in rows if row in standing and ((kept := stones.left_of_log(row)) or not row)]
        text = stones.without_forgotten("\n".join(left))
        shown = self._shown(pinned, text, present)
        if shown is None:
            return None
        origin = self.origin.source(pinned.path, data, (max(first, 1), last))
        piece = Piece(frame(shown, origin) if origin else shown, MEMORIES, untrusted=origin)
        return _Left(piece, is_whole=text == "\n".join(rows))

    def _present(self, path: str) -> bytes | None:
        """The note as it is now, also if the upkeep of memory has archived it."""
        home = self.vault.home
        name = home.name_of(path)
        archived = (home.at(ARCHIVED + name.removeprefix(ENTRIES)),) if name.startswith(ENTRIES) else ()
        try:
            return next((data for each in (path, *archived) if (data := self.vault.read(each)) is not None), None)
        except (AgentError, OSError):
            return None

    def _shown(self, pinned: PinnedLines, text: str, present: bytes) -> str | None:
        """The text as the model is given a memory; None if it is empty, or not for the asker."""
        path, lines, home = pinned.path, pinned.lines, self.vault.home
        name = home.name_of(path)
        is_log = bool(day_of(name))  # its headings alone were given for the day
        if not (is_log or may_be_offered(Hit(path, "", None, 0.0, lines, text, ()), home)):
            return None
        entry = parse_entry(present) if name.startswith(ENTRIES) else None
        if entry is not None:
            day, sender, against = f"{entry.created:%Y-%m-%d}", entry.sender_id, entry.contradicts
            kind, scope, may_see = str(entry.type), str(entry.scope), is_for(entry, self.asker)
            found = Remembered(path, "", day, lines, text.strip(), 0.0, kind, scope, sender, contradicts=against)
        else:
            kind = next((kind for begin, kind in LAYERS if name.startswith(begin)), "")
            text = (filled(text) if kind else text).strip()
            may_see = self.asker.is_owner and not name.startswith(ENTRIES)
            found = Remembered(path, "", day_of(path), lines, text, 0.0, kind)
        return found.shown if may_see and found.text else None


def _linked(session: Session, sender: str) -> Iterator[tuple[int, tuple[PinnedLines, ...]]]:
    """The positions of the records that the note has only links for, with the links; not of other people's runs, nor of
    records that a summary has replaced."""
    in_sight = {id(each.message) for each in session.heard_in(Began("", "", "", sender))}
    for at, record in enumerate(session.records):
        match record.event:
            case Spoken(message=message, given=given) if given and not message.text and id(message) in in_sight:
                yield at, given


def _rows(data: bytes) -> list[str]:
    return [row.removesuffix("\r") for row in data.decode("utf-8", "replace").split("\n")]
