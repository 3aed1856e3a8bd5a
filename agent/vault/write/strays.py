"""Temporary files of a transaction that a crash left and a person has moved away, with the folder they were in."""

import os
from collections.abc import Iterator

from agent.vault.plumbing.object_ids import has_id
from agent.vault.worktree.paths import TEMPORARY
from agent.vault.write.journal import JournalRecord
from agent.vault.write.writer import Writer


def settle_strays(writer: Writer, record: JournalRecord) -> None:
    """Remove what is left of a settled transaction anywhere in the vault; bytes of a person's in it are rescued."""
    known = {oid for plan in record.changes for oid in (plan.before, plan.after) if oid}
    names = {plan.temporary: plan.path.rpartition("/")[2] for plan in record.changes}
    for folder, name in _found(writer, record.token):
        meant = next((path for temporary, path in names.items() if f"{name}.".startswith(f"{temporary}.")), "note.md")
        beside = folder + meant
        data = writer.files.beside(beside, name)
        if data is not None and not any(has_id(data, oid) for oid in known):
            writer.rescue(beside, data)
        writer.files.discard(beside, name)


def _found(writer: Writer, token: str) -> Iterator[tuple[str, str]]:
    """The folders (empty, or ending in a slash) and names of the files that begin as those of this transaction do."""
    root = writer.place.root
    for folder, names, files in os.walk(root):
        names[:] = [name for name in names if name != ".git"]
        inside = os.path.relpath(folder, root)
        for name in files:
            if name.startswith(f"{TEMPORARY}{token}"):
                yield "" if inside == "." else f"{inside}/", name
