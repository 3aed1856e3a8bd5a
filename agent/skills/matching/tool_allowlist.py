"""`allowed-tools`: limits a run to the tools named by its active skills.

The result only restricts what the run's policy allows; an unknown name allows nothing.
"""

from collections.abc import Collection, Iterable
from fnmatch import fnmatchcase

from agent.dataclass import dataclass
from agent.skills.reading.skill import Skill

ALWAYS = frozenset({"human_ask", "skills"})
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
"""The tool names of other programs, with the matching tools of this one."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """The tools, or groups of tools, allowed by the active skills together: names, or prefixes with `*`."""

    words: frozenset[str]

    def keeps(self, names: Collection[str], groups: Collection[str] = ()) -> bool:
        """True if a tool that each of these names stands for, with these groups, is allowed."""
        is_named = (fnmatchcase(name, word) for name in names for word in self.words)
        return not ALWAYS.isdisjoint(names) or not self.words.isdisjoint(groups) or any(is_named)


def has_left_trace(skill: Skill, used: Collection[str]) -> bool:
    """True if the tools that a run has used show that it followed a skill: one of those that the skill names, or any
    where it names none."""
    named, tools = allowance([skill]), [each for each in used if each.partition(".")[0] not in ALWAYS]
    return bool(tools) if named is None else any(named.keeps((each,)) for each in tools)


def allowance(active: Iterable[Skill]) -> Allowance | None:
    """The tools that the active skills allow together; None, for no limit, if none of them names any."""
    limits = [skill.allowed_tools for skill in active if skill.allowed_tools is not None]
    if not limits:
        return None
    words: set[str] = set()
    for word in (word for tools in limits for word in tools):
        name = word.partition("(")[0].strip()  # `Bash(git:*)`: the part in brackets is a rule of another program
        words.update(_ELSEWHERE.get(name.lower(), (name,)))
    return Allowance(frozenset(words - {""}))
