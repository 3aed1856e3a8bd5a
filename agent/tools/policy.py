"""The tools that a run may use: deny first, then ask, then allow, by tool and by group, in profiles matched with the
run.

Pure values. Parsing the YAML is left to `policy_file`, enforcing the policy to `registry`.
"""

from collections.abc import Collection
from enum import StrEnum
from typing import TYPE_CHECKING

from agent.dataclass import dataclass
from agent.tools.tool_names import whole_tool

if TYPE_CHECKING:
    from agent.tools.tool import RunContext, Tool

DEFAULT = "default"
EVERY = "*"
GROUPS = frozenset(
    (
        *("fs", "search", "memory", "web", "exec", "node", "human", "orchestration"),
        *("profile", "tasks", "skills", "schedule"),
    )
)
"""All groups: a misspelt one in a policy would deny nothing, so it is refused."""


class Permission(StrEnum):
    """The permission of a run for a tool: free use, a person's approval for each call, or denied and hidden."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class Rule:
    """Names one tool (`*` for all), one action (`jobs.add`) or one group; the other is empty."""

    tool: str = ""
    group: str = ""

    def covers(self, name: str, groups: Collection[str]) -> bool:
        """True if the rule covers a tool with this name and these groups."""
        return self.tool in {name, whole_tool(name), EVERY} or self.group in groups


@dataclass(frozen=True, slots=True)
class Policy:
    """Rules. `deny` precedes `ask`, `ask` precedes `allow`; without `allow`, all that is not denied is allowed."""

    deny: tuple[Rule, ...] = ()
    allow: tuple[Rule, ...] = ()
    ask: tuple[Rule, ...] = ()

    def permission(self, name: str, groups: Collection[str]) -> Permission:
        """The permission for a tool with this name and these groups."""
        if any(rule.covers(name, groups) for rule in self.deny):
            return Permission.DENY
        if any(rule.covers(name, groups) for rule in self.ask):
            return Permission.ASK
        if not self.allow or any(rule.covers(name, groups) for rule in self.allow):
            return Permission.ALLOW
        return Permission.DENY


@dataclass(frozen=True, slots=True)
class RunFilter:
    """The runs of a profile: every given list must match. `sessions` are prefixes of the session note's path.

    A channel is named in full (`lark:room`) or by its service (`lark`), which matches all of its rooms.
    """

    channels: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()

    def fits(self, context: "RunContext") -> bool:
        """True if the run matches; an empty filter matches every run."""
        return (
            (not self.channels or {context.channel, context.channel.partition(":")[0]} & set(self.channels) != set())
            and (not self.roles or context.role in self.roles)
            and (not self.sessions or context.session.startswith(self.sessions))
        )


@dataclass(frozen=True, slots=True)
class Profile:
    """A policy and the runs that it applies to."""

    name: str
    match: RunFilter
    policy: Policy


@dataclass(frozen=True, slots=True)
class Policies:
    """Profiles in order; the last is `default` and matches every run."""

    profiles: tuple[Profile, ...]

    def choose(self, context: "RunContext") -> Profile:
        """The first profile that matches the run."""
        return next(profile for profile in self.profiles if profile.match.fits(context))

    def permission(self, tool: "Tool", context: "RunContext") -> Permission:
        """The permission for a tool in the run's profile."""
        return self.choose(context).policy.permission(tool.name, tool.groups)
