"""The notes of the history that a forgetting changes: every version of every note that says the text, or is named so.

Notes that the forgetting deletes, and entries that said it and are gone since, are taken out whole. In other notes a
mark stands for the text, or lines are missing as they are now. The last commit's versions are as they should be, so
they stay, and so does every version of a person's own note that still says it there. Of a record every version is
looked at: the names of other notes in one of its rows may spell the text again, in scripts without spaces.
"""

from agent.dataclass import dataclass
from agent.memory.entry import parse_entry
from agent.memory.forgetting.forgotten_statements import ForgottenStatements
from agent.memory.forgetting.places import (
    Forgetting,
    is_derived,
    is_record,
    line_without,
    record_without,
    renamed,
    stem_of,
    text_of,
    words_of_entry,
)
from agent.memory.store import ARCHIVED
from agent.vault.folders import ENTRIES, FORGOTTEN, AgentFolder
from agent.vault.history.purge import Cleaning
from agent.vault.history.versions import paths_with, versions
from agent.vault.store import Vault

_SUBJECT = "memory(forget): (removed)"


def cleaning_of(vault: Vault, forgetting: Forgetting) -> tuple[Cleaning, ForgottenStatements]:
    """The cleaning that `history.purge` has to do, once the notes are as the forgetting leaves them.

    Returned with what recognises the text and the names of all notes that go, or were named after it.
    """
    named = (*(path for path, _ in forgetting.gone), *forgetting.past)
    home = vault.home
    gone = {name for path in named for name in home.with_archived(path)}
    earlier = _earlier(vault, forgetting)
    gone |= earlier.lost
    moved = {path: to for path, to in earlier.moved.items() if path not in gone}
    names = dict.fromkeys(map(stem_of, gone), "") | {stem_of(old): stem_of(new) for old, new in moved.items()}
    forgotten = earlier.forgotten.with_names(names)
    concerned = paths_with(vault, lambda path, data: _is_concerned(home, path, data, forgotten)) - gone
    now = _versions_now(vault, forgetting, sorted(concerned))
    theirs = [path for path in concerned if path in now and not (is_derived(home, path) or is_record(home, path))]
    stays = {path for path in theirs if forgotten.stands_in(text_of(now[path]))}

    def content(path: str, data: bytes) -> bytes | None:
        if path in gone:
            return None
        if now.get(path) == data:
            return data
        return (
            _lines_without(data, forgotten, now.get(path, b""))
            if is_derived(home, path)
            else record_without(data, forgotten)
        )

    paths = sorted(gone | moved.keys() | (concerned - stays))
    return Cleaning(paths, content, _SUBJECT, frozenset(gone), moved, forgotten.redacted), forgotten


@dataclass(frozen=True, slots=True)
class _Earlier:
    """The notes in the history only: entries that said it, records named after it with their new names; and
    `forgotten`, which knows the statements of these entries, too."""

    lost: frozenset[str]
    moved: dict[str, str]
    forgotten: ForgottenStatements


def _earlier(vault: Vault, forgetting: Forgetting) -> _Earlier:
    forgotten, texts, named = forgetting.forgotten, dict[str, str](), dict[str, bytes]()

    def is_meant(path: str, data: bytes) -> bool:
        if not vault.home.holds(path, ENTRIES, ARCHIVED):
            if is_named := _is_named(vault.home, path, forgotten):
                named[path] = data
            return is_named
        if not _says(data, forgotten):
            return False
        texts[path] = words_of_entry(data)
        return True

    found = paths_with(vault, is_meant)
    now = _versions_now(vault, forgetting, sorted(found))
    lost = frozenset(path for path in texts if path not in now)
    moved = {path: renamed(path, forgotten.mark, data) for path, data in named.items() if path not in now}
    return _Earlier(lost, moved, forgotten.with_statements(texts[path] for path in sorted(lost)))


def _is_concerned(home: AgentFolder, path: str, data: bytes, forgotten: ForgottenStatements) -> bool:
    if home.holds(path, FORGOTTEN):
        return False
    text = text_of(data)
    if home.holds(path, ENTRIES, ARCHIVED):
        return forgotten.is_near(text) and (_says(data, forgotten) or forgotten.without_names(text) != text)
    return _is_named(home, path, forgotten) or (
        forgotten.is_near(text) and (forgotten.stands_in(text) or forgotten.redacted(text) != text)
    )


def _says(data: bytes, forgotten: ForgottenStatements) -> bool:
    """True if the text of an entry says it; its header has only names."""
    entry = parse_entry(data)
    return forgotten.stands_in(text_of(data) if entry is None else entry.text)


def _versions_now(vault: Vault, forgetting: Forgetting, paths: list[str]) -> dict[str, bytes]:
    """The bytes that these notes have once the forgetting is carried out; without those that are not there then."""
    found = zip(paths, versions(vault, [("HEAD", path) for path in paths]), strict=True)
    now = {path: each.data for path, each in found if each is not None}
    for each in forgetting.changed:
        now.pop(each.path, None)
        now[each.to or each.path] = each.after
    return now


def _is_named(home: AgentFolder, path: str, forgotten: ForgottenStatements) -> bool:
    """True for a record that is named after the text."""
    return is_record(home, path) and forgotten.is_name(stem_of(path))


def _lines_without(data: bytes, forgotten: ForgottenStatements, now: bytes) -> bytes:
    """A version of a note of lines, without those that say the text; the lines that are in it now stay."""
    stay = set(text_of(now).splitlines())
    rows = text_of(data).splitlines(keepends=True)
    left = (row if row.rstrip("\r\n") in stay else line_without(row, forgotten) for row in rows)
    return "".join(left).encode("utf-8", "surrogateescape")
