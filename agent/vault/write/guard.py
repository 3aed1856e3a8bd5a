"""Keeps secrets out: every order is checked here before it reaches the journal, the queue, a note or a commit.

In the program's own text secrets are masked. Text of a tool or a command must stay literal, so it is refused if it adds
a secret. A person's own text, which is already in the note, is never refused.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

from agent.config.masking import KnownSecrets
from agent.errors import SecretFound
from agent.texts import Sentence, joined
from agent.vault import secrets
from agent.vault.change import Append, Create, Delete, Edit, Move, Request
from agent.vault.message import masked_stamp
from agent.vault.queue import Order
from agent.vault.secrets import without_secrets

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
