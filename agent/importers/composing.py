"""The notes that imported conversations and notes become.

Text of others is made inert, as nothing in it may run or load when it is shown; what is the person's stays as it is.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from posixpath import dirname, relpath
from urllib.parse import quote, unquote

from agent.clock import in_clock_zone
from agent.dataclass import dataclass
from agent.errors import BadNote
from agent.escape import escape
from agent.importers.names import digest
from agent.importers.values import ID, LINK, ImportedConversation, ImportedFile, ImportedNote, ImportedTurn
from agent.markdown.inertness.active import active_parts_of_note, fenced, inert_blocks
from agent.markdown.note import Note
from agent.markdown.yaml_write import Header, Value
from agent.memory.forgetting.tombstones import Tombstones
from agent.texts import Language, text

LAST, UNTRUSTED = "import_last", "untrusted"
"""The header keys with the id of a conversation's last turn, and with the program whose words a note has: they are a
stranger's until the person takes the line out."""
_OWN_KEYS = frozenset({ID, LAST, UNTRUSTED, "agent", "id", "status", "conflict_of"})
"""Header keys that mean something to this program: in an imported note they do not stand in its header."""
_LINKED = re.compile(rf"\]\({LINK}([^)\s#]+)(#[^)\s]*)?")
_MARKS = re.compile(r"[\[\]|`<>]")
_WORDLESS = re.compile(r"\x00")


@dataclass(frozen=True, slots=True)
class Composer:
    """Makes the notes of one import: `label` is the program that they come from, `paths` has where each item of the
    export lies in the vault, by its key; with `mine` notes are the person's own. `mask` covers up secrets, `now` says
    in which zone times are told."""

    label: str
    mine: bool
    language: Language
    stones: Tombstones
    paths: Mapping[str, str]
    mask: Callable[[str], str]
    now: datetime

    def conversation(self, found: ImportedConversation, path: str) -> bytes:
        """The note of a conversation, which is never the person's own words alone."""
        header: dict[str, Value] = {"created": _seconds(found.created), UNTRUSTED: [self.label]}
        header |= {ID: digest(found.id), LAST: digest(found.turns[-1].id), "source": found.address or None}
        title = " ".join(self._clean(found.title).split()) or self.label
        body = f"# {inert_blocks(title)}\n{self.turns(found.turns, path)}"
        return self._masked(Note.compose({key: value for key, value in header.items() if value is not None}, body).data)

    def turns(self, turns: Iterable[ImportedTurn], path: str) -> str:
        """Turns as they stand in a note, each below a heading with its speaker and its time."""
        return "".join(f"\n{self._turn(each, path)}" for each in turns)

    def _turn(self, turn: ImportedTurn, path: str) -> str:
        who = text("imports.you", self.language) if turn.is_person else self.label
        at = f" · {in_clock_zone(turn.at, self.now):%Y-%m-%d %H:%M}" if turn.at else ""
        words = self._forgotten(inert_blocks(escape(self._clean(turn.text.strip()))))
        embeds = "\n".join(self._embed(each, path) for each in turn.files if each.key in self.paths)
        return f"## {who}{at}\n\n" + "\n\n".join(filter(None, (words, embeds))) + "\n"

    def note(self, found: ImportedNote, path: str) -> bytes:
        """The note of a note: its header and text, with the links in it to what else was imported."""
        header: dict[str, Value] = {"created": _seconds(found.created)}
        if found.modified and found.modified != found.created:
            header["modified"] = _seconds(found.modified)
        header |= {"tags": list(found.tags) or None, "source": found.address or None}
        header |= {} if self.mine else {UNTRUSTED: [self.label]}
        header |= {ID: digest(found.id)}
        title = " ".join(self._clean(found.title).split())
        if title and title != path.rpartition("/")[2].removesuffix(".md"):
            header = {"title": title, **header}
        body = self._clean(found.body).strip("\n")
        is_mine = self.mine and not found.address  # a page that was clipped is a stranger's in any case
        body = body if is_mine else inert_blocks(escape(self._with_targets(body, path)))
        body = self._forgotten(self._with_targets(body, path))
        unlinked = [each for each in found.files if each.key in self.paths and quote(each.key) not in found.body]
        body = "\n\n".join(filter(None, (body, *(self._embed(each, path) for each in unlinked))))
        header = {key: value for key, value in header.items() if value is not None}
        return self._masked(self._with_header(found.header, header, body))

    def _with_header(self, own: Header, header: Header, body: str) -> bytes:
        """The note with the header that it had, too: what means something to this program, or would act, becomes text
        of the note."""
        own_keys = {key: value for key, value in own.items() if key not in header and self._may_stand(key, value)}
        rest = {key: value for key, value in own.items() if key not in header and key not in own_keys}
        try:
            block = Note.compose(rest, "").data.decode("utf-8", "replace").strip("-\n") if rest else ""
            block = f"{fenced(self._clean(block), 'yaml')}\n\n" if block else ""
            return Note.compose({**self._cleaned(own_keys), **header}, f"{block}{body}\n").data
        except BadNote:  # a value that no header can hold
            return Note.compose(header, f"{fenced(self._clean(str(dict(own))))}\n\n{body}\n").data

    def _may_stand(self, key: str, value: Value) -> bool:
        if key.casefold() in _OWN_KEYS:
            return False
        try:
            return self.mine or not active_parts_of_note(Note.compose({key: value}, "").data)
        except BadNote:
            return False

    def _cleaned(self, header: Header) -> Header:
        return {key: self._clean(value) if isinstance(value, str) else value for key, value in header.items()}

    def _clean(self, words: str) -> str:
        return self.mask(_WORDLESS.sub("", words).encode("utf-8", "replace").decode())

    def _masked(self, data: bytes) -> bytes:
        """The whole note without a secret: tags, addresses and lists of a header may have one, too."""
        return self.mask(data.decode("utf-8", "replace")).encode("utf-8", "replace")

    def _forgotten(self, words: str) -> str:
        return self.stones.without_forgotten(words)

    def _with_targets(self, body: str, path: str) -> str:
        """The text with the marked links as links to where the items lie; what was not imported is named as it was."""

        def target(found: re.Match[str]) -> str:
            to = self.paths.get(unquote(found[1]))
            return f"]({_relative(to, path) if to else found[1]}{found[2] or ''}"

        return _LINKED.sub(target, body)

    def _embed(self, file: ImportedFile, path: str) -> str:
        return f"![{_MARKS.sub(' ', file.name)}]({_relative(self.paths[file.key], path)})"


def _relative(to: str, path: str) -> str:
    return quote(relpath(to, dirname(path)))


def _seconds(at: datetime | None) -> datetime | None:
    return at.replace(microsecond=0) if at else None
