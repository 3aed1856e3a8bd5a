"""Finds the text in the vault that its owner did not write, also by what a file says of itself.

Finds what guests have said: for the owner's runs it is a stranger's text, as it asks the agent for what it likes.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import islice
from typing import TypeAlias

from agent.dataclass import dataclass
from agent.markdown.note import Note
from agent.markdown.session_marks import guests, untrusted_sources
from agent.markdown.yaml_write import Header, Value, is_list
from agent.skills.loading.files import ReviewPins, pins_of, split_name
from agent.vault.folders import ENTRIES, SESSIONS, AgentFolder
from agent.vault.options import no_files
from agent.vault.provenance.foreign_record import SAVED_FILE
from agent.vault.provenance.marks import name_mark, new_marks
from agent.vault.provenance.own_runs import names_file
from agent.vault.store import Vault


def guest_of(path: str, data: bytes, home: AgentFolder) -> str:
    """The guest whose words a memory or a session has, as the origin of its text; empty for any other note."""
    if home.holds(path, SESSIONS):
        return named_guest(*guests(data.decode("utf-8", "replace")))
    if home.holds(path, ENTRIES):
        return named_guest(*filter(None, [Note.parse(data).string("sender_id")]))
    return ""


def named_guest(*names: str) -> str:
    """The origin of text that these guests have said; empty without names."""
    return f"a guest, {', '.join(names)}" if names else ""


def untrusted_source(pins: ReviewPins, name: str, data: bytes) -> str:
    """The words for the source of a skill's file that differs from the reviewed one; empty for any other file."""
    found = split_name(name)
    if found is None or not found.file:
        return ""
    pin = pins.get(f"{found.source}.{found.name}")
    reviewed = pin.files.get(found.file) if pin is not None else None
    return "" if reviewed == sha256(data).hexdigest() else "a skill that nobody has reviewed"


_TYPED = (".md", ".markdown", ".txt", ".canvas", ".base")
"""Files that people write in an editor; any other file was made or saved by a program."""
_ORIGINS = frozenset(
    {"source", "sources", "url", "urls", "uri", "link", "permalink", "href"}
    | {"original", "origin", "canonical", "web", "via", "feed", "clipped"}
)
"""Words in a header key that names the origin of a text, such as `source_url`."""
_SENDERS = frozenset({"from", "sender", "message-id", "messageid"})
_ADDRESS = re.compile(r"(?:\b[a-z][a-z0-9+.-]{1,20}:)?//[\w.\[]|\bwww\.\w", re.IGNORECASE)
_MAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})*")
_WORDS = re.compile(r"[\s_./-]+")
_FIRST_LINE = re.compile(r"[\W_]{0,8}(?:source|url|link|来源|出处|原文|链接)[\W_]{0,4}[:：](.*)", re.IGNORECASE)
_HEADER_LINE = re.compile(r"([^\s:#][^:\n]{0,60}):(.*)")
_FIRST_LINES = 4
_HEADER = 64 * 1024
_LONGEST = 160


def stated_origin(path: str, data: bytes) -> str:
    """The origin that a file states, in its own words; empty if it states none.

    If the header cannot be parsed, its lines are searched, because an untrusted title may have broken it.
    """
    if not path.casefold().endswith(_TYPED):
        return SAVED_FILE
    if f"/{SESSIONS}" in f"/{path}" and (found := untrusted_sources(data.decode("utf-8", "replace"))):
        return found[0][:_LONGEST]
    note = Note.parse(data)
    header = _rough_header(data) if note.problem is not None else note.header
    return (_of_header(header) or _of_first_lines(note.body))[:_LONGEST]


def _of_header(header: Header) -> str:
    for key, value in header.items():
        if key.casefold() == "untrusted" and value is not False:
            return ", ".join(_texts(value)) or "a stranger"
        words = {key.casefold(), *_WORDS.split(key.casefold())}
        texts = list(_texts(value))
        if words & _ORIGINS and (stated := next(filter(_ADDRESS.search, texts), "")):
            return stated
        if words & _SENDERS and (stated := next(filter(_MAIL.search, texts), "")):
            return stated
        if "clipped" in words and value not in (None, False, ""):
            return "a web clipper"
    return ""


def _of_first_lines(body: str) -> str:
    """An address after `Source:` or a similar word in the first lines that are not blank; else empty."""
    rows = (row for row in body[:_HEADER].split("\n") if row.strip())
    found = (_FIRST_LINE.fullmatch(row.strip()) for row in islice(rows, _FIRST_LINES))
    return next((each[1].strip() for each in found if each and _ADDRESS.search(each[1])), "")


def _texts(value: Value) -> Iterator[str]:
    """Yield every text in a header's value, at any depth."""
    if isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)
    elif is_list(value):
        for each in value:
            yield from _texts(each)
    elif value is not None:
        yield str(value)


def _rough_header(data: bytes) -> Header:
    rows = data[:_HEADER].decode("utf-8", "replace").split("\n")
    found = (_HEADER_LINE.fullmatch(row.rstrip("\r")) for row in rows)
    return {each[1].strip(): each[2].strip() for each in found if each}


Lines: TypeAlias = tuple[int, int] | None
"""The first and the last line of a part of a note, from 1; None: the whole note."""

_TEXT = (".md", ".txt")
"""Files of which the lines are those that are shown."""
_FROM = re.compile(r".* \(from (.*)\)", re.DOTALL)
_HEADING = re.compile(rb"[ ]{0,3}#{1,6}[ \t]|(?:title|alias(?:es)?):")
_UNDERLINE = re.compile(rb"[ ]{0,3}(?:=+|-+)[ \t]*\r?")


@dataclass(frozen=True, slots=True)
class TextOrigin:
    """The origin of the text in one vault; `reviewed` are the skills reviewed on this machine, `mine` the files
    beside notes that the owner has written, as in `Options.mine`."""

    vault: Vault
    reviewed: ReviewPins
    mine: Callable[[], Sequence[str]] = no_files

    def remember(self, run: str, written: bytes, before: bytes, sources: Iterable[str]) -> None:
        """Record the lines of `written` that `before` does not have and that this run is about to write; durable when
        this returns."""
        self.vault.provenance.foreign.add_lines(run, new_marks(written, [before]), map(without_path, sources))

    def remember_name(self, run: str, path: str, sources: Iterable[str]) -> None:
        """Record that a tainted run gave a note this path, if it can be read as a sentence."""
        if name_mark(path) is not None:
            self.remember(run, path.encode("utf-8", "replace"), b"", sources)

    def named(self, *paths: str) -> str:
        """The origin of the first of these names that another person or a tainted run chose; empty if there is none."""
        telling = [path for path in paths if name_mark(path) is not None]
        found = (self.vault.provenance.strangers(path, path.encode("utf-8", "replace")) for path in telling)
        return next(filter(None, found), "")

    def source(self, path: str, data: bytes, lines: Lines = None) -> str:
        """The origin of the text in these lines; empty for the owner's text.

        The headings above them and the note's title and path count, too, because they are shown with them. The lines of
        an attachment are those of its text, not of the file: the file has one origin.
        """
        provenance = self.vault.provenance
        is_note = path.endswith(_TEXT)
        lines = lines if is_note else None
        source = "" if not is_note and self.is_mine(path) else stated_origin(path, data)
        source = source or self.named(path)
        source = source or untrusted_source(self.reviewed, self.vault.home.name_of(path), data)
        source = source or provenance.strangers(path, data, lines)
        if not source and lines is not None:
            above = list(_above(data.split(b"\n")[: lines[0] - 1]))
            source = provenance.strangers(path, b"\n".join(above)) if above else ""
        return f"{path} (from {source})" if source else ""

    def is_mine(self, path: str) -> bool:
        """True if the owner has named a file, or a folder that it is in, as their own writing."""
        return names_file(self.mine(), path)

    def is_from_others(self, path: str) -> bool:
        """True if a file beside notes, or its name, came from another writer or a tainted run, as far as is known."""
        try:
            data = self.vault.glance(path)
        except OSError:
            return True
        return bool(self.named(path) or self.vault.provenance.strangers(path, data))


def saved_file_in(source: str) -> str:
    """The path of the file in an origin as `TextOrigin.source` gives it, if all that is known is that it is a file
    that some program saved; else empty, as for a note with lines from such a file."""
    path = source.removesuffix(f" (from {SAVED_FILE})")
    return "" if path == source or path.casefold().endswith(_TYPED) else path


def still_strangers(vault: Vault, sources: Iterable[str]) -> Iterator[str]:
    """Those of these origins that are not files that the owner has since named as their own."""
    origin = text_origin_of(vault)
    for each in sources:
        path = saved_file_in(each)
        if not path or not origin.is_mine(path) or origin.is_from_others(path):
            yield each


def without_path(source: str) -> str:
    """An origin as `TextOrigin.source` gives it, without the name of the note: what is kept about a text outlives the
    note, and must not tell what it was about when that is forgotten."""
    found = _FROM.fullmatch(source)
    return found[1] if found else source


def text_origin_of(vault: Vault) -> TextOrigin:
    """The origin of the text in a vault, as this machine knows it."""
    return TextOrigin(vault, pins_of(vault), vault.options.mine)


def _above(rows: Sequence[bytes]) -> Iterator[bytes]:
    """Yield the lines among `rows` that may be headings or titles."""
    for at, row in enumerate(rows):
        if _HEADING.match(row) or (at + 1 < len(rows) and _UNDERLINE.fullmatch(rows[at + 1])):
            yield row
