"""The settings of a vault's writes: durability, quiet times, and the limit of deletions in one change.

The caller reads the settings.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from typing import Literal

from agent.config.masking import KnownSecrets
from agent.config.receiving_limits import ReceivingLimits
from agent.dataclass import dataclass
from agent.errors import MassChange
from agent.texts import Language, Sentence, joined
from agent.vault.folders import AgentFolder
from agent.vault.worktree.paths import is_note

HOLDS_UP = 3.0
"""Number of quiet intervals for which a file that is saved again and again may delay the commit of the others."""
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Brake:
    """The limit: the larger of `notes` and `share` of all notes."""

    notes: int = 20
    share: float = 0.05

    def limit(self, total: int) -> int:
        """The number of notes, out of `total`, that may be lost."""
        return max(self.notes, int(total * self.share))

    def check(
        self,
        lost: Iterable[str],
        earlier: int,
        total: int,
        who: str,
        yes: str = "need a yes, so nothing was changed",
        hint: str = "look at the list; repeat the command with --yes if you mean it",
    ) -> None:
        """Raise `MassChange` if the `lost` paths and the `earlier` number of lost notes together exceed the limit.

        `who` would lose them; `yes` and `hint` say what that needs.
        """
        names = sorted(path for path in lost if is_note(path))
        limit = self.limit(total)
        if not names or len(names) + earlier <= limit:
            return
        named = joined(names[:_SHOWN], ", ")
        more = Sentence("{shown} and {count} more", shown=named, count=len(names) - _SHOWN)
        raise MassChange(
            "{who} would delete or empty {count} of {total} notes, or take most of their lines; "
            "more than {limit} {yes}: {shown}",
            paths=tuple(names),
            hint=hint,
            who=Sentence(who),
            count=len(names) + earlier,
            total=total,
            limit=limit,
            yes=Sentence(yes),
            shown=more if len(names) > _SHOWN else named,
        )


def no_files() -> tuple[str, ...]:
    """No file is named as the person's own writing."""
    return ()


@dataclass(frozen=True, slots=True)
class Options:
    """The settings for writing; times are in seconds."""

    durable: bool = True
    human_commits: bool = True
    quiet_seconds: float = 30.0
    lock_seconds: float = 5.0
    timeout_seconds: float = 60.0
    brake: Brake = Brake()
    largest: int = 0
    """The size in bytes above which a new file is left out of the person's commits; 0 for no limit."""
    binaries: Literal["leave", "embedded", "commit"] = "commit"
    """Which new files that are no text are committed, too: none, those that a note embeds, or all."""
    largest_embedded: int = 5_000_000
    """The size in bytes above which an embedded file is left out."""
    receiving: ReceivingLimits = ReceivingLimits()
    home: AgentFolder = AgentFolder()
    """Where the agent's folders and notes lie in the vault."""
    language: Language = "en"
    """The language of the vault, in which names of months and weekdays are written."""
    views: bool = False
    """True to add a folder's table for Obsidian with the first note of the folder."""
    mine: Callable[[], Sequence[str]] = no_files
    """Gives the files that are no notes and that the person has written: paths, folders, or patterns with `*`."""
    known: KnownSecrets = field(default_factory=KnownSecrets)
    """The secrets that must not be written. More can be added while the vault is open."""
