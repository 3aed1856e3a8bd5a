"""Checks of one vault's files: notes, ids, conflicts, links that the agent made, large files, the person's name.

Nothing here changes a file, or raises for what it finds.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import field
from pathlib import PurePosixPath

from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.git.identities import person
from agent.markdown.note import Note
from agent.vault.folders import SESSIONS, AgentFolder, WriteRule
from agent.vault.health.probe import Check, guarded, ok, warn
from agent.vault.health.status import conflict_copies
from agent.vault.note_templates import NoteTemplates, load_note_templates
from agent.vault.store import Vault

_MARKERS = re.compile(rb"^<<<<<<< .*?^=======\r?$.*?^>>>>>>> ", re.MULTILINE | re.DOTALL)
_ENTRIES = re.compile(rb"\[\[(\d{4}-\d\d-\d\d-[^\[\]|#\n/]+)")
"""Links to entries by name only, which the agent makes in its own notes."""
_LARGE = 20_000_000
"""Bytes above which a file is large, if the settings have no limit."""


def notes(vault: Vault) -> list[Check]:
    """The checks of the content of all notes, and of the files and the commits around them."""
    checks = guarded("notes", lambda: _notes(vault)) + guarded("conflicts", lambda: _conflicts(vault))
    return checks + guarded("large files", lambda: _large(vault)) + guarded("your name", lambda: _name(vault))


@dataclass(slots=True)
class _Found:
    """What is wrong in the notes read so far, a line each."""

    home: AgentFolder
    templates: NoteTemplates
    unreadable: list[str] = field(default_factory=list)
    headers: list[str] = field(default_factory=list)
    markers: list[str] = field(default_factory=list)
    links: list[tuple[str, str]] = field(default_factory=list)
    ids: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    records: re.Pattern[bytes] = field(init=False)
    """Links to what the agent writes about its runs, which the agent makes."""

    def __post_init__(self) -> None:
        home = re.escape(self.home.path.encode())
        self.records = re.compile(rb"\[\[(%s(?:sessions|entries|questions|approvals)/[^\[\]|#\n]+)" % home)

    def read(self, path: str, data: bytes) -> None:
        """Look at one note."""
        note = Note.parse(data)
        if note.problem is not None:
            if self.templates.has(path, data):
                return
            self.headers.append(f"{path}:{note.problem.line}: {note.problem.message}")
        elif note.id:
            self.ids[note.id].append(path)
        if b"<<<<<<< " in data and (begun := _MARKERS.search(data)):
            line = data.count(b"\n", 0, begun.start()) + 1
            self.markers.append(f"{path}:{line}")
        if b"[[" in data:
            named = [*self.records.findall(data)]
            is_ours = self.home.row(path).write in {WriteRule.MEMORY, WriteRule.PROGRAM}
            is_ours = is_ours and not self.home.holds(path, SESSIONS)  # others' words, and examples given to a model
            named += _ENTRIES.findall(data) if is_ours else []
            self.links += ((path, target.decode("utf-8", "replace").strip("\\ ")) for target in dict.fromkeys(named))


def _notes(vault: Vault) -> Iterator[Check]:
    found, paths = _Found(vault.home, load_note_templates(vault)), vault.note_paths()
    for path in paths:
        try:
            found.read(path, _bytes_of(vault, path))
        except (AgentError, OSError) as error:
            found.unreadable.append(f"{path}: {error}")
    twice = [f"{name}: {', '.join(where)}" for name, where in found.ids.items() if len(where) > 1]
    yield from _listed("notes", "{count} have a header that cannot be read; their text still can", found.headers)
    yield from _listed("files", "{count} cannot be read as notes", found.unreadable)
    yield from _listed("ids", "{count} stand in more than one note; get and forget ask which one is meant", twice)
    yield from _listed(
        "merges",
        "{count} have two versions between the marks <<<<<<< and >>>>>>>",
        found.markers,
        "keep what you want of the two versions in the notes named under merges, and delete the lines with the marks",
    )
    yield from _listed(
        "links",
        "{count} made by the agent lead to notes that are not there",
        _broken(found.links, paths),
        "see what became of a note that is named under links: vault-agent log PATH",
    )
    if not found.headers and not found.unreadable:
        yield ok("notes", "{count} can be read", count=len(paths))


def _bytes_of(vault: Vault, path: str) -> bytes:
    """A note's bytes of this moment; what cannot be read so is read again with all care, which says what it is."""
    try:
        return vault.glance(path)
    except OSError:
        return vault.read(path) or b""


def _broken(links: Sequence[tuple[str, str]], paths: Collection[str]) -> list[str]:
    """The links whose note is not there, with the place of one note of that name elsewhere."""
    there = {path.casefold() for path in paths}
    named = defaultdict[str, list[str]](list)
    for path in paths if links else ():
        named[PurePosixPath(path).name.casefold()].append(path)
    lines = []
    for path, target in links:
        whole = f"{target.removesuffix('.md')}.md".casefold()
        same = named[PurePosixPath(whole).name]
        if whole not in there and not (same and "/" not in whole):
            lines.append(f"{path}: [[{target}]]{f' is {same[0]} now' if len(same) == 1 else ''}")
    return lines


def _conflicts(vault: Vault) -> Iterator[Check]:
    yield from _listed(
        "conflicts",
        "{count} copies hold versions that could not be merged",
        conflict_copies(vault),
        "vault-agent sync resolve COPY, with --ours, --theirs or --both",
    )


def _large(vault: Vault) -> Iterator[Check]:
    """Files that make git slow, or that git does not have because of their size."""
    most, root = vault.options.largest or _LARGE, vault.place.root
    command = ["ls-files", "-t", "-z", "--cached", "--others", "--exclude-standard", *vault.place.pathspec]
    lines = []
    for row in dict.fromkeys(vault.git.fields(*command)):
        path = row[2:].removeprefix(vault.place.prefix)
        try:
            size = (root / path).lstat().st_size
        except OSError:
            continue
        if size > most:
            where = "not in git, so it has no history" if row.startswith("?") else "in git, also after it is deleted"
            lines.append(f"{path}: {size / 1_000_000:.0f} MB, {where}")
    yield from _listed(
        "large files",
        "{count} are larger than {size:g} MB",
        lines,
        "move large files out of the vault, or name them in .gitignore",
        size=most / 1_000_000,
    )


def _name(vault: Vault) -> Iterator[Check]:
    who = person(vault.git)
    if who.email:
        yield ok("your name", "your edits are committed as {name}", name=who.name)
        return
    what = "git does not know you: your edits are committed as {name}, without an address"
    call = 'git config --global user.name "…"; git config --global user.email "…"'
    yield warn("your name", what, next=call, name=who.name)


def _listed(name: str, what: str, lines: Sequence[str], next: str = "", **values: object) -> Iterator[Check]:
    if lines:
        yield warn(name, what, tuple(lines), next, count=len(lines), **values)
