"""Forgetting a deleted note that the history still has, after an earlier forgetting.

A plain `forget`, and a crash between the two steps of `forget --purge`, leave the same state: a commit that deleted the
note and all that said the same. That commit lists the other notes that it deleted or changed.
"""

from dataclasses import replace

from agent.errors import NoteGone, UserError
from agent.memory.blame import FORGET
from agent.memory.forgetting.forget import Changed, Forgetting, plan_for
from agent.vault.file_changes import Kind
from agent.vault.folders import ARCHIVE, FORGOTTEN
from agent.vault.history.commits import Commit, commits
from agent.vault.history.versions import commits_of_path, versions
from agent.vault.store import Vault

_LOOKED_AT = 200
"""The newest commits of the note among which its last version and earlier forgettings are searched."""


def is_in_history(vault: Vault, path: str, revision: str = "HEAD") -> bool:
    """True if a commit of the revision's history has changed the path."""
    return bool(commits_of_path(vault, path, revision, limit=1))


def plan_past(vault: Vault, path: str) -> Forgetting:
    """The plan for forgetting a note that only the history has. Raises `NoteGone` if the history does not have it.

    Raises `UserError` if the last commit still has it, because the person deleted it without a commit.
    """
    names = dict.fromkeys((path, ARCHIVE + path, path.removeprefix(ARCHIVE)))  # the upkeep may have archived it first
    ids = list(dict.fromkeys(oid for name in names for oid in commits_of_path(vault, name, limit=_LOOKED_AT)))
    if not ids:
        raise NoteGone(f"neither the vault nor its history has {path}", hint="vault-agent log lists what was there")
    for name in names:
        if vault.read_at("HEAD", name) is not None:
            raise UserError(f"the last commit still has {name}", hint="vault-agent commit; then forget that path again")
    found = _plan(vault, [*names], ids)
    earlier = [commit for oid in ids for commit in _of_forgetting(vault, oid)]
    gone = {name for commit in earlier for name in _taken(commit)}
    past = {*names, *(name for name in gone if vault.read(name) is None)}
    known = {each.path for each in found.changed}
    edited = {each.path for commit in earlier for each in commit.files if each.kind is Kind.EDITED} - known
    now = [(name, vault.read(name) or b"") for name in sorted(edited)]
    return replace(
        found,
        gone=tuple((name, data) for name, data in found.gone if name not in past),
        changed=(*found.changed, *(Changed(name, data, data, ()) for name, data in now)),
        past=(path, *sorted(past - {*names})),
    )


def _plan(vault: Vault, names: list[str], ids: list[str]) -> Forgetting:
    """The plan for the notes still in the vault, from the last version of the note under these names in the history."""
    asked = [(oid + end, name) for oid in ids for end in ("", "^") for name in names]
    data = next((each.data for each in versions(vault, asked) if each is not None), None)
    return Forgetting((), (), (), frozenset()) if data is None else plan_for(vault, names[0], data)


def _of_forgetting(vault: Vault, oid: str) -> list[Commit]:
    return [each for each in commits(vault, revision=oid, limit=1) if each.tool == FORGET]


def _taken(commit: Commit) -> set[str]:
    """The notes that a forgetting deleted; git may report one of them as renamed to its tombstone."""
    names = {each.path if each.kind is Kind.DELETED else each.old_path for each in commit.files}
    edited = {each.path for each in commit.files if each.kind in {Kind.EDITED, Kind.CREATED}}
    return {name for name in names - edited if name is not None and not name.startswith(FORGOTTEN)}
