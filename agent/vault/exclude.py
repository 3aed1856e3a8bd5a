"""Ignore rules in the repository's own `info/exclude`, for a vault with the person's own `.gitignore`.

The file is not part of the vault, is neither cloned nor pushed, and is read by every git. The rules come from the
template.
"""

import re

from agent.errors import AgentError, BadPath, os_reason
from agent.vault.worktree.files import Files

PATH = "info/exclude"
_TITLE = "# vault-agent: what changes all day and says nothing"
_SPECIAL = re.compile(r"([\\*?\[\]])")


def rules(gitignore: bytes) -> list[str]:
    """The rules of a `.gitignore`, without comments and empty lines."""
    lines = gitignore.decode("utf-8", "replace").splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]


def missing(wanted: bytes, present: bytes) -> list[str]:
    """The rules in `wanted` that are not in `present`."""
    known = set(rules(present))
    return [rule for rule in rules(wanted) if rule not in known]


def under(prefix: str, rule: str) -> str:
    """A rule of a folder's `.gitignore`, rewritten for the repository's root; `prefix` is empty or ends in `/`."""
    if not prefix:
        return rule
    place = "/" + _SPECIAL.sub(r"\\\1", prefix)
    anchored = "/" in rule.rstrip("/")
    return place + (rule.lstrip("/") if anchored else f"**/{rule}")


def exactly(path: str) -> str:
    """The rule for one file, by its path from the repository's root."""
    escaped = _SPECIAL.sub(r"\\\1", path)
    return "/" + re.sub(r" $", r"\\ ", escaped)


def add(gitdir: Files, lines: list[str], token: str) -> list[str]:
    """Add the rules that are missing in `info/exclude`, and return them. `gitdir` is the repository's shared folder.

    Raises `BadPath` if a link is in the way.
    """
    before = gitdir.read(PATH)
    fresh = [line for line in lines if line not in rules(before or b"")]
    if fresh:
        gap = b"" if not before or before.endswith(b"\n") else b"\n"
        put(gitdir, PATH, before, (before or b"") + gap + "\n".join([_TITLE, *fresh, ""]).encode(), token)
    return fresh


def take_out(gitdir: Files, lines: list[str], token: str) -> None:
    """Remove the rules that `add` has added below its title; a person's own, the same ones too, stay."""
    before = gitdir.read(PATH)
    if before is None or not lines:
        return
    others: list[str] = []
    is_ours = False
    for line in before.decode("utf-8", "surrogateescape").splitlines(keepends=True):
        is_ours = line.strip() == _TITLE or (is_ours and line.strip() in lines)
        others += [] if is_ours else [line]
    put(gitdir, PATH, before, "".join(others).encode("utf-8", "surrogateescape"), token)


def put(gitdir: Files, path: str, before: bytes | None, after: bytes, token: str) -> None:
    """Write a file of the repository's shared folder; `before` is its content, None if it is missing. A file that
    would be empty is removed.

    Raises `BadPath` if it cannot be written.
    """
    temporary = f"vault-agent-exclude.{token}"
    try:
        if before is not None and not after:
            gitdir.take(path, temporary)
            gitdir.discard(path, temporary)
            return
        gitdir.stage(path, temporary, after, None)
        if before is None:
            gitdir.publish(path, temporary)
        else:
            gitdir.trade(path, temporary)
            gitdir.discard(path, temporary)
    except (AgentError, OSError) as error:
        gitdir.discard(path, temporary)
        if isinstance(error, AgentError):
            raise
        raise BadPath("{path} cannot be written: {reason}", path=gitdir.root / path, reason=os_reason(error)) from error
