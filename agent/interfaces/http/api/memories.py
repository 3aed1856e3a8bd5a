"""Remembering: a fact that the person wants to be kept."""

from typing import Annotated

import msgspec

from agent.errors import UserError
from agent.interfaces.http.operation import Routes, TypedReply
from agent.memory.remember import remember
from agent.workspace.workspace import Workspace

ROUTES = Routes("/api/v1")


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


@ROUTES.post("/remember", "Remember a text", 200, 202, 409, status=201, name="remember")
def remember_text(workspace: Workspace, new: ToRemember) -> TypedReply[RememberedEntry]:
    """Write an entry, or count the one that says the same."""
    vault, text = workspace.vault, new.text
    if not text.strip():
        raise UserError("there is nothing to remember", hint='vault-agent remember "Anna likes green tea"')
    entry, outcome, known = remember(vault, text, tuple(new.keywords), workspace.settings.vault.language)
    done = RememberedEntry(vault.home.at(entry.path), entry.id, outcome.commit, outcome.queued, known)
    return TypedReply(done, status=202 if outcome.queued else 200 if known else 201)
