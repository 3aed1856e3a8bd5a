"""Tells git of the merge driver for notes: in the repository's settings and in `info/attributes`, outside history.

Neither is cloned nor pushed, and this program's own git calls use no driver. The line that git runs names the program
by its full path, and falls back to git's own merge when the program is gone: without that, git would leave one side's
whole note and no markers.
"""

import shlex
from pathlib import Path

from agent.dataclass import dataclass
from agent.texts import Sentence
from agent.vault import exclude
from agent.vault.health.trust import Executable
from agent.vault.initialise import common
from agent.vault.store import Vault

NAME = "vault-agent"
ATTRIBUTES = "info/attributes"
_TITLE = "# vault-agent: merges notes by their outline, without markers"
_DRIVER = f"merge.{NAME}.driver"
_FALLBACK = "git merge-file -q %A %O %B"
_FREE = frozenset({"unspecified", "unset", "set", NAME})


@dataclass(frozen=True, slots=True)
class Offer:
    """What `install` would write: the settings, and a line of `info/attributes`. `why_not`: the reason not to."""

    settings: tuple[tuple[str, str], ...]
    attribute: str
    why_not: str = ""


def offer(vault: Vault, program: Path | None) -> Offer:
    """What `install` would write for the program with this full path; changes nothing."""
    prefix = vault.place.prefix
    attribute = f"{_quoted(exclude.under(prefix, '*.md'))} merge={NAME}"
    if program is None:
        return Offer((), attribute, "vault-agent is not found on the PATH")
    made = (
        (f"merge.{NAME}.name", "notes, by outline"),
        (_DRIVER, driver(program)),
        (f"merge.{NAME}.recursive", "binary"),  # no conflict copies of what was only between two branches
    )
    there = _present(vault)
    if there not in _FREE:
        return Offer(made, attribute, Sentence("your attributes merge notes with {name}", name=there))
    return Offer(made, attribute)


def driver(program: Path) -> str:
    """The command line that git runs; git itself quotes the path of the note."""
    call = shlex.quote(str(program)).replace("%", "%%")
    return f"{call} merge-driver -- %O %A %B %P || {_FALLBACK}"


def install(vault: Vault, program: Path | None) -> str:
    """Write what `offer` says; returns the reason if it is not done, empty if the driver is there now."""
    wanted = offer(vault, program)
    if wanted.why_not:
        return wanted.why_not
    for key, value in wanted.settings:
        vault.git.run("config", "--local", key, value)
    files = common(vault)
    before = files.read(ATTRIBUTES)
    if wanted.attribute not in _lines(before):
        gap = b"" if not before or before.endswith(b"\n") else b"\n"
        added = f"{_TITLE}\n{wanted.attribute}\n".encode("utf-8", "surrogateescape")
        exclude.put(files, ATTRIBUTES, before, (before or b"") + gap + added, vault.clock.new_id())
    return ""


def remove(vault: Vault) -> None:
    """Take out what `install` wrote; what a person wrote beside it stays."""
    vault.git.run("config", "--local", "--remove-section", f"merge.{NAME}", ok=(0, 128))
    files = common(vault)
    before = files.read(ATTRIBUTES)
    gone = {_TITLE, offer(vault, None).attribute}
    if before is not None and gone & set(_lines(before)):
        text = before.decode("utf-8", "surrogateescape")
        rest = "".join(line for line in text.splitlines(keepends=True) if line.rstrip("\r\n") not in gone)
        exclude.put(files, ATTRIBUTES, before, rest.encode("utf-8", "surrogateescape"), vault.clock.new_id())


def is_ours(vault: Vault, item: Executable, program: Path | None) -> bool:
    """True for what `install` wrote: it is no danger. Another command under its name is one."""
    if item.key == _DRIVER:
        return program is not None and item.value == driver(program)
    return item.key == "attribute merge" and item.value == NAME and _is_in_attributes(vault, item)


def _is_in_attributes(vault: Vault, item: Executable) -> bool:
    return item.where.rpartition(":")[0] == str(common(vault).root / ATTRIBUTES)


def _present(vault: Vault) -> str:
    """The driver that git's attributes name for a note at the root of the vault."""
    sample = f"{vault.place.prefix}note.md"
    fields = vault.git.fields("check-attr", "-z", "merge", "--", sample)
    return fields[2] if len(fields) > 2 else "unspecified"


def _lines(data: bytes | None) -> list[str]:
    return (data or b"").decode("utf-8", "surrogateescape").splitlines()


def _quoted(pattern: str) -> str:
    """A pattern for an attributes file, in C quotes if it has spaces or quotes."""
    if not any(mark in pattern for mark in ' "\t'):
        return pattern
    return '"' + pattern.replace("\\", "\\\\").replace('"', '\\"') + '"'
