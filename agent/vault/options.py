"""The settings of a vault's writes: durability, quiet times, and how much one change may delete.

Where the settings come from is the caller's business.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from agent.config.masking import KnownSecrets
from agent.errors import MassChange
from agent.vault.worktree.paths import is_note

HOLDS_UP = 3.0
"""A file that is saved again and again delays the commit of the others for this many quiet intervals."""
_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Brake:
    """The limit: the larger of `notes` and `share` of all notes."""

    notes: int = 20
    share: float = 0.05

    def limit(self, total: int) -> int:
        """The number of notes that may go, out of `total`."""
        return max(self.notes, int(total * self.share))

    def check(self, lost: Iterable[str], earlier: int, total: int, who: str) -> None:
        """Raises `MassChange` when `lost` paths, and `earlier` ones beside them, are more than the limit."""
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
    """The secrets that must not be written. More of them may become known while the vault is open."""
