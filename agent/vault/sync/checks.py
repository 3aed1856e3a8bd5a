"""The checks of `sync doctor`: git, this repository, and each remote that is set up."""

import re
from collections.abc import Iterator
from datetime import timedelta

from agent.config.addresses import without_login
from agent.errors import UserError
from agent.git.identities import RAW, git_time
from agent.git.repository import blocked, branch
from agent.texts import Sentence
from agent.vault.health.probe import Check, bad, guarded, ok, warn
from agent.vault.health.repair import locks
from agent.vault.provenance.remotes import configured
from agent.vault.store import Vault
from agent.vault.sync.setup import check_repository, examine
from agent.vault.sync.staging import staged
from agent.vault.sync.state import SyncedRemote, sync_state

OLDEST = (2, 39)
DRIVER = "merge.vault-agent.driver"
"""git's setting with the program that merges notes when a person's own git merges."""
_WARN, _MOST = 50_000_000, 100_000_000
"""Bytes of a file from which public hosts warn, and which they refuse."""
_SKEW = timedelta(minutes=10)


def sync_checks(vault: Vault) -> list[Check]:
    """All checks; asks each remote over the network, and writes a probe reference there that is deleted again."""
    checks = guarded("git", lambda: _version(vault))
    checks += guarded("repository", lambda: _repository(vault))
    checks += guarded("large files", lambda: _large(vault))
    checks += guarded("merge driver", lambda: _driver(vault))
    checks += guarded("signing", lambda: _signing(vault))
    remotes = sync_state(vault).remotes
    if not remotes:
        checks.append(warn("remotes", "no remote is set up", next="vault-agent sync setup ADDRESS"))
    for each in remotes.values():
        checks += guarded("remote", lambda remote=each: _remote(vault, remote))  # type: ignore[misc]
    return checks


def _version(vault: Vault) -> Iterator[Check]:
    answer = vault.git.run("version").decode("utf-8", "replace").strip()
    found = re.search(r"(\d+)\.(\d+)", answer)
    if found and (int(found[1]), int(found[2])) >= OLDEST:
        yield ok("git", "{version} is new enough", version=answer)
    else:
        yield bad("git", "{version} is too old; sync needs 2.39 or newer", next="install a newer git", version=answer)


def _repository(vault: Vault) -> Iterator[Check]:
    reason = blocked(vault.place.gitdir)
    if reason:
        yield warn("repository", "sync waits: {reason}", next="git status", reason=Sentence(reason))
    elif path := staged(vault):
        yield warn("repository", "sync waits: {path} is staged and not committed", next="git status", path=path)
    else:
        yield ok("repository", "nothing is unfinished in it")
    try:
        check_repository(vault)
    except UserError as error:
        yield bad("repository", error.message, next=error.hint)
    found = locks(vault)
    if found:
        names = tuple(map(str, found))
        yield warn("locks", "lock files of git: {count}", names, "vault-agent doctor --fix", count=len(found))


def _large(vault: Vault) -> Iterator[Check]:
    command = ["ls-tree", "-r", "-l", "-z", "--full-tree", "--end-of-options", "HEAD"]
    found: list[tuple[int, str]] = []
    for row in vault.git.fields(*command, ok=(0, 128)):
        meta, _, path = row.partition("\t")
        size = meta.split()[-1]
        if size.isdecimal() and int(size) > _WARN:
            found.append((int(size), path))
    lines = tuple(f"{path}: {size / 1_000_000:.0f} MB" for size, path in sorted(found, reverse=True))
    if any(size > _MOST for size, _ in found):
        what = "{count} files are larger than 50 MB, and some larger than 100 MB, which public hosts refuse"
        yield warn("large files", what, lines, "move large files out of the vault, or use git lfs", count=len(found))
    elif found:
        yield warn("large files", "{count} files are larger than 50 MB", lines, count=len(found))
    else:
        yield ok("large files", "none above 50 MB")


def _driver(vault: Vault) -> Iterator[Check]:
    found = vault.git.run("config", "--get", DRIVER, ok=(0, 1)).decode("utf-8", "replace").strip()
    if found:
        yield ok("merge driver", "git pull in a terminal merges notes block by block")
    else:
        yield ok("merge driver", "not set up: git pull in a terminal merges notes line by line")


def _signing(vault: Vault) -> Iterator[Check]:
    key = vault.signing_key
    try:
        key.check()
    except UserError as error:
        what = "commits made here are to be signed, and are not: {reason}"
        yield bad("signing", what, next="vault-agent sync sign", reason=error.message)
        return
    if key.is_on:
        half = key.public
        yield ok("signing", "commits made here are signed: {key}", key=half.fingerprint if half is not None else "-")


def _remote(vault: Vault, remote: SyncedRemote) -> Iterator[Check]:
    name = remote.name
    now = configured(vault.git).get(name, "")
    if now != remote.address:
        what = "{name} has another address in git's settings now: {address}"
        next = Sentence("vault-agent sync setup {name}", name=name)
        yield bad("remote", what, next=next, name=name, address=without_login(now) or "-")
        return
    here = (branch(vault.place.gitdir) or "").removeprefix("refs/heads/")
    if here and here != remote.branch:
        what = "{name} keeps the branch {branch} in step, and {here} is open"
        next = Sentence("git switch {branch}", branch=remote.branch)
        yield warn("branch", what, next=next, name=name, branch=remote.branch, here=here)
        return
    found = examine(vault, name, name, here)
    if found.refuses_refs:
        yield warn("remote", "{name} can be reached, but takes only branches: rescued commits stay here", name=name)
    else:
        yield ok("remote", "{name} can be reached and written", name=name)
    yield from _clock(vault, remote)


def _clock(vault: Vault, remote: SyncedRemote) -> Iterator[Check]:
    """A commit from the future: one of the machines has a wrong clock."""
    command = ["show", "-s", RAW, "--format=%cd", "--end-of-options", remote.tracking]
    found = vault.git.run(*command, ok=(0, 128)).decode("ascii", "replace").strip()
    ahead = git_time(found) - vault.clock.now()
    if ahead > _SKEW:
        what = "the last commit on {name} is {minutes} minutes in the future: this clock or another one is wrong"
        minutes = int(ahead.total_seconds() // 60)
        yield warn("clock", what, next="compare the clocks of your machines", name=remote.name, minutes=minutes)
