"""A last look for a forgotten text, wherever it could still be: in notes and other files, in git, in state and cache.

It trusts nothing that the purge believes to have done. What the program itself reads again are the notes; everything
else is only searched for the words as they were written, and for the names that the program gave to its notes.
"""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from agent.dataclass import dataclass
from agent.memory.forgetting.forget import ignore
from agent.memory.forgetting.forgotten_statements import ForgottenStatements, own_names
from agent.memory.forgetting.places import find_places, stem_of, text_of
from agent.vault.history.traces import git_files, logged, messages, other_revisions, staged, unreferenced
from agent.vault.history.versions import paths_with
from agent.vault.store import Vault

_LARGEST = 32 << 20
"""Bytes of a file that is looked into."""
_MOST = 20


@dataclass(frozen=True, slots=True)
class LastLook:
    """The places that still hold the text.

    `mentions` are notes of the person that say it, `remaining` everything else: files (absolute if they are outside the
    vault), notes of the program, parts of the history, and references other than backups of purges. `is_unreferenced`
    is set if git still has an object with it that no reference leads to.
    """

    mentions: tuple[str, ...] = ()
    remaining: tuple[str, ...] = ()
    is_unreferenced: bool = False


def last_look(vault: Vault, forgotten: ForgottenStatements, cache: Path, record: Path) -> LastLook:
    """The places in this vault and on this machine that still hold the text; backups of purges aside.

    `record` is the file that says which purge is in progress.
    """
    forgotten = as_quoted(forgotten)
    found = find_places(vault, forgotten, {}, ignore)
    theirs = set(found.mentions)
    notes = {path for path, _ in found.gone} | {each.path for each in found.changed}
    notes |= {path for path in _files_with(vault.place.root, forgotten, vault.place.root) if path not in theirs}
    past = paths_with(vault, lambda path, data: _is_quoted(path, data, forgotten)) - theirs - notes
    remaining = [
        *sorted(notes),
        *(f"{path}, which cannot be read" for path in found.unread if path not in notes),
        *(
            file
            for folder in (vault.private_folder, cache)
            for file in _files_with(folder, forgotten)
            if file != str(record)
        ),
        *(f"the history of {path}" for path in sorted(past)),
        *(f"the message of commit {oid[:10]}" for oid, text in messages(vault) if forgotten.is_quoted(text)),
        *(f"what is staged of {path}" for path, data in staged(vault) if _is_quoted(path, data, forgotten)),
        *(name for name, revision in other_revisions(vault).items() if _is_in_ref(vault, revision, forgotten)),
        *(str(path) for path in git_files(vault) if _has(path, forgotten)),
    ]
    return LastLook(tuple(found.mentions), tuple(remaining[:_MOST]), is_unreferenced(vault, forgotten))


def as_quoted(forgotten: ForgottenStatements) -> ForgottenStatements:
    """The matcher of the same text, without names that a person gave to notes: these may be common words."""
    return replace(forgotten, names=own_names(forgotten.names))


def is_in_state(vault: Vault, forgotten: ForgottenStatements) -> bool:
    """True if the vault's private files, other files of git, or objects that nothing leads to, still have the text."""
    if any(_has(path, as_quoted(forgotten)) for path in git_files(vault)):
        return True
    return bool(next(_files_with(vault.private_folder, forgotten), "")) or is_unreferenced(vault, forgotten)


def is_unreferenced(vault: Vault, forgotten: ForgottenStatements) -> bool:
    """True if git still has an object, or a log of HEAD or the branch, with the text that no reference leads to."""
    logs = any(forgotten.is_quoted(text_of(data)) for data in logged(vault))
    return logs or next(iter(unreferenced_with(vault, forgotten)), "") != ""


def unreferenced_with(vault: Vault, forgotten: ForgottenStatements) -> Iterator[str]:
    """The ids of git's objects with the text to which no reference leads."""
    forgotten = as_quoted(forgotten)
    return (oid for oid, data in unreferenced(vault) if forgotten.is_quoted(text_of(data)))


def _is_in_ref(vault: Vault, revision: str, forgotten: ForgottenStatements) -> bool:
    """True if commits that this revision has, and the branch does not, hold the text."""
    if paths_with(vault, lambda path, data: _is_quoted(path, data, forgotten), revision, "^HEAD"):
        return True
    return any(forgotten.is_quoted(text) for _, text in messages(vault, revision, "^HEAD"))


def _is_quoted(path: str, data: bytes, forgotten: ForgottenStatements) -> bool:
    return forgotten.is_quoted(stem_of(path)) or forgotten.is_quoted(text_of(data))


def _files_with(folder: Path, forgotten: ForgottenStatements, root: Path | None = None) -> Iterator[str]:
    """The files below a folder that quote the text or are named after it, relative to `root`; not what git keeps."""
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != ".git")
        paths = (Path(parent, name) for name in sorted(names))
        yield from (str(path.relative_to(root) if root else path) for path in paths if _has(path, forgotten))


def _has(path: Path, forgotten: ForgottenStatements) -> bool:
    if forgotten.is_quoted(stem_of(path.name)):
        return True
    try:
        if path.is_symlink() or path.stat().st_size > _LARGEST:
            return False
        data = path.read_bytes()
    except OSError:
        return False
    text = data.decode("utf-8", "ignore")
    if data.isascii() and b"\\u" in data:
        text += data.decode("unicode-escape", "ignore")
    return forgotten.is_quoted(text)
