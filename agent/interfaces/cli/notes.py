"""Finds a note by a path as people type it, by its name, or by its id; `vault-agent get` prints it, now or as it was in
a commit.
"""

import os
from contextlib import suppress
from pathlib import Path

import click

from agent.app.open import open_workspace
from agent.errors import BadPath, NoteGone
from agent.interfaces.cli.output import Output, fields
from agent.markdown.note import Note
from agent.vault.find import find_named_note, is_bare_name
from agent.vault.store import Vault


def named_note(vault: Vault, text: str) -> str:
    """The path of the note that a person names by a path, as `path_in_vault` has it, by its name or by an id.

    Raises what `find_named_note` and `path_in_vault` raise.
    """
    return find_named_note(vault, path_in_vault(text, vault.place.root) if text.strip() else text)


def path_with_changes(text: str, vault: Vault) -> str:
    """The note or folder of a vault whose changes a person asks for, which need not exist any more; a note that exists
    may lack its `.md`, or be named as in a link. Raises what `path_in_vault` raises, and `UserError` for a name that
    several notes have."""
    path = path_in_vault(text, vault.place.root)
    if (vault.place.root / path).exists():
        return path
    if (vault.place.root / f"{path}.md").exists():
        return f"{path}.md"
    with suppress(NoteGone):
        return find_named_note(vault, path) if is_bare_name(path) else path
    return path


def path_in_vault(text: str, root: Path) -> str:
    """A note's or folder's path relative to the vault at `root`; raises `BadPath` for one outside.

    A relative path starts at the working folder if that is in the vault and the path, or that with `.md`, exists there,
    else at the vault's root. The note need not exist any more.
    """
    here = Path.cwd()
    absolute = Path(os.path.abspath(text))  # noqa: PTH100 - a link in the vault is named, not followed
    is_there = here.resolve().is_relative_to(root.resolve()) and (absolute.exists() or Path(f"{absolute}.md").exists())
    if not Path(text).is_absolute() and not is_there:
        absolute = Path(os.path.normpath(root / text))
    for base in (root, root.resolve()):
        if absolute.is_relative_to(base):
            found = absolute.relative_to(base).as_posix()
            return "" if found == "." else found
    raise BadPath("{text} is not inside the vault {root}", hint="give it relative to the vault", text=text, root=root)


@click.command()
@click.argument("name", metavar="NOTE")
@click.option("--at", "revision", metavar="COMMIT", help="As it was in this commit.")
@click.option("--raw", is_flag=True, help="Into a pipe or file byte for byte, control characters included.")
@click.pass_obj
def get(output: Output, name: str, revision: str | None, raw: bool) -> None:
    """Print the NOTE with this name, path or id, byte for byte, but with its control characters written out."""
    vault = open_workspace(output.vault()).vault.whole
    if revision is None:
        path = named_note(vault, name)
        data = vault.read(path)
    else:
        path = path_with_changes(name, vault)
        data = vault.read_at(revision, path)
    if data is None:
        raise NoteGone("{name} is not there", hint="vault-agent log shows what was moved or deleted", name=name)
    note = Note.parse(data)
    problem = note.problem.message if note.problem else None
    output.emit(fields(note, "id header text", path=path, title=note.title(path), problem=problem), data, raw=raw)
