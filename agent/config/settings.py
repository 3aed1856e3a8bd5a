"""All settings, with the unit and the reason for the default of each.

A setting is here only if some code uses it. `load` reads the values; the defaults are in `configs/defaults.yaml` only.
A field `section.key` is also the environment variable `VAULT_AGENT_SECTION__KEY`.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache, cached_property
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Generic, Self, TypeVar, cast, overload

from agent.config.secrets import Secret, secrets_in
from agent.config.values import SettingType, SettingValue, build, quote_for_message, setting_types
from agent.errors import ConfigError
from agent.texts import Sentence, either, joined

if TYPE_CHECKING:
    from agent.config.attention_settings import AttentionSettings
    from agent.config.calendar_settings import CalendarSettings
    from agent.config.capture_settings import CaptureSettings
    from agent.config.channel_settings import ChannelSettings
    from agent.config.growth_settings import (
        GrowthSettings,
        JobSettings,
        ReflectionSettings,
        ResearchSettings,
        ScheduleSettings,
    )
    from agent.config.http_settings import HttpSettings
    from agent.config.index_settings import IndexSettings, WatchSettings
    from agent.config.machine_settings import DatabaseSettings, MachineSettings, SyncSettings
    from agent.config.memory_settings import MemorySettings, ProfileSettings
    from agent.config.node_settings import NodeSettings
    from agent.config.run_settings import (
        ContextSettings,
        InboxSettings,
        LlmSettings,
        RunSettings,
        SpendSettings,
        ToolSettings,
    )
    from agent.config.skill_settings import SkillSettings
    from agent.config.vault_settings import AttachmentSettings, BrakeSettings, GitSettings, LogSettings, VaultSettings

T_co = TypeVar("T_co", covariant=True)


class LazySection(Generic[T_co]):
    """An attribute of `Settings` with the section of its name, made when it is first asked for.

    A command needs few sections: the modules of the others, with half a hundred dataclasses, are not loaded for it.
    `place` is the full name of the section's dataclass.
    """

    def __init__(self, place: str) -> None:
        self._place = place

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @cached_property
    def dataclass(self) -> Callable[..., T_co]:
        """The dataclass, imported."""
        module, _, name = self._place.rpartition(".")
        return cast("Callable[..., T_co]", getattr(import_module(module), name))

    @overload
    def __get__(self, settings: None, owner: object = None) -> Self: ...

    @overload
    def __get__(self, settings: "Settings", owner: object = None) -> T_co: ...

    def __get__(self, settings: "Settings | None", owner: object = None) -> Self | T_co:
        if settings is None:
            return self
        made = build(self.dataclass, settings.values, f"{self._name}.")
        vars(settings)[self._name] = made  # found there before this method from now on
        return made


class Settings:
    """All settings; read by `load`, passed on by `app`."""

    vault: "LazySection[VaultSettings]" = LazySection("agent.config.vault_settings.VaultSettings")
    git: "LazySection[GitSettings]" = LazySection("agent.config.vault_settings.GitSettings")
    brake: "LazySection[BrakeSettings]" = LazySection("agent.config.vault_settings.BrakeSettings")
    index: "LazySection[IndexSettings]" = LazySection("agent.config.index_settings.IndexSettings")
    attachments: "LazySection[AttachmentSettings]" = LazySection("agent.config.vault_settings.AttachmentSettings")
    watch: "LazySection[WatchSettings]" = LazySection("agent.config.index_settings.WatchSettings")
    database: "LazySection[DatabaseSettings]" = LazySection("agent.config.machine_settings.DatabaseSettings")
    sync: "LazySection[SyncSettings]" = LazySection("agent.config.machine_settings.SyncSettings")
    llm: "LazySection[LlmSettings]" = LazySection("agent.config.run_settings.LlmSettings")
    spend: "LazySection[SpendSettings]" = LazySection("agent.config.run_settings.SpendSettings")
    run: "LazySection[RunSettings]" = LazySection("agent.config.run_settings.RunSettings")
    context: "LazySection[ContextSettings]" = LazySection("agent.config.run_settings.ContextSettings")
    memory: "LazySection[MemorySettings]" = LazySection("agent.config.memory_settings.MemorySettings")
    profile: "LazySection[ProfileSettings]" = LazySection("agent.config.memory_settings.ProfileSettings")
    growth: "LazySection[GrowthSettings]" = LazySection("agent.config.growth_settings.GrowthSettings")
    research: "LazySection[ResearchSettings]" = LazySection("agent.config.growth_settings.ResearchSettings")
    reflection: "LazySection[ReflectionSettings]" = LazySection("agent.config.growth_settings.ReflectionSettings")
    skills: "LazySection[SkillSettings]" = LazySection("agent.config.skill_settings.SkillSettings")
    tools: "LazySection[ToolSettings]" = LazySection("agent.config.run_settings.ToolSettings")
    inbox: "LazySection[InboxSettings]" = LazySection("agent.config.run_settings.InboxSettings")
    schedule: "LazySection[ScheduleSettings]" = LazySection("agent.config.growth_settings.ScheduleSettings")
    jobs: "LazySection[JobSettings]" = LazySection("agent.config.growth_settings.JobSettings")
    attention: "LazySection[AttentionSettings]" = LazySection("agent.config.attention_settings.AttentionSettings")
    channels: "LazySection[ChannelSettings]" = LazySection("agent.config.channel_settings.ChannelSettings")
    capture: "LazySection[CaptureSettings]" = LazySection("agent.config.capture_settings.CaptureSettings")
    http: "LazySection[HttpSettings]" = LazySection("agent.config.http_settings.HttpSettings")
    node: "LazySection[NodeSettings]" = LazySection("agent.config.node_settings.NodeSettings")
    calendars: "LazySection[CalendarSettings]" = LazySection("agent.config.calendar_settings.CalendarSettings")
    machine: "LazySection[MachineSettings]" = LazySection("agent.config.machine_settings.MachineSettings")
    log: "LazySection[LogSettings]" = LazySection("agent.config.vault_settings.LogSettings")

    def __init__(self, values: "SettingValues") -> None:
        self.values = values
        self._others: dict[str, object] = {}
        """The sections that were put in the place of those of the values."""

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """The secrets that were set: no default is one."""
        found = secrets_in([*self.values.given.values(), *self._others.values()])
        return tuple(each for each in found if each.reference)

    @property
    def addresses(self) -> tuple[str, ...]:
        """The texts that were set and have an address in them."""
        return tuple(each for each in self.values.given.values() if isinstance(each, str) and "://" in each)

    def is_set(self, section: str) -> bool:
        """True if something of a section was set, by the person, the vault or a caller; else it has its defaults."""
        return section in self._others or any(key.startswith(f"{section}.") for key in self.values.given)

    def with_sections(self, **sections: object) -> "Settings":
        """The same settings with other sections of these names."""
        if unknown := sections.keys() - SECTIONS.keys():
            raise TypeError(f"no such sections: {unknown}")
        other = Settings(self.values)
        other._others = self._others | sections
        vars(other).update(other._others)
        return other


class SettingValues(Mapping[str, SettingValue]):
    """The values of all settings by dotted key: those that were given, and the defaults, read when they are asked for.

    `given` has the values that the person, a vault or a caller has set.
    """

    def __init__(self, defaults: Mapping[str, str], chosen: Mapping[str, SettingValue]) -> None:
        self.given = MappingProxyType(chosen)
        self._defaults = defaults

    def __getitem__(self, key: str) -> SettingValue:
        return self.given[key] if key in self.given else setting_type(key).read(self._defaults[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self._defaults)

    def __len__(self) -> int:
        return len(self._defaults)


SECTIONS: Mapping[str, LazySection[object]] = {
    name: each for name, each in vars(Settings).items() if isinstance(each, LazySection)
}
TRAVELS = frozenset(
    {
        *(
            "vault.language",
            "vault.folder",
            "vault.private",
            "git.human_commits",
            "git.quiet_seconds",
            "inbox.every_note",
        ),
        *("sync.quiet_seconds", "sync.interval_seconds"),
    }
)
"""The settings allowed in a vault's own file. Each is about this vault's care, and none can harm the machine of a
person who clones it: no command, path, URL, key or limit, and nothing that weakens durability or the brake.
`sync.*` says when a remote is asked that the person has set up, not which one.
`inbox.every_note` can only take away what the default gives, and `vault.folder` does not change a vault that is in use
on the machine. `vault.private` can only take away what the agent sees."""
OF_ONE_VAULT = {
    "vault.folder": "vault-agent init PATH --under FOLDER sets it in a new one",
    "vault.private": "write it into the vault's vault-agent.yaml",
}
"""The settings that only a vault's own file may have, and how they come there."""
LISTS = frozenset({"vault.private"})
"""The settings that may be written as a list; their text has an item in each line then."""

MAPPINGS = frozenset({"llm.extra", "tools.servers", "calendars.sources"})
"""The settings that may be written as a mapping in a file; their text is its JSON."""
LISTS_INSIDE = ("tools.servers.",)
"""The beginnings of keys in such a mapping that may be a list of words."""

OF_VAULT_HERE = frozenset({"schedule.enabled", "schedule.active_days", "attachments.mine"})
"""The settings of one vault on this machine: set in a vault, they hold for it alone, else the machine's does."""

RENAMED = {
    "llm.fast_model": "llm.fast.model",
    "llm.key": "llm.api_key",
    "channels.mail.from": "channels.mail.sender",  # `from` is no name in Python
    "memory.max_recalls": "context.memories",
}
"""Former and other names of settings, which count where they are set."""
REMOVED = frozenset(
    (
        "context.tools",
        *("growth.gate.spend", "growth.gate.tasks", "growth.mutations.uses"),
        *("memory.ask_for_words", "memory.auto_capture", "memory.chat_merge", "memory.dedupe", "memory.llm_summary"),
        *("memory.summary_above", "memory.workflow_trace_days", "reflection.error_seconds"),
        "reflection.errors_per_run",
    )
)
"""Settings that nothing reads any more: where one is still set, that is said, and is no error."""
FORMER_VALUES = {("memory.capture", "turns"): "facts"}
"""Former values of settings, and what they count as."""


@cache
def keys() -> tuple[str, ...]:
    """The dotted keys of all settings, in the order above."""
    return tuple(f"{name}.{key}" for name, section in SECTIONS.items() for key in setting_types(section.dataclass))


@cache
def sections() -> frozenset[str]:
    """The names of sections: `git`, not `git.durable`."""
    return frozenset(".".join(key.split(".")[:depth]) for key in keys() for depth in range(1, key.count(".") + 1))


def is_section(key: str) -> bool:
    """True for the name of a section, such as `llm.fast`; of the others only that one is loaded."""
    name, _, inside = key.partition(".")
    inner = setting_types(SECTIONS[name].dataclass) if name in SECTIONS else {}
    return name in SECTIONS and (not inside or any(each.startswith(f"{inside}.") for each in inner))


def is_setting(key: str) -> bool:
    """True for the dotted key of a setting."""
    name, _, inside = key.partition(".")
    return name in SECTIONS and inside in setting_types(SECTIONS[name].dataclass)


def channel_names() -> tuple[str, ...]:
    """The names of the channels that reach the person outside of the vault."""
    inside = setting_types(SECTIONS["channels"].dataclass)
    return tuple(dict.fromkeys(key.partition(".")[0] for key in inside if "." in key))


def refuse_of_one_vault(key: str) -> None:
    """Raise `ConfigError` for a setting that only a vault's own file may have."""
    if key in OF_ONE_VAULT:
        raise ConfigError("{key} belongs to one vault", hint=OF_ONE_VAULT[key], key=key)


def setting_type(key: str) -> SettingType:
    """The type of the setting `key`; raises `ConfigError` with similar keys when there is no such setting."""
    if is_setting(key):
        name, _, inner = key.partition(".")
        return setting_types(SECTIONS[name].dataclass)[inner]
    if is_section(key):
        inside = joined((each for each in keys() if each.startswith(f"{key}.")), ", ")
        raise ConfigError("{key} is a section, not a setting", hint="its settings: {inside}", key=key, inside=inside)
    from difflib import get_close_matches

    near = [each for each in keys() if each.startswith(f"{key}_")]
    near = near or [each for each in keys() if key.rpartition(".")[2] == each.rpartition(".")[2]]
    near = near or get_close_matches(key, keys(), n=3, cutoff=0.5)
    hint = Sentence("vault-agent config list shows all settings")
    if near:
        hint = Sentence("did you mean {names}?", names=either(near))
    raise ConfigError("no such setting: {key}", hint=hint, key=quote_for_message(key))
