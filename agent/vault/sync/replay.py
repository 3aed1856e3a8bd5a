"""Makes this machine's own commits again on top of another one, each with its author, time and message.

For a remote whose history was rewritten: what was taken out there is not brought back by a merge.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from agent.dataclass import dataclass
from agent.git.identities import Sign, Signature, unsigned
from agent.git.objects import TreeEntry
from agent.git.runner import Git
from agent.git.tree_edit import commit_edits
from agent.vault.store import Vault
from agent.vault.sync.trees import merge_trees

MOST = 300
"""The most commits that are made again one by one; of more, the oldest are one commit together."""
_WHO = re.compile(r"(author|committer) (.*) <(.*)> (-?\d+) ([+-])(\d\d)(\d\d)")


@dataclass(frozen=True, slots=True)
class Replayed:
    """The last new commit, and the new commit of each old one."""

    tip: str
    made: Mapping[str, str]


def replay(vault: Vault, since: str, tip: str, onto: str, when: datetime, without: Collection[str] = ()) -> Replayed:
    """Make the commits after `since` up to `tip` again on top of `onto`; a commit that then changes nothing is left
    out. Files of the paths `without` are left out of them.

    Only what this program made here alone is signed: neither merges, nor what others have made, nor two versions.
    """
    git = vault.git
    command = ["rev-list", "--reverse", "--first-parent", "--parents", "--end-of-options", f"{since}..{tip}"]
    rows = [row.split() for row in git.run(*command).decode().splitlines()]
    together, single = rows[:-MOST], rows[-MOST:]
    steps = [(together[0][1], together[-1][0])] if together else []
    ours = _made_here(vault, [commit for commit, *parents in single if len(parents) == 1])
    now, made = onto, dict[str, str]()
    for before, commit in [*steps, *((parent, commit) for commit, parent, *_ in single)]:
        merged = merge_trees(git, before, now, commit, vault.home, when)
        edits = {path: entry for path, entry in merged.edits.items() if path not in without}
        if edits:
            is_ours = commit in ours and not merged.conflicts and not merged.numbered
            sign = vault.signing_key.sign if is_ours else unsigned
            now = _again(git, commit, now, edits, merged.blobs, sign)
        made[commit] = now
    return Replayed(now, made)


def _made_here(vault: Vault, commits: Sequence[str]) -> set[str]:
    """The commits that this program made on this machine, if commits are signed here."""
    if not vault.signing_key.is_on:
        return set()
    vault.provenance.look()
    return vault.provenance.recorder.program_commits(commits)


def _again(
    git: Git, commit: str, onto: str, edits: Mapping[str, TreeEntry | None], blobs: Mapping[str, bytes], sign: Sign
) -> str:
    """The commit with these files, on top of another one."""
    found = git.objects([commit])[0]
    assert found is not None
    head, _, message = found.data.decode("utf-8", "replace").partition("\n\n")
    who = {each[1]: _signature(each) for line in head.split("\n") if (each := _WHO.fullmatch(line))}
    return commit_edits(git, onto, edits, blobs, (onto,), who["author"], who["committer"], message, sign)


def _signature(found: re.Match[str]) -> Signature:
    minutes = int(found[6]) * 60 + int(found[7])
    return Signature(found[2], found[3], int(found[4]), -minutes if found[5] == "-" else minutes)
