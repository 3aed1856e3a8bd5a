"""Finds the commits that are signed with keys which the person has approved on this machine.

git verifies, with a list of approved keys that this program writes outside the vault for the moment; programs and lists
that the repository's settings name are not used. Only commits that name an approved key are given to git, so that
strangers' signatures cost nothing.
"""

import os
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from agent.config.private import replace
from agent.errors import Retryable
from agent.vault.plumbing.commit_signature import named_key, signature_in
from agent.vault.plumbing.git import Git
from agent.vault.ssh_key import PREFIX, PublicKey

_READ_AT_ONCE = 200
_VERIFIED_AT_ONCE = 50
"""Commits for one git, which starts ssh-keygen twice for each: a second or two."""
_LONGEST = 1 << 20
"""Bytes of a commit. The signature of a longer one is not looked at."""
_FIXED = (
    *("gpg.program=gpg", "gpg.openpgp.program=gpg", "gpg.x509.program=gpgsm", "gpg.ssh.program=ssh-keygen"),
    *("gpg.ssh.defaultKeyCommand=", "gpg.ssh.revocationFile=/dev/null", "gpg.minTrustLevel=undefined"),
)
_GOOD, _GOOD_OF_UNKNOWN = "G", "U"


def signers(git: Git, ids: Sequence[str], keys: frozenset[str], folder: Path) -> dict[str, str]:
    """The key (a fingerprint) of each of these commits that has a good signature by one of these keys.

    `folder` is a private one, for the list of keys while git reads it.
    """
    found: dict[str, str] = {}
    named = dict(_named(git, ids, keys)) if keys else {}
    candidates = list(named)
    for at in range(0, len(candidates), _VERIFIED_AT_ONCE):
        part = candidates[at : at + _VERIFIED_AT_ONCE]
        found |= _verified(git, {id: named[id] for id in part}, keys, folder)
    return found


def _named(git: Git, ids: Sequence[str], keys: frozenset[str]) -> Iterator[tuple[str, PublicKey | None]]:
    """The commits that may be signed with one of these keys; with the ssh key that a signature names, None for gpg."""
    has_gpg = any(not key.startswith(PREFIX) for key in keys)
    for at in range(0, len(ids), _READ_AT_ONCE):
        contents = git.small_objects(ids[at : at + _READ_AT_ONCE], _LONGEST, "commit")
        for id, data in contents.items():
            signature = signature_in(data)
            key = named_key(signature)
            if (key is not None and key.fingerprint in keys) or (key is None and signature and has_gpg):
                yield id, key


def _verified(git: Git, named: Mapping[str, PublicKey | None], keys: frozenset[str], folder: Path) -> dict[str, str]:
    with _allowed_signers(folder, {key.line for key in named.values() if key is not None}) as allowed:
        fixed = (*_FIXED, f"gpg.ssh.allowedSignersFile={allowed}")
        options = [word for each in fixed for word in ("-c", each)]
        command = [*options, "log", "--no-walk=unsorted", "--stdin", "--format=%H %G? %GF %GP"]
        out = git.run(*command, stdin="".join(f"{id}\n" for id in named).encode()).decode("utf-8", "replace")
    found = {}
    for row in out.split("\n"):
        id, _, rest = row.partition(" ")
        verdict, _, fingerprints = rest.partition(" ")
        if id in named and (signer := _signer(verdict, fingerprints.split(), named[id], keys)):
            found[id] = signer
    return found


@contextmanager
def _allowed_signers(folder: Path, keys: Collection[str]) -> Iterator[Path]:
    """A file with these keys as ssh-keygen reads it, inside the block."""
    path = folder / f"allowed-signers-{os.getpid()}-{threading.get_ident()}"
    try:
        replace(path, "".join(f'person namespaces="git" {key}\n' for key in sorted(keys)))
        yield path
    except OSError as error:
        raise Retryable(
            "what arrived cannot be recorded: {error} ({path})",
            hint="look for space and for permission there, then try again",
            error=error,
            path=path,
        ) from error
    finally:
        path.unlink(missing_ok=True)


def _signer(verdict: str, fingerprints: Sequence[str], key: PublicKey | None, keys: frozenset[str]) -> str:
    """The approved key that has made a good signature; empty if none has."""
    if key is not None:
        is_good = verdict == _GOOD and key.fingerprint in fingerprints
        return key.fingerprint if is_good else ""
    approved = [each for each in fingerprints if each in keys and not each.startswith(PREFIX)]
    return approved[0] if verdict in {_GOOD, _GOOD_OF_UNKNOWN} and approved else ""
