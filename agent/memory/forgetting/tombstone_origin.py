"""The tombstones that count: those that this program wrote for its person, and those of the person's own hand.

A tombstone keeps a memory from being written, so one that a tool wrote or that somebody else brought must not count.
The history says who wrote it, and `vault.provenance` whether it arrived from where others write. What the history says
of each content is kept in the vault's private folder, so that git is asked once; that file can be deleted.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from agent.vault import durable
from agent.vault.history.commits import HUMAN, read_message
from agent.vault.plumbing.people import AGENT, person
from agent.vault.store import Vault

_BEGIN = "\x01"


def trusted_tombstones(vault: Vault, notes: Mapping[str, bytes]) -> frozenset[str]:
    """The paths among `notes` (tombstones with their bytes) whose content was written here or by the person.

    What is not committed yet was saved by hand on this machine, as tools commit what they write. Raises `AgentError`
    when git fails.
    """
    file = vault.writer.layout.folder / "forgotten.json"
    known = _load(file)
    keys = {path: f"{vault.git.blob_id(data)} {path}" for path, data in notes.items()}
    new = [path for path in notes if keys[path] not in known]
    if new:
        committed = _committed(vault, new)
        asked = {path for path in new if committed.get(path) == keys[path].partition(" ")[0]}
        origin = _from_person(vault, asked)
        known |= {keys[path]: path in origin or path not in asked for path in new}
        if asked:
            _save(file, {keys[path]: known[keys[path]] for path in notes if path in asked or path not in new})
    here = (path for path in notes if known[keys[path]])
    return frozenset(path for path in here if not vault.provenance.arrived(path, keys[path].partition(" ")[0]))


def _committed(vault: Vault, paths: Iterable[str]) -> dict[str, str]:
    """The blob of each path in HEAD; without those that HEAD does not have."""
    prefix = vault.place.prefix
    command = ["ls-tree", "-z", "--full-tree", "--format=%(objectname) %(path)", "HEAD", "--"]
    out = vault.git.run(*command, *(prefix + path for path in paths), ok=(0, 128)).decode("utf-8", "surrogateescape")
    return {
        path.removeprefix(prefix): blob for blob, _, path in (row.partition(" ") for row in out.split("\0")) if path
    }


def _from_person(vault: Vault, paths: set[str]) -> set[str]:
    """Those of the paths whose last commit was made for the person of this vault, and not by a tool."""
    if not paths:
        return set()
    prefix = vault.place.prefix
    command = ["log", "-z", f"--format={_BEGIN}%ae%n%B", "--name-only", "--no-renames", "--encoding=UTF-8", "HEAD"]
    out = vault.git.run(*command, "--", *(prefix + path for path in sorted(paths)), drivers_off=True)
    authors = {person(vault.git).email, AGENT.email}
    left, found = set(paths), set[str]()
    for record in out.decode("utf-8", "surrogateescape").split(_BEGIN)[1:]:
        message, *names = record.split("\0")
        author, text = message.split("\n", 1)
        actor = dict(read_message(text)[2]).get("vault-actor", "") or HUMAN
        last = left & {name.lstrip("\n").removeprefix(prefix) for name in names}
        left -= last
        if actor == HUMAN and author in authors:
            found |= last
    return found


def _load(file: Path) -> dict[str, bool]:
    """The answers that were kept; none where the file cannot be read."""
    try:
        said = json.loads(file.read_bytes())
        return {str(key): value is True for key, value in said.items()}
    except (OSError, ValueError, AttributeError, RecursionError):
        return {}


def _save(file: Path, answers: Mapping[str, bool]) -> None:
    try:
        durable.replace(file, json.dumps(answers, indent=1))
    except OSError:
        return  # git is asked again the next time
