"""Commit messages: one line `type(scope): what`, the reason, and trailers that name the actor and the run."""

import re
from collections.abc import Iterable
from dataclasses import replace

from agent.config.masking import KnownSecrets
from agent.errors import UserError
from agent.markdown.title import shortened
from agent.vault.change import Stamp, ToolWork
from agent.vault.secrets import without_secrets

SUBJECT = 72
"""Columns of a subject: beside a short commit id, it fits a terminal of 80."""
_LINE = 120
_ACTOR = re.compile(r"human|agent|http|(job|mcp):[\w.@/-]{1,100}")
_TRAILER_VALUE = re.compile(r"[^\x00-\x1f\x7f]{0,200}")
_WORK_VALUE = re.compile(r"[^\x00-\x1f\x7f]*")


def compose(subject: str, stamp: Stamp, body: str = "", work: Iterable[ToolWork] = (), *, known: KnownSecrets) -> str:
    """The whole message, with `[secret]` in place of secrets: `known` values and text that looks like one. `work`: what
    tools have changed, if it is committed with more.

    Raises `UserError` for a trailer value that would break out of its line.
    """
    subject, stamp, body = without_secrets(subject, known), masked_stamp(stamp, known), without_secrets(body, known)
    trailers = [("Vault-Actor", stamp.actor), ("Vault-Run", stamp.run), ("Vault-Tool", stamp.tool)]
    trailers += [("Vault-Session", stamp.session), ("Vault-Call", stamp.call)]
    trailers += [("Vault-Call", without_secrets(each.trailer, known)) for each in work]
    trailers += [("Vault-Undoes", commit) for commit in stamp.undoes] + [("Vault-Untrusted", stamp.untrusted)]
    if not _ACTOR.fullmatch(stamp.actor):
        raise UserError("{actor!r} is no actor", hint="human, agent, http, job:<id> or mcp:<client>", actor=stamp.actor)
    for name, value in trailers:
        if not (_WORK_VALUE if name == "Vault-Call" else _TRAILER_VALUE).fullmatch(value):
            raise UserError("{name} must be one line of at most 200 characters", name=name)
    line = shortened(one_line(subject), SUBJECT)
    parts = [line, body.strip(), "\n".join(f"{name}: {value}" for name, value in trailers if value)]
    return "\n\n".join(part for part in parts if part) + "\n"


def masked_stamp(stamp: Stamp, known: KnownSecrets) -> Stamp:
    """The stamp with secrets masked, except actor, run and undone commits: those names come from this program."""
    tool, session, call = (without_secrets(value, known) for value in (stamp.tool, stamp.session, stamp.call))
    return replace(stamp, tool=tool, session=session, call=call)


def one_line(text: str) -> str:
    """The text on one line, without control characters, cut at 120 columns."""
    flat = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return shortened(flat, _LINE)
