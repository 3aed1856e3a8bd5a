"""Where a text stands that is to be forgotten, and what those notes are without it.

Every note is read once, entries twice; what cannot be read is passed by and named. Entries that say the same go, or
lose the sentences, and with an entry those that give its subject an earlier or a later value; lines of MEMORY.md and of
daily notes that the upkeep of memory wrote go, too, and rules that say it in the agent's words. In records (sessions,
approvals, questions, answers in notes) a mark stands instead, and a record that is named after the text gets another
name. Text that a person wrote or corrected is left, and listed.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field, replace
from pathlib import PurePosixPath

from agent.config.resources import pattern
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.markdown.links import linked_names
from agent.markdown.note import Note
from agent.markdown.session_marks import SESSION, find_records
from agent.memory import daily
from agent.memory.blame import EDITS, TOOLS, blamed_lines, person_lines, touched_by_people
from agent.memory.entry import QUOTE, Entry, EntryType, before_in, parse_entry, without_before
from agent.memory.forgetting.entry_text import ANSWER, LABEL, persons_words, telling_words
from agent.memory.forgetting.forgotten_statements import ForgottenStatements, has_name, new_name, with_name
from agent.memory.forgetting.steering_notes import (
    agents_lines_without,
    is_steering,
    profile_note_without,
    without_answers,
)
from agent.memory.forgetting.tombstones import needs_the_one_before
from agent.memory.store import ARCHIVED
from agent.memory.understanding.statements import is_claim
from agent.memory.understanding.wording import wording
from agent.vault.folders import ENTRIES, FORGOTTEN, MEMORY_NOTE, OWN_NOTES, PROFILE, SESSIONS, AgentFolder, WriteRule
from agent.vault.store import Vault

Report = Callable[[int, int], None]
"""Told of progress: the notes that are read, and all that will be."""

_STEP = 200
_MENTIONS = 20
_ANSWERING = TOOLS | {"inbox", EDITS}
"""The tools with which the program adds lines of its own to a person's note."""
_OVER = frozenset(("finished", "failed", "limit"))


@dataclass(frozen=True, slots=True)
class Changed:
    """A note that loses some lines: its bytes before and after, the removed lines, and its new path if it gets one."""

    path: str
    before: bytes
    after: bytes
    gone: tuple[str, ...]
    to: str = ""


@dataclass(frozen=True, slots=True)
class Forgetting:
    """The plan for forgetting a note or a text.

    `gone`: deleted notes with their bytes. `changed`: notes that lose lines. `mentions`: notes with the same statement
    that are left to the person. `said`: what recognises the text. `past`: notes that only the history still has.
    `unread`: notes that could not be read.
    """

    gone: tuple[tuple[str, bytes], ...] = ()
    changed: tuple[Changed, ...] = ()
    mentions: tuple[str, ...] = ()
    forgotten: ForgottenStatements = field(default_factory=ForgottenStatements)
    past: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def marks(self) -> frozenset[str]:
        """The fingerprints for the tombstone."""
        return self.forgotten.marks

    def should_be_seen(self, home: AgentFolder) -> bool:
        """True if the person should see it first: it concerns more than the one note that they may have named and its
        line in MEMORY.md, or that one is their own, and a word may have been meant."""
        changed = any(home.name_of(each.path) != MEMORY_NOTE for each in self.changed)
        return changed or len(self.gone) > 1 or any(home.row(path) == OWN_NOTES for path, _ in self.gone)


def find_places(vault: Vault, forgotten: ForgottenStatements, gone: dict[str, bytes], report: Report) -> Forgetting:
    """The plan for forgetting what `said` recognises, with the notes `gone`, and the entries that they have replaced or
    that have replaced them."""
    return _Search(vault, forgotten, report, dict(gone)).plan()


@dataclass(slots=True)
class _Search:
    vault: Vault
    forgotten: ForgottenStatements
    report: Report
    gone: dict[str, bytes]
    changed: dict[str, Changed] = field(default_factory=dict)
    mentions: list[str] = field(default_factory=list)
    unread: dict[str, None] = field(default_factory=dict)
    _done: int = 0
    _total: int = 0

    def plan(self) -> Forgetting:
        home = self.vault.home
        paths = [path for path in self.vault.note_paths() if path not in self.gone and not home.holds(path, FORGOTTEN)]
        memories = [path for path in paths if home.holds(path, ENTRIES, ARCHIVED)]
        self._total = len(paths) + len(memories)
        self._other_values(memories)
        self._entries([path for path in memories if path not in self.gone and path not in self.mentions])
        self.forgotten = self.forgotten.with_statements(words_of_entry(data) for data in self.gone.values())
        moved = self._moved(path for path in paths if path not in self.gone and path not in self.mentions)
        names = {stem_of(path): "" for path in self.gone} | {stem_of(path): stem_of(to) for path, to in moved.items()}
        self.forgotten = replace(self.forgotten, names=names)
        for path, data in self._read(moved):
            self._note(path, data, moved[path])
        for path, data in self._near(path for path in paths if path not in self.gone and path not in moved):
            self._note(path, data, "")
        self.report(self._total, self._total)
        mentions = tuple(dict.fromkeys(self.mentions))[:_MENTIONS]
        return Forgetting(
            tuple(self.gone.items()), tuple(self.changed.values()), mentions, self.forgotten, unread=tuple(self.unread)
        )

    def _other_values(self, memories: Sequence[str]) -> None:
        """Let the entries go that have another value for the subject of a note that goes: all before, all after it."""
        found: dict[str, bytes] = {}
        waiting = [entry for data in self.gone.values() if (entry := parse_entry(data)) is not None]
        while waiting:
            entry = waiting.pop()
            for link in filter(None, (entry.supersedes, entry.superseded_by)):
                for path, data in self._read(_path_of(memories, link)):
                    other = parse_entry(data)
                    if other is None or path in found or path in self.gone:
                        continue
                    if link == entry.supersedes or _have_common_words(entry.text, other.text):
                        found[path] = data
                        waiting.append(other)
        theirs = touched_by_people(self.vault, self.vault.home.at(ENTRIES)) if found else frozenset()
        self.mentions += [path for path in found if path in theirs]
        self.gone |= {path: data for path, data in found.items() if path not in theirs}

    def _near(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """The notes at these paths that may say it, or link to a note that does."""
        for path in paths:
            self._done += 1
            if self._done % _STEP == 0:
                self.report(self._done, self._total)
            try:
                is_near = self.forgotten.is_near(text_of(self.vault.glance(path)))
            except FileNotFoundError:
                continue
            except (AgentError, OSError):
                self.unread[path] = None
                continue
            if is_near:
                yield from self._read((path,))

    def _read(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """The notes at these paths, with their bytes; the rest is noted as unread."""
        for path in paths:
            try:
                data = self.vault.read_now(path)
            except (AgentError, OSError):
                self.unread[path] = None
                continue
            if data is not None:
                yield path, data

    def _entries(self, paths: Iterable[str]) -> None:
        """Let the entries go that say nothing else, and the others lose what they say of it."""
        near = list(self._near(paths))
        theirs = touched_by_people(self.vault, self.vault.home.at(ENTRIES)) if near else frozenset()
        for path, data in near:
            entry = parse_entry(data)
            if entry is None or not self.forgotten.is_forgotten(persons_words(entry)):
                continue
            rest = "" if self.forgotten.is_forgotten(entry.slots.get(QUOTE, "")) else _rest(entry, self.forgotten)
            if path in theirs:
                self.mentions.append(path)
            elif not rest:
                self.gone[path] = data
            else:
                self.changed[path] = _reworded(path, data, entry, rest)

    def _moved(self, paths: Iterable[str]) -> dict[str, str]:
        """The new paths of the records and entries that are named after the text."""
        home = self.vault.home
        named = [path for path in paths if self.forgotten.is_name(stem_of(path))]
        named = [path for path in named if is_record(home, path) or home.holds(path, ENTRIES, ARCHIVED)]
        return {
            path: renamed(path, self._words_left(path), data)
            for path, data in self._read(named)
            if not home.holds(path, SESSIONS) or _is_over(text_of(data))
        }

    def _words_left(self, path: str) -> str:
        """The words after which a note is named now: those that an entry keeps."""
        rest = self.changed.get(path)
        return Note.parse(rest.after).body if rest else self.forgotten.mark

    def _note(self, path: str, data: bytes, to: str) -> None:
        """Note what becomes of any note: one that says it, links to a note that says it, or is named after it."""
        home = self.vault.home
        before = self.changed[path].after if path in self.changed else data
        if is_record(home, path) or home.holds(path, ENTRIES, ARCHIVED):
            after = record_without(before, self.forgotten) if is_record(home, path) else self._relinked(before)
        elif self.forgotten.concerns(text_of(before)):
            after = self._lines(path, before)
            if self.forgotten.stands_in(Note.parse(after).body):
                self.mentions.append(path)
        else:
            return
        if after != data or to:
            self.changed[path] = Changed(path, data, after, self._lost(data, after), to)

    def _lines(self, path: str, before: bytes) -> bytes:
        """A note of the person's, or one in which they and the agent write."""
        if is_derived(self.vault.home, path):
            return self._derived(path, before)
        if is_steering(self.vault.home, path):
            return agents_lines_without(self.vault, path, before, self.forgotten, self._followed)
        return self._answers(path, before)

    def _relinked(self, data: bytes) -> bytes:
        """An entry without links to notes that go."""
        note = _header_without(Note.parse(data), self.forgotten)
        body = self.forgotten.without_names(note.body)
        return note.with_body(body).data if body != note.body else note.data

    def _derived(self, path: str, before: bytes) -> bytes:
        """MEMORY.md, a daily note or one of the profile: lines of the agent's lose what is forgotten or has no other
        evidence."""
        if self.vault.home.holds(path, PROFILE):
            names = [name for name, new in self.forgotten.names.items() if not new]
            theirs = person_lines(self.vault, path, before)
            after = profile_note_without(
                path, before, theirs, lambda row: line_without(row, self.forgotten), self._followed, names=names
            )
            return _header_without(Note.parse(after), self.forgotten).data
        rows = "".join(
            line_without(line.text, self.forgotten) if line.own else self._followed(line.text)
            for line in blamed_lines(self.vault, path, before)
        )
        if (summary := daily.summary_of(rows)) is not None and daily.is_sealed(text_of(before)):
            rows = daily.resealed(rows, summary)
        return rows.encode("utf-8", "surrogateescape")

    def _answers(self, path: str, before: bytes) -> bytes:
        """A person's note: the program's answers in it get a mark for the text, and links follow renamed notes."""
        lines = blamed_lines(self.vault, path, before, _ANSWERING)
        rows = (self.forgotten.redacted(line.text) if line.own else self._followed(line.text) for line in lines)
        return "".join(rows).encode("utf-8", "surrogateescape")

    def _followed(self, row: str) -> str:
        """A person's row, with links to the new names of renamed notes."""
        for name, new in self.forgotten.names.items():
            row = with_name(row, name, new) if new and name in row else row
        return row

    def _lost(self, before: bytes, after: bytes) -> tuple[str, ...]:
        """The lines that a note loses, or that lose something; not those whose links only follow a renamed note."""
        stay = set(text_of(after).splitlines())
        return tuple(row for row in text_of(before).splitlines() if row not in stay and self._followed(row) not in stay)


def is_derived(home: AgentFolder, path: str) -> bool:
    """True for the notes in which the upkeep of memory and people write line by line."""
    return home.name_of(path) == MEMORY_NOTE or home.day_of(path) is not None or home.holds(path, PROFILE)


def record_without(data: bytes, forgotten: ForgottenStatements) -> bytes:
    """A record, or any version of a note, with a mark for the text."""
    note = _header_without(Note.parse(data), forgotten)
    body = forgotten.redacted(without_answers(note.body, forgotten) if note.type == SESSION else note.body)
    return note.with_body(body).data if body != note.body else note.data


def _header_without(note: Note, forgotten: ForgottenStatements) -> Note:
    for key, value in list(note.header.items()):
        if isinstance(value, str):
            left = _value(value, forgotten)
            if left != value:
                note = note.with_key(key, left) if left else note.without_key(key)
        elif isinstance(value, list | tuple) and all(isinstance(each, str) for each in value):
            values = [left for each in value if (left := _value(str(each), forgotten)) and left != forgotten.mark]
            if values != list(value):
                note = note.with_key(key, values)
    return note


def _value(value: str, forgotten: ForgottenStatements) -> str:
    """A value of a header; empty if it names a note that goes."""
    return (
        ""
        if any(has_name(value, name) for name, new in forgotten.names.items() if not new)
        else forgotten.redacted(value)
    )


def renamed(path: str, words: str, data: bytes = b"") -> str:
    """The path of a note that is named after other words; its folder and its day stay."""
    return str(PurePosixPath(path).with_name(f"{new_name(stem_of(path), words, Note.parse(data).id or '')}.md"))


def line_without(row: str, forgotten: ForgottenStatements) -> str:
    """A line without the forgotten text and links to it; empty if all its links lead to forgotten notes."""
    gone = {name for name, new in forgotten.names.items() if not new}
    links = {stem_of(link) for link in linked_names(row)}
    if links and links <= gone:
        return ""
    bare = row.rstrip("\r\n")
    left = forgotten.left_of_log(forgotten.without_names(bare))
    if left != bare and not LABEL.sub("", left).strip(" \t-*+.。"):
        return ""
    return left + row[len(bare) :]


def _rest(entry: Entry, forgotten: ForgottenStatements) -> str:
    """An entry's text without the forgotten sentences; empty if only labels, an answer, or a part of a correction that
    says nothing by itself would remain."""
    left = forgotten.without_forgotten(entry.text)
    if before_in(entry.text) and left != entry.text:
        left = without_before(left)
        if needs_the_one_before(left) or not is_claim(left) or pattern("correction_lead").match(left):
            return ""
    if entry.type is EntryType.CHAT_TURN and left != entry.text:
        asked = [line for line in left.splitlines() if not ANSWER.match(line)]
        if not any(LABEL.sub("", line).strip(" .。") for line in asked):
            return ""
    return left if any(LABEL.sub("", line).strip(" .。") for line in left.splitlines()) else ""


def _reworded(path: str, data: bytes, entry: Entry, rest: str) -> Changed:
    """The entry with the rest of its text, and the keywords that stand in it."""
    note = Note.parse(data).with_body(rest.strip("\n") + "\n")
    keywords = [word for word in entry.keywords if word.casefold() in rest.casefold()]
    if keywords != list(entry.keywords):
        note = note.with_key("keywords", keywords)
    lost = tuple(line for line in entry.text.splitlines() if line not in rest.splitlines())
    return Changed(path, data, note.data, lost)


def words_of_entry(data: bytes) -> str:
    """The words of a note that goes; empty for a note that is no entry, whose text is known already."""
    entry = parse_entry(data)
    return "" if entry is None else telling_words(entry)


def _path_of(paths: Iterable[str], named: str) -> list[str]:
    """The path of an entry that is named by a link, or by its id, whose last characters end its name."""
    linked = linked_names(named)
    end = f"/{stem_of(linked[0])}.md" if linked else f"-{named[-6:].lower()}.md"
    return [path for path in paths if path.endswith(end)]


def _have_common_words(one: str, other: str) -> bool:
    """True for a later text that names anything of the earlier one; else its subject may be another by now."""
    return not wording(one).terms.isdisjoint(wording(other).terms)


def is_record(home: AgentFolder, path: str) -> bool:
    """True for notes that the program alone writes."""
    return home.row(path).write is WriteRule.PROGRAM


def _is_over(text: str) -> bool:
    """True for a session whose last run is over; another one is looked for by its name."""
    last = next(reversed(list(find_records(text))), None)
    return last is None or (last.kind == "end" and last.data.get("outcome") in _OVER)


def stem_of(path: str) -> str:
    """The name of a note, without folder and ending."""
    return path.strip().rpartition("/")[2].removesuffix(".md")


def text_of(data: bytes) -> str:
    """A note's bytes as text; bytes that are no text come back unchanged."""
    return data.decode("utf-8", "surrogateescape")
