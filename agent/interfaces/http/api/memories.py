"""Remembering: a fact that the person wants to be kept."""

from typing import Annotated

import msgspec

from agent.errors import UserError
from agent.interfaces.http.operation import Call, NoParams, Operation, TypedReply
from agent.memory.remember import remember


class ToRemember(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A text in whole sentences, with names."""

    text: Annotated[str, msgspec.Meta(min_length=1, max_length=20_000)]
    keywords: Annotated[list[Annotated[str, msgspec.Meta(max_length=100)]], msgspec.Meta(max_length=50)] = (
        msgspec.field(default_factory=list)
    )


class RememberedEntry(msgspec.Struct, frozen=True):
    """The entry; `known`: it was there already, and is counted again."""

    path: str
    id: str
    commit: str | None
    queued: str | None
    known: bool


def remember_text(call: Call[NoParams, ToRemember]) -> TypedReply[RememberedEntry]:
    """Write an entry, or count the one that says the same."""
    vault, text = call.service.workspace.vault, call.body.text
    if not text.strip():
        raise UserError("there is nothing to remember", hint='vault-agent remember "Anna likes green tea"')
    entry, outcome, known = remember(vault, text, tuple(call.body.keywords))
    done = RememberedEntry(vault.home.at(entry.path), entry.id, outcome.commit, outcome.queued, known)
    return TypedReply(done, status=202 if outcome.queued else 200 if known else 201)


OPERATIONS = (
    Operation("POST", "/api/v1/remember", "remember", "Remember a text", remember_text, RememberedEntry, NoParams,
              ToRemember, 201, (200, 202, 409)),
)  # fmt: skip
