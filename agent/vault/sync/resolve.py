"""Ends a conflict: the note, the copy beside it with the other version, and the link between them become one note.

One commit of the person's, that `undo` takes back.
"""

from collections.abc import Iterator, Mapping
from dataclasses import field
from enum import StrEnum
from pathlib import Path

from agent.dataclass import dataclass
from agent.errors import NoteGone, UserError
from agent.markdown.note import Note
from agent.vault.change import Outcome, Stamp
from agent.vault.health.status import conflict_copies
from agent.vault.store import Vault
from agent.vault.worktree.paths import is_note

_MARK = " (conflict "
_LAST_LINE = "Conflict copy: "


class ConflictSide(StrEnum):
    """The version that stays: the note's, the copy's, or the copy's below the note's."""

    OURS = "ours"
    THEIRS = "theirs"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class ConflictedNote:
    """A note or another file, with its bytes, and the copies with other versions of it, by path."""

    path: str
    data: bytes
    copies: Mapping[str, bytes] = field(default_factory=dict)


def conflicted_notes(vault: Vault) -> list[ConflictedNote]:
    """All notes that have conflict copies."""
    found: dict[str, None] = {}
    for copy in conflict_copies(vault):
        original = _original(vault, copy)
        if original:
            found[original] = None
    return [each for path in found if (each := _conflicted(vault, path)).copies]


def conflicted_note(vault: Vault, path: str) -> ConflictedNote:
    """The note at a path, or the one that the conflict copy at this path belongs to.

    Raises `NoteGone`, and `UserError` if it has no copy.
    """
    if vault.read(path) is None:
        raise NoteGone("there is no note {path}", hint="vault-agent status lists the conflicts", path=path)
    found = _conflicted(vault, path)
    if not found.copies and _MARK in path:
        original = _original(vault, path)
        found = _conflicted(vault, original) if original else found
    if not found.copies:
        hint = "vault-agent status lists the conflicts"
        raise UserError("{path} has no other version beside it", hint=hint, path=path)
    return found


def resolve(vault: Vault, conflict: ConflictedNote, side: ConflictSide, heading: str) -> Outcome:
    """Keep one version, or both with `heading` above the other ones, and remove the copies; one commit.

    Raises `UserError` for a choice that this file does not allow.
    """
    after = _after(conflict, side, heading)
    subject = f"human(conflict): kept {side} of {conflict.path}"
    with vault.transaction(subject, Stamp("human", tool="resolve"), confirmed=True) as change:
        if after != conflict.data:
            change.edit(conflict.path, conflict.data, after)
        for copy, data in conflict.copies.items():
            change.delete(copy, data)
    return change.outcome


def _after(conflict: ConflictedNote, side: ConflictSide, heading: str) -> bytes:
    path, copies = conflict.path, [*conflict.copies.values()]
    if side is ConflictSide.BOTH and not is_note(path):
        raise UserError("{path} is no note, so the two cannot be put together", hint="--ours or --theirs", path=path)
    if side is ConflictSide.THEIRS and len(copies) > 1:
        raise UserError(
            "{path} has {count} other versions",
            hint="--both, and then delete what you do not want; or --ours",
            path=path,
            count=len(copies),
        )
    if side is ConflictSide.THEIRS:
        return _without_mark(copies[0]) if is_note(path) else copies[0]
    if not is_note(path):
        return conflict.data
    data = _without_links(conflict.data, [*conflict.copies])
    for copy in copies if side is ConflictSide.BOTH else ():
        text = Note.parse(copy).body.strip("\r\n").encode("utf-8", "surrogateescape")
        gap = b"" if data.endswith(b"\n") or not data else b"\n"
        data += gap + f"\n## {heading}\n\n".encode() + text + b"\n"
    return data


def _without_mark(data: bytes) -> bytes:
    note = Note.parse(data)
    return note.without_key("conflict_of").data if "conflict_of" in note.header else data


def _without_links(data: bytes, copies: list[str]) -> bytes:
    """The note without the links to these copies."""
    ours = {_link(copy) for copy in copies}
    note = Note.parse(data)
    if note.problem is None and "conflicts" in note.header:
        left = [link for link in note.strings("conflicts") if link not in ours]
        return (note.with_key("conflicts", left) if left else note.without_key("conflicts")).data
    lines = {f"\n{_LAST_LINE}{link}\n".encode() for link in ours}
    for line in lines:
        data = data.replace(b"\n" + line, b"\n").replace(line, b"")
    return data


def _link(copy: str) -> str:
    return f"[[{copy.removesuffix('.md')}]]"


def _target(link: str) -> str:
    return link.strip().removeprefix("[[").removesuffix("]]").partition("|")[0].removesuffix(".md")


def _conflicted(vault: Vault, path: str) -> ConflictedNote:
    data = vault.read(path)
    if data is None:
        return ConflictedNote(path, b"")
    named = dict.fromkeys([*_linked(vault, path, data), *_beside(vault, path)]) if _MARK not in path else {}
    copies = {copy: found for copy in named if copy != path and (found := vault.read(copy)) is not None}
    return ConflictedNote(path, data, copies)


def _linked(vault: Vault, path: str, data: bytes) -> Iterator[str]:
    """The copies that the note's header names, and that are of no other note."""
    note = Note.parse(data)
    for link in note.strings("conflicts") if note.problem is None else ():
        copy = f"{_target(link)}.md"
        if _MARK not in copy:
            continue
        original = _named(vault, copy)
        if original in {"", path} or vault.read(original) is None:
            yield copy


def _beside(vault: Vault, path: str) -> Iterator[str]:
    """The copies beside a file that belong to it by their name, and by their header if they are notes."""
    folder, slash, name = path.rpartition("/")
    stem, dot, ending = name.rpartition(".")
    begins, ends = f"{stem or name}{_MARK}", f"){dot}{ending}" if stem else ")"
    try:
        names = sorted(each.name for each in Path(vault.place.root, folder).iterdir())
    except OSError:
        return
    for each in names:
        copy = f"{folder}{slash}{each}"
        if each.startswith(begins) and each.endswith(ends):
            original = _named(vault, copy) if is_note(copy) else path
            if original in {"", path}:
                yield copy


def _named(vault: Vault, copy: str) -> str:
    """The note that a copy's header names; empty if its header cannot be read."""
    link = Note.parse(vault.read(copy) or b"").string("conflict_of")
    return f"{_target(link)}.md" if link else ""


def _original(vault: Vault, copy: str) -> str:
    """The note that a copy belongs to; empty if it is gone."""
    folder, slash, name = copy.rpartition("/")
    before, _, rest = name.rpartition(_MARK)
    ending = rest.rpartition(")")[2]
    for path in (_named(vault, copy), f"{folder}{slash}{before}{ending}"):
        if path and vault.read(path) is not None:
            return path
    return ""
