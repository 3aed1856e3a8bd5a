"""Lines of the profile that quote what the person has corrected since: the program takes out its own."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from agent.markdown.links import linked_names
from agent.memory.profile.block_change import BlockChange
from agent.memory.profile.profile_file import ProfileFile
from agent.memory.store import StoredEntry
from agent.memory.understanding.holding import is_disproved
from agent.vault.store import Vault

_QUOTES = '“”"'


def outdated_lines(vault: Vault, files: Iterable[ProfileFile], claims: Iterable[StoredEntry]) -> Iterator[BlockChange]:
    """The changes that take out the lines whose only evidence are entries that a claim replaces or contradicts, and of
    which it says that they are no longer true. Lines that the person wrote or keeps stay, whatever is proposed."""
    against = _by_note(claims)
    for file in files:
        data = vault.own_version(file.path) if against else None
        rows = (data or b"").decode("utf-8", "surrogateescape").split("\n")
        for said in file.statements:
            row = rows[said.line - 1].removesuffix("\r") if said.line <= len(rows) else ""
            notes = linked_names(row)
            later = [text for note in notes for text in against.get(note, ())]
            is_old = bool(notes) and all(note in against for note in notes)
            if is_old and any(is_disproved(said.text.strip(_QUOTES), text) for text in later):
                yield BlockChange(file.name, said.text, said.section, (), before=(row,))


def _by_note(claims: Iterable[StoredEntry]) -> Mapping[str, list[str]]:
    """The texts of the claims, by the names of the entries that they replace or contradict."""
    found: dict[str, list[str]] = defaultdict(list)
    for claim in claims:
        for link in (*claim.entry.contradicts, *filter(None, (claim.entry.supersedes,))):
            found[link.strip("[]")].append(claim.entry.text)
    return found
