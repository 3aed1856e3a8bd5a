"""Notes and skills as they were before: written back in the person's name."""

from collections.abc import Iterator

from agent.dataclass import dataclass
from agent.errors import NoteGone, UserError
from agent.skills.reading.skill import Skill, SkillSource
from agent.vault.change import Kind, Outcome, Stamp
from agent.vault.history.commits import Commit, resolve
from agent.vault.history.find import commits
from agent.vault.store import Vault

VERSIONS = 50
"""The most versions of a note that are looked for."""
RESTORE = "restore"
"""The tool of a commit that brings back an earlier version of a note."""
_BACK = "skills"
"""The tool of a commit that brings back an earlier text of a skill."""


@dataclass(frozen=True, slots=True)
class NoteVersion:
    """A commit that changed a note, and the note's path in it; the path is empty where the commit deleted it."""

    commit: Commit
    path: str


def versions_of(vault: Vault, path: str) -> Iterator[NoteVersion]:
    """The versions of a note, the newest first, under whatever name it had."""
    name = path
    for commit in commits(vault, path=path, limit=VERSIONS):
        change = next((each for each in commit.files if each.path == name), None)
        if change is None:
            continue
        yield NoteVersion(commit, "" if change.kind is Kind.DELETED else change.path)
        if change.kind is Kind.RENAMED and change.old_path:
            name = change.old_path


def restore_note(vault: Vault, path: str, former: str, commit: str) -> Outcome | None:
    """Write a note as `former` was in a commit; the present text stays in the history. Returns None if it is the same;
    raises `NoteGone` if the commit does not have it."""
    oid = resolve(vault, commit)
    data, now = vault.read_at(oid, former), vault.read(path)
    if data is None:
        hint = "vault-agent log shows what was moved or deleted"
        raise NoteGone("{path} is not in that commit", hint=hint, path=former)
    if data == now:
        return None
    with vault.transaction(f"restore: {path}", Stamp("human", tool=RESTORE), body=f"As in {oid[:10]}.") as change:
        change.write(path, now, data)
    return change.outcome


def earlier_text(vault: Vault, skill: Skill) -> str:
    """The commit with the text of a skill of the vault before the present one; empty if there is none."""
    if skill.source is SkillSource.PACKAGE:
        return ""
    now = vault.read(skill.path)
    for each in versions_of(vault, skill.path):
        if each.path == skill.path and vault.read_at(each.commit.id, skill.path) != now:
            return each.commit.id
    return ""


def roll_back_skill(vault: Vault, skill: Skill, seen: str) -> Outcome:
    """Write a skill's text as it was before its last change, in the commit that the person has `seen`. As any other
    change it has to be looked at again."""
    commit = earlier_text(vault, skill)
    if not commit:
        raise UserError("{name} has no earlier text", hint="vault-agent skills list", name=skill.name)
    data, now = vault.read_at(commit, skill.path), vault.read(skill.path)
    if commit != seen or data is None or now is None:
        raise UserError("{path} has changed since you looked", hint="look at it again", path=skill.path)
    body = f"As in {commit[:10]}."
    with vault.transaction(f"skill({skill.name}): roll back", Stamp("human", tool=_BACK), body=body) as change:
        change.edit(skill.path, now, data)
    return change.outcome
