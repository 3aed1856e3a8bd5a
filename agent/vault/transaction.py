"""Changes that are collected until a transaction ends, checked for secrets and private notes, and queued on disk."""

import base64
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, field, replace
from pathlib import Path

from agent.config import durable, private
from agent.config.masking import KnownSecrets
from agent.dataclass import dataclass
from agent.errors import BadPath, SecretFound
from agent.json_value import parse_json
from agent.texts import Sentence, joined
from agent.vault import secrets
from agent.vault.change import Append, Arrival, Create, Delete, Edit, Move, Outcome, Request, Stamp, parse_stamp
from agent.vault.message import masked_stamp
from agent.vault.private_notes import PrivateNotes
from agent.vault.secrets import without_secrets
from agent.vault.worktree.paths import check, check_inside

_KINDS: dict[str, type[Request]] = {
    "create": Create,
    "edit": Edit,
    "append": Append,
    "move": Move,
    "delete": Delete,
}
_BYTES = frozenset({"data", "base", "text", "head", "section"})
"""The fields of requests that are bytes."""


@dataclass(frozen=True, slots=True)
class Order:
    """A transaction as its caller asked for it. `confirmed`: a person has agreed to a mass change.

    `hold`: the notes are written now and committed later (`write.holding`); `waits`: in the evening, or with the next
    commit that writes into the same log. `release`: paths of held notes that are committed, or wait, with this.
    `arrival`: in place of a new commit, the branch moves to that one; such an order never waits.
    """

    token: str
    requests: tuple[Request, ...]
    subject: str
    stamp: Stamp
    body: str = ""
    confirmed: bool = False
    hold: bool = False
    waits: bool = False
    release: tuple[str, ...] = ()
    arrival: Arrival | None = None
    message: str = ""
    """The whole message of the commit, in place of `subject`, `stamp` and `body`; such an order never waits."""


@dataclass(frozen=True, slots=True)
class Queue:
    """The waiting orders of one vault."""

    folder: Path

    def put(self, order: Order) -> None:
        """Store an order; durable when this returns."""
        assert order.arrival is None
        document = {**asdict(order), "requests": [_dump(request) for request in order.requests]}
        durable.replace(self._path(order.token), json.dumps(document))

    def waiting(self) -> Iterator[Order]:
        """The orders, oldest first; a file that cannot be read is set aside."""
        for path in sorted(self.folder.glob("*.json")):
            try:
                order = _load(parse_json(path.read_bytes()))
            except (OSError, ValueError, LookupError, TypeError, AttributeError, AssertionError) as error:
                self.set_aside(path.stem, f"unreadable: {error}")
                continue
            yield order

    def count(self) -> int:
        """The number of waiting orders."""
        return len(list(self.folder.glob("*.json")))

    def done(self, token: str) -> None:
        """Remove an order that was carried out."""
        self._path(token).unlink(missing_ok=True)

    def set_aside(self, token: str, reason: str) -> None:
        """Move an order that cannot be carried out, with the reason, to the folder that `failed` reads."""
        failed = self.folder / "failed"
        private.make_folder(failed)
        private.write(failed / f"{token}.reason", reason.encode("utf-8", "replace"))
        self._path(token).replace(failed / f"{token}.json")

    def failed(self) -> dict[str, str]:
        """The orders that could not be carried out: file to reason."""
        return {
            str(path.with_suffix(".json")): path.read_text("utf-8", "replace")
            for path in sorted(self.folder.glob("failed/*.reason"))
        }

    def _path(self, token: str) -> Path:
        return self.folder / f"{token}.json"


def _dump(request: Request) -> dict[str, str | None]:
    kind = next(name for name, cls in _KINDS.items() if type(request) is cls)
    fields = {
        name: base64.b64encode(value).decode() if isinstance(value, bytes) else value
        for name, value in asdict(request).items()
    }
    return {"kind": kind, **fields}


def _load(document: dict[str, object]) -> Order:
    requests = document["requests"]
    stamp = document["stamp"]
    assert isinstance(requests, list) and isinstance(stamp, dict)
    return Order(
        str(document["token"]),
        tuple(_request(dict(item)) for item in requests),
        str(document["subject"]),
        parse_stamp(stamp),
        str(document["body"]),
        bool(document["confirmed"]),
        waits=document.get("waits") is True,
        release=tuple(map(str, document.get("release", ()))),  # type: ignore[call-overload]
    )


def _request(fields: dict[str, str | None]) -> Request:
    kind = _KINDS[str(fields.pop("kind"))]
    decoded = {
        name: base64.b64decode(value)
        if value is not None and name in {"data", "base", "text", "head", "section"}
        else value
        for name, value in fields.items()
    }
    return kind(**decoded)  # type: ignore[arg-type]


_KNOWN = "a key of this machine"


def masked_order(order: Order, known: KnownSecrets) -> Order:
    """The order with `[secret]` in place of secrets in everything that goes into the commit message."""
    subject, body = without_secrets(order.subject, known), without_secrets(order.body, known)
    return replace(order, subject=subject, body=body, stamp=masked_stamp(order.stamp, known))


def masked_request(request: Request, known: KnownSecrets) -> Request:
    """The request with `[secret]` in place of secrets in a new note, or in text added at the end of one.

    An edit is unchanged, because most of its text may be a person's: its caller masks the text that it adds.
    """
    match request:
        case Create(path, data):
            return Create(path, _masked(data, known))
        case Append(text=text, head=head):
            return replace(request, text=_masked(text, known), head=_masked(head, known))
        case _:
            return request


def refuse_private(requests: Iterable[Request], private_notes: PrivateNotes) -> None:
    """Raise `BadPath` for a change of a program in a private note, or where one would be private."""
    for request in requests:
        for path in (request.path, *([request.to] if isinstance(request, Move) else [])):
            if private_notes.have(path):
                raise BadPath("{path} is not for the agent", hint="the person keeps it private", path=path)


def refuse_secrets(requests: Iterable[Request], known: KnownSecrets, exists: Callable[[str], bool]) -> None:
    """Raise `SecretFound` for a change that would add a secret to a note or to a note's name.

    `exists` returns True for a path with a note: an existing name is the person's choice.
    """
    for request in requests:
        match request:
            case Create(path, data):
                found = _introduced(b"", data, known) + _in_name("", path, known)
            case Append(path, data, head):
                named = _in_name("", path, known)
                found = _introduced(b"", head + data, known) + (named if named and not exists(path) else [])
            case Edit(path, base, data):
                found = _introduced(base, data, known)
            case Move(old, path):
                found = _in_name(old, path, known)
            case Delete():
                continue
        if found:
            raise SecretFound(
                "{path} would keep a secret in history ({kinds}); nothing was written",
                hint=_hint(found),
                path=without_secrets(path, known),
                kinds=joined(map(Sentence, found), ", "),
            )


def _hint(found: list[str]) -> Sentence:
    if _KNOWN in found:
        return Sentence("leave the key out; the settings have it")
    return Sentence("keep it elsewhere, or put %% {excuse} %% on its line", excuse=secrets.EXCUSE)


def _introduced(before: bytes, after: bytes, known: KnownSecrets) -> list[str]:
    more = known.count(_text(after)) > known.count(_text(before))
    return [*([_KNOWN] if more else []), *secrets.introduced(before, after)]


def _in_name(before: str, after: str, known: KnownSecrets) -> list[str]:
    return _introduced(before.encode("utf-8", "replace"), after.encode("utf-8", "replace"), known)


def _masked(data: bytes, known: KnownSecrets) -> bytes:
    return without_secrets(_text(data), known).encode("utf-8", "surrogateescape")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


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
        body: str = "",
        *,
        confirmed: bool = False,
        hold: bool = False,
        waits: bool = False,
        masked: KnownSecrets | None = None,
    ) -> Order:
        """What was collected as one order; `masked`: with secrets masked in what it adds, these known ones too."""
        requests = self.requests if masked is None else [masked_request(each, masked) for each in self.requests]
        return Order(token, tuple(requests), subject, stamp, body, confirmed, hold, waits, tuple(self.released))

    def release(self, *paths: str) -> None:
        """Put notes that are held (`Vault.transaction`) into this commit."""
        self.released += paths
