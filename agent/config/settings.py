"""Every setting there is, with its unit and the reason for its default.

A setting exists here only when something obeys it. Values come from `load`; the defaults themselves stand in
`configs/defaults.yaml` and nowhere else. A field `section.key` is also the environment variable
`VAULT_AGENT_SECTION__KEY`.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from agent.config.memory_settings import MemorySettings
from agent.config.run_settings import (
    ContextSettings,
    InboxSettings,
    LlmSettings,
    RunSettings,
    SpendSettings,
    ToolSettings,
)
from agent.config.skill_settings import SkillSettings
from agent.config.values import Range, SettingType, quote_for_message, setting_types
from agent.errors import ConfigError


@dataclass(frozen=True, slots=True)
class VaultSettings:
    """The vault as a whole."""

    language: Literal["en", "zh"]
    """The language of the notes that the agent writes. Default `en`; `init --language` chooses it per vault."""


@dataclass(frozen=True, slots=True)
class GitSettings:
    """How changes become commits."""

    human_commits: Literal["auto", "off"]
    """`auto` commits what the person edits, in the person's name; `off` leaves it to them. Default `auto`: what is
    committed can be undone, and the agent's commits stay apart from the person's."""

    quiet_seconds: Annotated[float, Range(0, 86_400, "seconds")]
    """How long the vault must lie still before the person's edits are committed, in seconds. Default 10: longer than
    an editor's autosave interval, so that one burst of typing is one commit."""

    durable: bool
    """Force every write through to the disk before it is acknowledged. Default true: git alone calls fsync for
    nothing, and durability costs about 3 ms a commit."""

    lock_seconds: Annotated[float, Range(0, 600, "seconds")]
    """How long to wait while another process writes to the same vault, in seconds. Default 5: a write takes well
    under one, so a longer wait means that something holds on; then the command says so and exits with 75."""

    timeout_seconds: Annotated[float, Range(1, 3_600, "seconds")]
    """How long one call of git may take, in seconds. Default 60: generous for 50,000 notes on a slow disk, and short
    enough that a git that hangs is noticed."""


@dataclass(frozen=True, slots=True)
class BrakeSettings:
    """The mass-change brake: a run or a pull that removes more than the larger of the two limits stops and asks."""

    notes: Annotated[int, Range(0, 1_000_000, "notes")]
    """Notes that one run with its sub-runs may delete, empty, or take most of the lines of, unasked. Default 20: more
    than a tidy-up needs, few enough to check."""

    share: Annotated[float, Range(0, 1)]
    """The same as a share of all notes, from 0 to 1. Default 0.05: at 10,000 notes, 500."""


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """How notes are searched."""

    keyword: Literal["auto", "whoosh", "tantivy"]
    """The keyword engine. Default `auto`: tantivy where the extra `fast` is installed, else Whoosh, which always is."""

    model: str
    """The embedding model: a name in the local hub cache, or a folder. Default `auto`: the best that is there, and the
    vectors that ship with the program in any case."""


@dataclass(frozen=True, slots=True)
class WatchSettings:
    """How changes on disk are noticed."""

    quiet_seconds: Annotated[float, Range(0, 60, "seconds")]
    """How long a file is left alone before it is looked at, in seconds. Default 0.2: a save takes a few milliseconds,
    and a person waits for the search to find it."""

    scan_seconds: Annotated[float, Range(1, 86_400, "seconds")]
    """How often all files are compared with what is known, in seconds. Default 240: what the system did not tell is
    found within five minutes."""


@dataclass(frozen=True, slots=True)
class LogSettings:
    """What is reported while working."""

    level: Literal["debug", "info", "warning", "error"]
    """The least serious message that is shown. Default `warning`: results are printed, so quiet means fine."""


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings; built by `load`, handed down by `app`."""

    vault: VaultSettings
    git: GitSettings
    brake: BrakeSettings
    index: IndexSettings
    watch: WatchSettings
    llm: LlmSettings
    spend: SpendSettings
    run: RunSettings
    context: ContextSettings
    memory: MemorySettings
    skills: SkillSettings
    tools: ToolSettings
    inbox: InboxSettings
    log: LogSettings


TRAVELS = frozenset({"vault.language", "git.human_commits", "git.quiet_seconds"})
"""The settings that may stand in a vault and travel with it. Each is about how this vault is kept, and none can harm
the machine of someone who clones it: no command, path, URL, key or limit, and nothing that weakens durability or the
brake."""


def keys() -> tuple[str, ...]:
    """Every setting's dotted key, in the order above."""
    return tuple(setting_types(Settings))


def sections() -> frozenset[str]:
    """The names that hold settings: `git`, not `git.durable`."""
    return frozenset(".".join(key.split(".")[:depth]) for key in keys() for depth in range(1, key.count(".") + 1))


def setting_type(key: str) -> SettingType:
    """The type of the setting `key`; raises `ConfigError` that lists near matches when there is no such setting."""
    found = setting_types(Settings).get(key)
    if found is not None:
        return found
    if key in sections():
        inside = ", ".join(each for each in keys() if each.startswith(f"{key}."))
        raise ConfigError(f"{key} is a section, not a setting", hint=f"its settings: {inside}")
    from difflib import get_close_matches

    near = get_close_matches(key, keys(), n=3, cutoff=0.5)
    near = near or [each for each in keys() if key.rpartition(".")[2] == each.rpartition(".")[2]]
    hint = f"did you mean {' or '.join(near)}?" if near else "vault-agent config list shows all settings"
    raise ConfigError(f"no such setting: {quote_for_message(key)}", hint=hint)
