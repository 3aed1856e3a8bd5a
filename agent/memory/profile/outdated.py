"""Lines of the profile that quote what holds no more: the program takes out its own."""

from collections.abc import Iterable, Iterator

from agent.markdown.links import linked_names
from agent.memory.profile.block_change import BlockChange
from agent.memory.profile.profile_file import ProfileFile
from agent.memory.store import StoredEntry
from agent.vault.store import Vault


def outdated_lines(vault: Vault, files: Iterable[ProfileFile], entries: Iterable[StoredEntry]) -> Iterator[BlockChange]:
    """The changes that take out the lines whose only evidence are those of these entries that were replaced or have
    ended. Lines that the person wrote or keeps stay, whatever is proposed."""
    old = {each.link.strip("[]") for each in entries if each.entry.superseded_by}
    for file in files if old else ():
        rows = (vault.own_version(file.path) or b"").decode("utf-8", "surrogateescape").split("\n")
        said = [(each.line, each.text, each.section) for each in file.statements]
        said += [(each.line, f"{each.label}: {each.value}", "") for each in file.fields if each.value]
        for line, text, section in said:
            row = rows[line - 1].removesuffix("\r") if line <= len(rows) else ""
            names = linked_names(row)
            if names and all(name in old for name in names):
                yield BlockChange(file.name, text, section, (), before=(row,))
