"""Keeps secrets out: every order passes here before it is written to the journal, the queue, a note or a commit.

The program's own words are masked. What a tool or a command wants kept to the letter is refused when it would bring a
secret in; a person's own text, which is in the note already, never is.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

from agent.config.masking import KnownSecrets
from agent.errors import SecretFound
from agent.vault import secrets
from agent.vault.change import Append, Create, Delete, Edit, Move, Request
from agent.vault.message import masked_stamp
from agent.vault.queue import Order
from agent.vault.secrets import without_secrets

_KNOWN = "a key of this machine"


def masked_order(order: Order, known: KnownSecrets) -> Order:
    """The order with `[secret]` in place of secrets in all that its commit says; its changes are the same."""
    subject, body = without_secrets(order.subject, known), without_secrets(order.body, known)
    return replace(order, subject=subject, body=body, stamp=masked_stamp(order.stamp, known))


def masked_request(request: Request, known: KnownSecrets) -> Request:
    """The request with `[secret]` in place of secrets in a new note and in text that is added to the end of one.

    An edit is the same: most of its text may be a person's. Whoever makes it masks what is put in.
    """
    match request:
        case Create(path, data):
            return Create(path, _masked(data, known))
        case Append(path, text):
            return Append(path, _masked(text, known))
        case _:
            return request


def refuse_secrets(requests: Iterable[Request], known: KnownSecrets, exists: Callable[[str], bool]) -> None:
    """Raise `SecretFound` for a change that would bring a secret into a note or into the name of one.

    `exists` says whether there is a note at a path: its name is a person's.
    """
    for request in requests:
        match request:
            case Create(path, data):
                found = _introduced(b"", data, known) + _in_name("", path, known)
            case Append(path, data):
                named = _in_name("", path, known)
                found = _introduced(b"", data, known) + (named if named and not exists(path) else [])
            case Edit(path, base, data):
                found = _introduced(base, data, known)
            case Move(old, path):
                found = _in_name(old, path, known)
            case Delete():
                continue
        if found:
            raise SecretFound(
                f"{without_secrets(path, known)} would keep a secret in history ({', '.join(found)}); "
                "nothing was written",
                hint=_hint(found),
            )


def _hint(found: list[str]) -> str:
    if _KNOWN in found:
        return "leave the key out; the settings have it"
    return f"keep it elsewhere, or put %% {secrets.EXCUSE} %% on its line"


def _introduced(before: bytes, after: bytes, known: KnownSecrets) -> list[str]:
    more = known.count(_text(after)) > known.count(_text(before))
    return [*([_KNOWN] if more else []), *secrets.introduced(before, after)]


def _in_name(before: str, after: str, known: KnownSecrets) -> list[str]:
    return _introduced(before.encode("utf-8", "replace"), after.encode("utf-8", "replace"), known)


def _masked(data: bytes, known: KnownSecrets) -> bytes:
    return without_secrets(_text(data), known).encode("utf-8", "surrogateescape")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
