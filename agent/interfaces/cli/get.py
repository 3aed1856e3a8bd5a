"""`vault-agent get`: prints one note by path or id, now or as it was in a commit."""

import click

from agent.app.open import open_workspace
from agent.errors import NoteGone
from agent.interfaces.cli.lookup import named_note, path_with_changes
from agent.interfaces.cli.output import Output
from agent.markdown.note import Note


@click.command()
@click.argument("name", metavar="NOTE")
@click.option("--at", "revision", metavar="COMMIT", help="As it was in this commit.")
@click.option("--raw", is_flag=True, help="Into a pipe or file byte for byte, control characters included.")
@click.pass_obj
def command(output: Output, name: str, revision: str | None, raw: bool) -> None:
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
    document = {
        "path": path,
        "id": note.id,
        "title": note.title(path),
        "header": dict(note.header),
        "problem": note.problem.message if note.problem else None,
        "text": note.text,
    }
    output.emit(document, data, raw=raw)
