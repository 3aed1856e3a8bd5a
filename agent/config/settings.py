"""All settings, with the unit and the reason for the default of each.

A setting is here only if some code uses it. `load` reads the values; the defaults are in `configs/defaults.yaml` only.
A field `section.key` is also the environment variable `VAULT_AGENT_SECTION__KEY`.
"""

from dataclasses import dataclass
from functools import cache
from typing import Annotated, Literal

from agent.config.attention_settings import AttentionSettings
from agent.config.channel_settings import ChannelSettings
from agent.config.growth_settings import GrowthSettings, ReflectionSettings
from agent.config.http_settings import HttpSettings
from agent.config.machine_settings import MachineSettings, SyncSettings
from agent.config.memory_settings import MemorySettings
from agent.config.node_settings import NodeSettings
from agent.config.profile_settings import ProfileSettings
from agent.config.research_settings import ResearchSettings
from agent.config.run_settings import (
    ContextSettings,
    InboxSettings,
    LlmSettings,
    RunSettings,
    SpendSettings,
    ToolSettings,
)
from agent.config.schedule_settings import JobSettings, ScheduleSettings
from agent.config.skill_settings import SkillSettings
from agent.config.values import Range, SettingType, quote_for_message, setting_types
from agent.errors import ConfigError
from agent.texts import Sentence, either, joined


@dataclass(frozen=True, slots=True)
class VaultSettings:
    """Settings of the whole vault."""

    language: Literal["en", "zh"]
    """The language of the notes that the agent writes. Default `en`; `init --language` sets it for a vault."""

    folder: str
    """The folder of the vault in which everything of the agent's lies: its notes, and folders such as `entries/`.
    Default empty: the vault's root. Only a vault's own file has it, as it describes that vault; `init --under` writes
    it, and it does not change while the agent's notes are there."""


@dataclass(frozen=True, slots=True)
class GitSettings:
    """Settings of commits and of git."""

    human_commits: Literal["auto", "off"]
    """`auto` commits the person's edits in the person's name; with `off` the person commits them. Default `auto`:
    committed edits can be undone, and the agent's commits stay separate from the person's."""

    quiet_seconds: Annotated[float, Range(0, 86_400, "seconds")]
    """The time without changes in the vault before the person's edits are committed, in seconds. Default 30: longer
    than an editor's autosave interval and a pause to think, so that a minute of writing is one commit."""

    largest_megabytes: Annotated[float, Range(0, 100_000, "megabytes")]
    """The size above which a new file is left out of the person's commits, in megabytes; 0 for no limit. Default 20:
    what a history has once, it keeps for ever, and each clone and backup copies it. A file that the person adds to git
    is followed like any other."""

    binaries: Literal["leave", "commit"]
    """`leave` leaves new files that are no text (pictures, PDFs) out of the person's commits, `commit` commits them.
    Default `leave`: git keeps a whole copy of each version. A file that the person adds to git is followed like any
    other."""

    durable: bool
    """Sync every write to disk before it counts as done. Default true: git by default does not fsync every write,
    and durability costs about 3 ms per commit."""

    lock_seconds: Annotated[float, Range(0, 600, "seconds")]
    """The maximum wait while another process writes to the same vault, in seconds. Default 5: a write takes well under
    one second, so after a longer wait the command reports the lock and exits with 75."""

    timeout_seconds: Annotated[float, Range(1, 3_600, "seconds")]
    """The maximum time of one call of git, in seconds. Default 60: enough for 50,000 notes on a slow disk, and short
    enough to detect a hanging git."""


@dataclass(frozen=True, slots=True)
class BrakeSettings:
    """The mass-change brake: a run or a pull that removes more than the larger of the two limits stops and asks."""

    notes: Annotated[int, Range(0, 1_000_000, "notes")]
    """Notes that one run with its sub-runs may delete, empty, or remove most lines from without approval. Default 20:
    more than a tidy-up needs, few enough to check."""

    share: Annotated[float, Range(0, 1)]
    """The same as a share of all notes, from 0 to 1. Default 0.05: at 10,000 notes, 500."""


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """Settings of search."""

    keyword: Literal["auto", "whoosh", "tantivy"]
    """The keyword engine. Default `auto`: tantivy if the extra `fast` is installed, else Whoosh, which always is."""

    model: str
    """The embedding model: a name in the local hub cache such as `minishlab/potion-multilingual-128M`, the whole path
    of a folder with a model2vec model, or `shipped`, the vectors that come with the program. Default `auto`: that
    multilingual model if it is in the hub cache, else `shipped`. Nothing is downloaded. A model of 500,000 words takes
    about 10 s to load: a daemon loads it once, and each command that searches loads it for itself."""


@dataclass(frozen=True, slots=True)
class WatchSettings:
    """Settings of the watcher of files."""

    quiet_seconds: Annotated[float, Range(0, 60, "seconds")]
    """The time without changes before a file is checked, in seconds. Default 0.2: a save takes a few milliseconds, and
    a person waits for the search to find it."""

    scan_seconds: Annotated[float, Range(1, 86_400, "seconds")]
    """The time between two comparisons of all files with the known state, in seconds. Default 240: a change that the
    system did not report is found within five minutes."""


@dataclass(frozen=True, slots=True)
class LogSettings:
    """Settings of logging."""

    level: Literal["debug", "info", "warning", "error"]
    """The lowest level of messages that are shown. Default `warning`: results are printed, so silence means success."""


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings; built by `load`, passed on by `app`."""

    vault: VaultSettings
    git: GitSettings
    brake: BrakeSettings
    index: IndexSettings
    watch: WatchSettings
    sync: SyncSettings
    llm: LlmSettings
    spend: SpendSettings
    run: RunSettings
    context: ContextSettings
    memory: MemorySettings
    profile: ProfileSettings
    growth: GrowthSettings
    research: ResearchSettings
    reflection: ReflectionSettings
    skills: SkillSettings
    tools: ToolSettings
    inbox: InboxSettings
    schedule: ScheduleSettings
    jobs: JobSettings
    attention: AttentionSettings
    channels: ChannelSettings
    http: HttpSettings
    node: NodeSettings
    machine: MachineSettings
    log: LogSettings


TRAVELS = frozenset(
    {
        *("vault.language", "vault.folder", "git.human_commits", "git.quiet_seconds", "inbox.every_note"),
        *("sync.quiet_seconds", "sync.interval_seconds"),
    }
)
"""The settings allowed in a vault's own file. Each is about this vault's care, and none can harm the machine of a
person who clones it: no command, path, URL, key or limit, and nothing that weakens durability or the brake.
`sync.*` says when a remote is asked that the person has set up, not which one.
`inbox.every_note` can only take away what the default gives, and `vault.folder` does not change a vault that is in use
on the machine."""
OF_ONE_VAULT = frozenset({"vault.folder"})
"""The settings that only a vault's own file may have."""


RENAMED = {
    "llm.fast_model": "llm.fast.model",
    "llm.key": "llm.api_key",
    "channels.mail.from": "channels.mail.sender",  # `from` is no name in Python
}
"""Former and other names of settings, which count where they are set."""


@cache
def keys() -> tuple[str, ...]:
    """The dotted keys of all settings, in the order above."""
    return tuple(setting_types(Settings))


@cache
def sections() -> frozenset[str]:
    """The names of sections: `git`, not `git.durable`."""
    return frozenset(".".join(key.split(".")[:depth]) for key in keys() for depth in range(1, key.count(".") + 1))


def refuse_of_one_vault(key: str) -> None:
    """Raise `ConfigError` for a setting that only a vault's own file may have."""
    if key in OF_ONE_VAULT:
        raise ConfigError(
            "{key} belongs to one vault", hint="vault-agent init PATH --under FOLDER sets it in a new one", key=key
        )


def setting_type(key: str) -> SettingType:
    """The type of the setting `key`; raises `ConfigError` with similar keys when there is no such setting."""
    found = setting_types(Settings).get(key)
    if found is not None:
        return found
    if key in sections():
        inside = joined((each for each in keys() if each.startswith(f"{key}.")), ", ")
        raise ConfigError("{key} is a section, not a setting", hint="its settings: {inside}", key=key, inside=inside)
    from difflib import get_close_matches

    near = get_close_matches(key, keys(), n=3, cutoff=0.5)
    near = near or [each for each in keys() if key.rpartition(".")[2] == each.rpartition(".")[2]]
    hint = Sentence("vault-agent config list shows all settings")
    if near:
        hint = Sentence("did you mean {names}?", names=either(near))
    raise ConfigError("no such setting: {key}", hint=hint, key=quote_for_message(key))
