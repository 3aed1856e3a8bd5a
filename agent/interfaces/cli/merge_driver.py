"""`vault-agent merge-driver`: called by git to merge a note, not by people; `--help` does not list it."""

from pathlib import Path

import click

from agent.interfaces.cli.language import said
from agent.interfaces.cli.output import Output
from agent.vault.merge_driver import merge_files

_FILE = click.Path(path_type=Path)


@click.command()
@click.argument("base", type=_FILE)
@click.argument("ours", type=_FILE)
@click.argument("theirs", type=_FILE)
@click.argument("path")
@click.pass_obj
def command(output: Output, base: Path, ours: Path, theirs: Path, path: str) -> None:
    """Merge the files OURS and THEIRS, which come from BASE, into OURS; PATH is the note that they are.

    A version that contradicts the other is kept whole in a file beside the note.
    """
    copy = merge_files(base, ours, theirs, path, Path.cwd())
    kept = said("{path}: both sides changed the same place; one version is in {copy}", path=path, copy=copy or "")
    output.emit({"path": path, "copy": copy}, kept if copy else "")
