"""The skill checks in `doctor`: the skills that cannot be used, and the reasons."""

from collections.abc import Iterator

from agent.runs.skill_set import skill_library
from agent.vault.health.probe import Check, Level, guarded, ok
from agent.workspace.workspace import Workspace

_NEXT = "mend what is named under skills; then see whether they are there: vault-agent skills list"


def skill_checks(workspace: Workspace) -> list[Check]:
    """Check every skill; a skill or part that cannot be used is named, with its file, line and reason."""
    return guarded("skills", lambda: _skills(workspace))


def _skills(workspace: Workspace) -> Iterator[Check]:
    shelf = skill_library(workspace).snapshot()
    if not shelf.problems:
        yield ok("skills", f"{len(shelf.named)} can be used")
        return
    read = {skill.path for skill in shelf.skills}
    out = {each.path for each in shelf.problems} - read
    odd = {each.path for each in shelf.problems} & read
    said = [f"{len(out)} cannot be used"] if out else []
    said += [f"{len(odd)} {'has' if len(odd) == 1 else 'have'} parts that are left unread"] if odd else []
    lines = tuple(f"{each.path}:{each.line}: {each.reason}" for each in shelf.problems)
    yield Check(Level.WARN, "skills", f"{len(shelf.named)} can be used, {', '.join(said)}", lines, _NEXT)
