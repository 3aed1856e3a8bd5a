"""Changes that are collected until the block of a transaction ends (`Vault.transaction`)."""

from dataclasses import field

from agent.config.masking import KnownSecrets
from agent.dataclass import dataclass
from agent.vault.change import Append, Create, Delete, Edit, Move, Outcome, Request, Stamp
from agent.vault.queue import Order
from agent.vault.worktree.paths import check, check_inside
from agent.vault.write.guard import masked_request


@dataclass(slots=True)
class Transaction:
    """Changes collected until the `with` block ends; then they are one commit, or nothing.

    `outcome` is set after the block. `system` allows the reserved files, for `init` and `undo`.
    """

    system: bool = False
    requests: list[Request] = field(default_factory=list)
    released: list[str] = field(default_factory=list)
    outcome: Outcome = field(default_factory=Outcome)

    def create(self, path: str, data: bytes) -> None:
        """Create a note; the end of the block raises `NoteExists` if there is one already."""
        self.requests.append(Create(check(path, system=self.system), data))

    def edit(self, path: str, base: bytes, data: bytes) -> None:
        """Change `base`, as it was read, into `data`; merged three ways if the note has changed since."""
        self.requests.append(Edit(check_inside(path, system=self.system), base, data))

    def write(self, path: str, base: bytes | None, data: bytes) -> None:
        """Change `base` into `data`, as `edit` does; None: create the note, as `create` does."""
        if base is None:
            self.create(path, data)
        else:
            self.edit(path, base, data)

    def append(
        self, path: str, text: bytes, head: bytes = b"", section: bytes = b"", *, is_block: bool = False
    ) -> None:
        """Add text on a line of its own at the end, or at the end of a section; see `Append`."""
        self.requests.append(Append(check_inside(path, system=self.system), text, head, section, is_block))

    def move(self, path: str, to: str) -> None:
        """Give a note another path; an existing note is never overwritten."""
        self.requests.append(Move(check_inside(path, system=self.system), check(to, system=self.system)))

    def delete(self, path: str, base: bytes | None = None) -> None:
        """Delete a note if its bytes are still `base` (None: any bytes)."""
        self.requests.append(Delete(check_inside(path, system=self.system), base))

    def order(
        self,
        token: str,
        subject: str,
        stamp: Stamp,
        *,
        body: str = "",
        confirmed: bool = False,
        hold: bool = False,
        masked: KnownSecrets | None = None,
    ) -> Order:
        """What was collected as one order; `masked`: with secrets masked in what it adds, these known ones too."""
        requests = self.requests if masked is None else [masked_request(each, masked) for each in self.requests]
        return Order(token, tuple(requests), subject, stamp, body, confirmed, hold, tuple(self.released))

    def release(self, path: str) -> None:
        """Put a note that is held (`Vault.transaction`) into this commit."""
        self.released.append(path)
