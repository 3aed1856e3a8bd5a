"""Forgetting a note that is gone already and that the history still has: what an earlier forgetting has left to do.

A plain `forget` and a crash between the two halves of one with `--purge` leave the same: a commit that took the note
away, with whatever said the same. That commit says which other notes it took and which it changed.
"""

from dataclasses import replace

from agent.errors import NoteGone, UserError
from agent.memory.authorship import FORGET
from agent.memory.forget import Changed, Forgetting, plan_for
from agent.vault.folders import ARCHIVE, FORGOTTEN
from agent.vault.history.commits import Commit, commits
from agent.vault.plumbing.file_changes import Kind
from agent.vault.store import Vault

_LOOKED_AT = 200
"""Commits that changed the note, newest first, among which its last version and earlier forgettings are looked for."""


def is_in_history(vault: Vault, path: str, revision: str = "HEAD") -> bool:
    """Whether some commit of the revision's history has changed the path."""
    return bool(_touching(vault, path, revision, 1))


def plan_past(vault: Vault, path: str) -> Forgetting:
    """What forgetting a note takes that only the history has. Raises `NoteGone` where it has not either.

    Raises `UserError` where the last commit still has it, because the person has deleted it and not committed that.
    """
    names = dict.fromkeys((path, ARCHIVE + path, path.removeprefix(ARCHIVE)))  # the upkeep may have moved it first
    ids = list(dict.fromkeys(oid for name in names for oid in _touching(vault, name, "HEAD", _LOOKED_AT)))
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
    """What the vault still has to forget, by the last version of the note that the history has under these names."""
    asked = [f"{oid}{end}:{vault.place.prefix}{name}" for oid in ids for end in ("", "^") for name in names]
    data = next((each.data for each in vault.git.objects(asked) if each is not None and each.kind == "blob"), None)
    return Forgetting((), (), (), frozenset()) if data is None else plan_for(vault, names[0], data)


def _touching(vault: Vault, path: str, revision: str, limit: int) -> list[str]:
    command = ["rev-list", "--full-history", f"--max-count={limit}", "--end-of-options", revision, "--"]
    return vault.git.run(*command, vault.place.prefix + path, ok=(0, 128)).decode().split()


def _of_forgetting(vault: Vault, oid: str) -> list[Commit]:
    return [each for each in commits(vault, revision=oid, limit=1) if each.tool == FORGET]


def _taken(commit: Commit) -> set[str]:
    """The notes that a forgetting took away; git may have seen one of them as renamed to its tombstone."""
    names = {each.path if each.kind is Kind.DELETED else each.old_path for each in commit.files}
    edited = {each.path for each in commit.files if each.kind in {Kind.EDITED, Kind.CREATED}}
    return {name for name in names - edited if name is not None and not name.startswith(FORGOTTEN)}
