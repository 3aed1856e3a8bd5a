"""Whether a version of a file is the person's own."""

from collections.abc import Collection

from agent.vault.store import Vault


def is_own_version(vault: Vault, path: str, blob: str, commits: Collection[str] = ()) -> bool:
    """True if the person has looked at this version (a blob; empty: its removal), or if all that was brought to the
    path by `commits`, or with just this content ever, is proved to be an own machine's. Unknown is not proved."""
    record = vault.provenance
    record.look()
    if record.looks.has(path, blob):
        return True
    arrivals = record.database.at(path)
    found = [each.commit for each in arrivals if each.commit in commits or each.after == (blob or None)]
    return bool(found) and not record.made_by_others(found)
