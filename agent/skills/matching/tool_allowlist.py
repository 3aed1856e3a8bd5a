"""`allowed-tools`: while skills that name their tools are active, a run has only those.

The result only narrows what the run's policy allows; an unknown name allows nothing.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from agent.skills.reading.skill import Skill

ALWAYS = frozenset({"human_ask", "skill_list", "skill_show", "skill_feedback"})
"""The tools that every skill may use: to ask the person and to read skills."""
_ELSEWHERE = {
    "read": ("vault_read",),
    "write": ("vault_write",),
    "edit": ("vault_edit", "vault_append"),
    "multiedit": ("vault_edit", "vault_append"),
    "glob": ("vault_list",),
    "ls": ("vault_list",),
    "grep": ("search_vault",),
    "bash": ("shell_run",),
    "webfetch": ("web_fetch",),
    "task": ("delegate",),
    "askuserquestion": ("human_ask",),
}
"""The names of other programs for what our tools do."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """The tools, or groups of tools, that active skills allow together: names, some with `*` for any ending."""

    words: frozenset[str]

    def keeps(self, name: str, groups: Collection[str] = ()) -> bool:
        """Whether a tool of this name and these groups is allowed."""
        return name in ALWAYS or any(word in groups or fnmatchcase(name, word) for word in self.words)


def allowance(active: Iterable[Skill]) -> Allowance | None:
    """The tools that the active skills allow together; None where none of them names any, and nothing is narrowed."""
    said = [skill.allowed_tools for skill in active if skill.allowed_tools is not None]
    if not said:
        return None
    words: set[str] = set()
    for word in (word for tools in said for word in tools):
        name = word.partition("(")[0].strip()  # `Bash(git:*)`: the part in brackets is another program's rule
        words.update(_ELSEWHERE.get(name.lower(), (name,)))
    return Allowance(frozenset(words - {""}))
