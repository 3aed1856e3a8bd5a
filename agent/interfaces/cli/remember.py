"""`vault-agent remember`: writes one memory as one note in one commit."""

import sys

import click

from agent.errors import UserError
from agent.interfaces.cli.declare import words_argument
from agent.interfaces.cli.host import workspace_for
from agent.interfaces.cli.language import tr
from agent.interfaces.cli.output import Output
from agent.memory.remember import remember


@click.command()
@words_argument("text")
@click.option("-k", "--keyword", "keywords", multiple=True, help="A keyword for the entry's header; may be repeated.")
@click.pass_obj
def command(output: Output, text: str, keywords: tuple[str, ...]) -> None:
    """Remember TEXT (`-` reads standard input) as an entry of your own, and commit it.

    A text that is known in the same words makes no second entry: the first one is counted again.
    """
    if text == "-":
        text = sys.stdin.buffer.read().decode("utf-8", "replace")
    if not text.strip():
        raise UserError("there is nothing to remember", hint='vault-agent remember "Anna likes green tea"')
    workspace = workspace_for(output)
    vault = workspace.vault
    entry, outcome, known = remember(vault, text, keywords, workspace.settings.vault.language)
    path = vault.home.at(entry.path)
    document = {"path": path, "id": entry.id, "commit": outcome.commit, "queued": outcome.queued, "known": known}
    about = [tr("it was remembered already, and is counted again there")] if known else []
    answer = "\n".join([path, *about, tr("commit {commit}", commit=(outcome.commit or "")[:12])])
    if outcome.queued:
        waits = "waiting: {queued}\n{path} will be written and committed when that is over"
        answer = tr(waits, queued=tr(outcome.queued), path=path)
    output.emit(document, answer)
