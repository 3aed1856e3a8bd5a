"""The evidence of a line about the person: a note, its day, and the person's own words in it.

Only words of the person count: statements of theirs that were remembered, and lines that they wrote in notes. What a
model concluded, a guest said, the agent wrote, or somebody else sent or pasted as a quotation is no evidence.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import date
from pathlib import PurePosixPath

from agent.dataclass import dataclass
from agent.markdown.blocks import parse_body
from agent.markdown.note import Note
from agent.markdown.yaml_write import Value
from agent.memory.blame import person_lines
from agent.memory.entry import MODEL, QUOTE
from agent.memory.store import ARCHIVED, StoredEntry, load_entries
from agent.vault.folders import APPROVALS, ENTRIES, PROFILE, SESSIONS
from agent.vault.store import Vault

SHORTEST = 2
"""The fewest characters of a quotation."""
LONGEST = 300
_WRITTEN = re.compile(
    r"^\s*\[\[(?P<note>[^\]|#\n]+)[^\]\n]*\]\]\s*(?P<day>\d{4}-\d\d-\d\d)?\s*(?P<quote>.*?)\s*$", re.DOTALL
)
_ENTRY = re.compile(r"(\d{4})-(\d\d)-\d\d-.+")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}(?=[ -].)")
_DATED = re.compile(r"\d{4}-\d\d-\d\d")
_QUOTES = '"“”'


@dataclass(frozen=True, slots=True)
class Evidence:
    """A quotation from a note: the note's name or path without `.md`, the day as `2026-11-22` or empty, the words."""

    note: str
    quote: str = ""
    day: str = ""

    @property
    def link(self) -> str:
        """The note as a link."""
        return f"[[{self.note}]]"

    @property
    def dated_link(self) -> str:
        """The link as a line of a note has it: names of entries are long, so that their day is shown."""
        found = _DAY.match(PurePosixPath(self.note).name)
        return f"[[{self.note}|{found[0]}]]" if found else self.link

    @property
    def written(self) -> str:
        """The evidence as it stands in a note's header."""
        quote = f'"{self.quote}"' if self.quote else ""
        return " ".join(filter(None, (self.link, self.day, quote)))


def parse_evidence(value: Value) -> Evidence | None:
    """The evidence in an item of a header's list, written by the program or by hand; None for anything else."""
    if isinstance(value, Mapping):
        source, quote, day = (str(value.get(key) or "") for key in ("source", "content", "date"))
        return Evidence(source.strip("[] "), quote, day) if source else None
    found = _WRITTEN.match(value) if isinstance(value, str) else None
    if found is None:
        return None
    return Evidence(found["note"].strip(), found["quote"].strip(_QUOTES), found["day"] or "")


def evidence_of(each: StoredEntry) -> Evidence:
    """The evidence that an entry gives: its first line."""
    words = " ".join(each.entry.text.strip().partition("\n")[0].split())[:LONGEST]
    return Evidence(PurePosixPath(each.path).stem, words, f"{each.entry.last_stated:%Y-%m-%d}")


def is_of_the_person(each: StoredEntry) -> bool:
    """True for a statement of the vault's owner that still holds: not what a model concluded, a guest said, or came
    from elsewhere."""
    entry = each.entry
    strange = each.untrusted or entry.untrusted or entry.sender_id or entry.chat_id or entry.superseded_by
    return entry.type.is_stated and not strange and entry.source != MODEL


def completed(vault: Vault, evidence: Evidence) -> Evidence:
    """The evidence; for an entry of the person that is cited without its words, with them and its day."""
    if evidence.quote:
        return evidence
    for path in _paths(vault, evidence.note):
        if vault.home.holds(path, ENTRIES, ARCHIVED):
            for each in load_entries(vault, (path,)):
                if is_of_the_person(each):
                    return replace(evidence_of(each), note=evidence.note)
    return evidence


def problem_of(vault: Vault, evidence: Evidence) -> str:
    """The reason why the evidence does not count, in words for a model; empty if it does."""
    quote = _plain(evidence.quote)
    if len(quote) < SHORTEST:
        return "there is no quotation of the person's own words"
    paths = [path for path in _paths(vault, evidence.note) if vault.read(path) is not None]
    if not paths:
        return f"there is no note {evidence.link}"
    if any(quote in _plain(text) for path in paths for text in _own_words(vault, path)):
        return ""
    return f"{evidence.link} does not have these words from the person themselves"


def is_there(vault: Vault, evidence: Evidence) -> bool:
    """True if the note exists, and all of it counts as this vault's own."""
    for path in _paths(vault, evidence.note):
        data = vault.read(path)
        if data is not None and not vault.provenance.strangers(path, data):
            return True
    return False


def _paths(vault: Vault, note: str) -> Iterator[str]:
    """The paths at which the note of a link may lie."""
    name = note.strip().removesuffix(".md")
    if ".." in name.split("/") or name.startswith("/") or not name:
        return
    yield f"{name}.md"
    stem = PurePosixPath(name).name
    if entry := _ENTRY.fullmatch(stem):
        for folder in (ENTRIES, ARCHIVED):
            yield vault.home.at(f"{folder}{entry[1]}/{entry[2]}/{stem}.md")
    if _DATED.fullmatch(stem):
        with suppress(ValueError):
            yield vault.home.day_note(date.fromisoformat(stem))


def _own_words(vault: Vault, path: str) -> Iterator[str]:
    """The texts of a note that are the person's own words."""
    home = vault.home
    if home.holds(path, ENTRIES, ARCHIVED):
        for each in load_entries(vault, (path,)):
            if is_of_the_person(each):
                yield from (each.entry.text, each.entry.slots.get(QUOTE, ""))
        return
    data, own = vault.read(path) or b"", vault.own_version(path) or b""
    note = Note.parse(own)
    if home.holds(path, SESSIONS, APPROVALS, PROFILE) or note.header.get("untrusted") or note.header.get("sender_id"):
        return
    theirs = person_lines(vault, path, data)
    rows = set(own.decode("utf-8", "surrogateescape").splitlines())
    body = parse_body(Note.parse(data).body, Note.parse(data).body_line)
    for at, (line, kind) in enumerate(zip(body.lines, body.kinds, strict=True), body.first):
        is_quoted = line.lstrip().startswith(">") or kind in {"code", "fence", "comment"}
        if at <= len(theirs) and theirs[at - 1] and line in rows and not is_quoted:
            yield line


def _plain(text: str) -> str:
    """The text for comparison: spaces and the form of quotation marks do not count."""
    return " ".join(text.split()).strip(_QUOTES).replace("’", "'").casefold()
