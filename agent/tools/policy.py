"""Who may use which tool: deny first, then ask, then allow, by tool and by group, in profiles that a run is matched to.

Pure values. Reading them from YAML is `policy_file`'s, obeying them the registry's.
"""

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from agent.tools.tool import RunContext, Tool

DEFAULT = "default"
EVERY = "*"
GROUPS = frozenset(
    {"fs", "search", "memory", "web", "exec", "human", "orchestration", "profile", "tasks", "skills", "schedule"}
)
"""The groups that there are: a misspelt one in a policy would deny nothing, so it is refused."""


class Permission(StrEnum):
    """How a run may use a tool: freely, after a person's yes for each call, or not at all (it is not even shown)."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class Rule:
    """Names one tool (`*` for every one) or one group; the other is empty."""

    tool: str = ""
    group: str = ""

    def covers(self, name: str, groups: Collection[str]) -> bool:
        """Return whether the rule is about a tool of this name and these groups."""
        return self.tool in {name, EVERY} or self.group in groups


@dataclass(frozen=True, slots=True)
class Policy:
    """Rules. `deny` wins over `ask`, `ask` over `allow`; without `allow`, whatever is not denied is allowed."""

    deny: tuple[Rule, ...] = ()
    allow: tuple[Rule, ...] = ()
    ask: tuple[Rule, ...] = ()

    def permission(self, name: str, groups: Collection[str]) -> Permission:
        """Return the permission for a tool of this name and these groups."""
        if any(rule.covers(name, groups) for rule in self.deny):
            return Permission.DENY
        if any(rule.covers(name, groups) for rule in self.ask):
            return Permission.ASK
        if not self.allow or any(rule.covers(name, groups) for rule in self.allow):
            return Permission.ALLOW
        return Permission.DENY


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Which runs a profile is for: every list that is given must fit. `sessions` are beginnings of the note's path.

    A channel is named whole (`lark:room`) or by its service (`lark`), which stands for all of its rooms.
    """

    channels: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()

    def fits(self, context: RunContext) -> bool:
        """Return whether the run fits; an empty filter fits every run."""
        return (
            (not self.channels or {context.channel, context.channel.partition(":")[0]} & set(self.channels) != set())
            and (not self.roles or context.role in self.roles)
            and (not self.sessions or context.session.startswith(self.sessions))
        )


@dataclass(frozen=True, slots=True)
class Profile:
    """A policy and the runs that it is for."""

    name: str
    match: RunFilter
    policy: Policy


@dataclass(frozen=True, slots=True)
class Policies:
    """Profiles in order; the last is `default` and fits every run."""

    profiles: tuple[Profile, ...]

    def choose(self, context: RunContext) -> Profile:
        """Return the first profile that fits the run."""
        return next(profile for profile in self.profiles if profile.match.fits(context))

    def permission(self, tool: Tool, context: RunContext) -> Permission:
        """Return the permission of the run's profile for a tool."""
        return self.choose(context).policy.permission(tool.name, tool.groups)
