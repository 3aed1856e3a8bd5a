"""The settings of a vault's writes: durability, quiet times, and the limit of deletions in one change.

The caller reads the settings.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from agent.config.masking import KnownSecrets
from agent.errors import MassChange
from agent.vault.worktree.paths import is_note

HOLDS_UP = 3.0
"""Number of quiet intervals for which a file that is saved again and again may delay the commit of the others."""
_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Brake:
    """The limit: the larger of `notes` and `share` of all notes."""

    notes: int = 20
    share: float = 0.05

    def limit(self, total: int) -> int:
        """The number of notes, out of `total`, that may be lost."""
        return max(self.notes, int(total * self.share))

    def check(self, lost: Iterable[str], earlier: int, total: int, who: str) -> None:
        """Raise `MassChange` if the `lost` paths and the `earlier` number of lost notes together exceed the limit."""
        names = sorted(path for path in lost if is_note(path))
        limit = self.limit(total)
        if not names or len(names) + earlier <= limit:
            return
        shown = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
        raise MassChange(
            f"{who} would delete or empty {len(names) + earlier} of {total} notes, or take most of their lines; "
            f"more than {limit} need a yes. Nothing was changed: {shown}",
            paths=tuple(names),
            hint="look at the list; repeat the command with --yes if you mean it",
        )


@dataclass(frozen=True, slots=True)
class Options:
    """The settings for writing; times are in seconds."""

    durable: bool = True
    human_commits: bool = True
    quiet_seconds: float = 10.0
    lock_seconds: float = 5.0
    timeout_seconds: float = 60.0
    brake: Brake = Brake()
    known: KnownSecrets = field(default_factory=KnownSecrets)
    """The secrets that must not be written. More can be added while the vault is open."""
