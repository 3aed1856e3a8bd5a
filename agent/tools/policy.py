"""The tools that a run may use: deny first, then ask, then allow; and the strict parser of `policy.yaml`."""

from collections.abc import Collection
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from agent.channel_names import OF_PROGRAM
from agent.config.file import BOM, MAX_DEPTH, not_yaml
from agent.config.resources import resource
from agent.config.settings import channel_names
from agent.config.text_file import load_text
from agent.config.values import meant
from agent.dataclass import dataclass
from agent.errors import ConfigError
from agent.texts import Sentence
from agent.tools.tool_names import ACTIONS, EARLIER, TOOL_NAMES, is_known_tool, node_tools, whole_tool

if TYPE_CHECKING:
    from agent.tools.tool import RunContext, Tool


DEFAULT = "default"
EVERY = "*"
GROUPS = frozenset(
    (
        *("fs", "search", "memory", "web", "exec", "node", "human", "orchestration"),
        *("profile", "tasks", "skills", "schedule", "plan", "servers", "calendar"),
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


NAME = "policy.yaml"
_ROLES = ("owner", "guest")
_CHANNELS = (*sorted(OF_PROGRAM), "email", "note")
"""The channels of runs beside those of the settings; a program may name another one, but none that is nearly one."""


def load_policies(config: Path) -> Policies:
    """The policies of the machine with this config directory; raises `ConfigError` with file and line.

    An existing file that cannot be read is an error: the default policy could allow what the file denies.
    """
    own = config / NAME
    text = load_text(own)
    if text is not None:
        return parse_policies(text, str(own))
    shipped = resource("configs") / NAME
    return parse_policies(shipped.read_text("utf-8"), NAME)


def parse_policies(text: str, name: str) -> Policies:
    """The policies in a file's text; `name` is for messages. Raises `ConfigError`."""
    text = text.removeprefix(BOM)
    try:
        _refuse_surprises(text, name)
        root = yaml.compose(text, Loader=yaml.CSafeLoader)
    except yaml.YAMLError as error:
        raise not_yaml(error, name) from error
    if root is None:
        raise ConfigError("{name} is empty", hint="delete it to use the policy that ships", name=name)
    return _Reader(name).policies(root)


def _refuse_surprises(text: str, name: str) -> None:
    depth = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        line = event.start_mark.line + 1 if event.start_mark else 1
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if getattr(event, "anchor", None) is not None:
            raise ConfigError(
                "{name}:{line}: aliases (`&` and `*`) are not allowed here", hint="write it out", name=name, line=line
            )
        if getattr(event, "tag", None) is not None:
            raise ConfigError(
                "{name}:{line}: tags (`!`) are not allowed here", hint="leave it out", name=name, line=line
            )
        if depth > MAX_DEPTH:
            raise ConfigError("{name}:{line}: nested too deeply", name=name, line=line)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Converts YAML nodes to values; `name` is the file's, for messages."""

    name: str

    def fail(self, node: yaml.Node, problem: str, hint: str = "", /, **values: object) -> ConfigError:
        """The error for a node: its place in the file, and the problem with its values."""
        at = {"name": self.name, "line": node.start_mark.line + 1, "problem": Sentence(problem, **values)}
        advice = hint if isinstance(hint, Sentence) else Sentence(hint, **values)
        return ConfigError(Sentence("{name}:{line}: {problem}", **at), hint=advice)

    def policies(self, root: yaml.Node) -> Policies:
        fields = self.mapping(root, ("version", "profiles"))
        if "version" not in fields or self.word(fields["version"]) != "1":
            raise self.fail(fields.get("version", root), "the file must say `version: 1`")
        if "profiles" not in fields:
            raise self.fail(root, "there are no profiles", "add one named `default`")
        nodes = self.items(fields["profiles"])
        profiles = tuple(self.profile(node) for node in nodes)
        names = [profile.name for profile in profiles]
        for node, profile in zip(nodes, profiles, strict=True):
            if names.count(profile.name) > 1:
                raise self.fail(node, "there are two profiles named {profile}", profile=profile.name)
            if (profile.match == RunFilter()) != (profile is profiles[-1]):
                raise self.fail(
                    node, "{profile}: only the last profile is for every run, and it must be", profile=profile.name
                )
        if not profiles or profiles[-1].name != DEFAULT:
            raise self.fail(nodes[-1] if nodes else root, "the last profile must be named `default`")
        return Policies(profiles)

    def profile(self, node: yaml.Node) -> Profile:
        fields = self.mapping(node, ("name", "match", "policy"))
        for name in ("name", "policy"):
            if name not in fields:
                raise self.fail(node, "a profile needs `{field}:`", field=name)
        match = self.match(fields["match"]) if "match" in fields else RunFilter()
        return Profile(self.word(fields["name"]), match, self.policy(fields["policy"]))

    def match(self, node: yaml.Node) -> RunFilter:
        fields = self.mapping(node, ("channels", "roles", "sessions"))
        channels, roles, sessions = (self.words(fields.get(name)) for name in ("channels", "roles", "sessions"))
        for channel in channels:
            service, known = channel.partition(":")[0], (*_CHANNELS, *channel_names())
            near = meant(service, known)
            if near not in ("", service):
                problem = "there is no channel {channel}"
                raise self.fail(fields["channels"], problem, "did you mean {names}?", channel=channel, names=near)
        for role in roles:
            if role not in _ROLES:
                raise self.fail(
                    fields["roles"], "there is no role {role}", "roles are {roles}", role=role, roles=", ".join(_ROLES)
                )
        return RunFilter(channels, roles, sessions)

    def policy(self, node: yaml.Node) -> Policy:
        fields = self.mapping(node, ("deny", "allow", "ask"))
        deny, allow, ask = (self.rules(fields.get(name)) for name in ("deny", "allow", "ask"))
        if "allow" in fields and not allow and not _is_empty_list(fields["allow"]):
            raise self.fail(fields["allow"], "`allow:` says nothing", "write `allow: []` to allow what is not denied")
        return Policy(deny, allow, ask)

    def rules(self, node: yaml.Node | None) -> tuple[Rule, ...]:
        return () if node is None else tuple(self.rule(item) for item in self.items(node))

    def rule(self, node: yaml.Node) -> Rule:
        fields = self.mapping(node, ("tool", "group"))
        if len(fields) != 1:
            raise self.fail(node, "a rule names either a tool or a group", "such as `- group: exec`")
        if "tool" in fields:
            tool = self.word(fields["tool"])
            if tool != EVERY and not is_known_tool(tool):
                raise self.fail(
                    node, "there is no tool {tool}", _near(tool, (*TOOL_NAMES, *ACTIONS, *node_tools())), tool=tool
                )
            return Rule(tool=EARLIER.get(tool, tool))
        group = self.word(fields["group"]).removeprefix("group:")
        if group not in GROUPS:
            raise self.fail(node, "there is no group {group}", _near(group, GROUPS), group=group)
        return Rule(group=group)

    def mapping(self, node: yaml.Node, allowed: Collection[str]) -> dict[str, yaml.Node]:
        if not isinstance(node, yaml.MappingNode):
            raise self.fail(node, "expected {fields}", fields=", ".join(f"`{name}:`" for name in allowed))
        fields: dict[str, yaml.Node] = {}
        for key, value in node.value:
            word = self.word(key)
            if word not in allowed:
                raise self.fail(key, "unknown key {word}", _near(word, allowed), word=ascii(word)[1:-1])
            if word in fields:
                raise self.fail(key, "{word} stands here a second time", word=word)
            fields[word] = value
        return fields

    def items(self, node: yaml.Node) -> list[yaml.Node]:
        if _is_nothing(node):
            return []
        if not isinstance(node, yaml.SequenceNode):
            raise self.fail(node, "expected a list: lines that begin with `- `, or []")
        return list(node.value)

    def words(self, node: yaml.Node | None) -> tuple[str, ...]:
        return () if node is None else tuple(self.word(item) for item in self.items(node))

    def word(self, node: yaml.Node) -> str:
        if not isinstance(node, yaml.ScalarNode) or not node.value.strip():
            raise self.fail(node, "expected a word")
        return str(node.value).strip()


def _is_nothing(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and not node.style and node.value in {"", "~", "null"}


def _is_empty_list(node: yaml.Node) -> bool:
    return isinstance(node, yaml.SequenceNode) and not node.value


def _near(word: str, known: Collection[str]) -> Sentence:
    near = get_close_matches(word, sorted(known), n=1, cutoff=0.6)
    if near:
        return Sentence("did you mean {names}?", names=near[0])
    return Sentence("known are {names}", names=", ".join(sorted(known)))
