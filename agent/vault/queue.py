"""Accepted writes that wait on disk, outside the vault, until the repository is free (for example after a rebase).

An order is stored whole, contents included, and carried out in the order of arrival. An order that cannot be carried
out any more is set aside with the reason, and shown to the person.
"""

import base64
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from agent.config import private
from agent.dataclass import dataclass
from agent.json_value import parse_json
from agent.vault import durable
from agent.vault.change import Append, Arrival, Create, Delete, Edit, Move, Request, Stamp

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

    `hold`: the notes are written now and committed later (`write.held`). `release`: paths of held notes that are
    committed with this. `arrival`: in place of a new commit, the branch moves to that one; such an order never waits.
    """

    token: str
    requests: tuple[Request, ...]
    subject: str
    stamp: Stamp
    body: str = ""
    confirmed: bool = False
    hold: bool = False
    release: tuple[str, ...] = ()
    arrival: Arrival | None = None


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
        Stamp(**{**stamp, "undoes": tuple(stamp["undoes"])}),
        str(document["body"]),
        bool(document["confirmed"]),
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
