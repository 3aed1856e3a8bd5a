"""`vault-agent remember`: one memory becomes one note and one commit."""

import sys

import click

from agent.errors import UserError
from agent.interfaces.cli.output import Output
from agent.memory.entry import Entry
from agent.vault.change import Outcome, Stamp
from agent.vault.message import one_line
from agent.workspace.workspace import App, build


@click.command(short_help="Write TEXT into the vault as a memory entry.")
@click.argument("text")
@click.option("-k", "--keyword", "keywords", multiple=True, help="A keyword for the entry's header; may be repeated.")
@click.pass_obj
def command(output: Output, text: str, keywords: tuple[str, ...]) -> None:
    """Remember TEXT (`-` reads standard input) as an entry of your own, and commit it."""
    if text == "-":
        text = sys.stdin.buffer.read().decode("utf-8", "replace")
    if not text.strip():
        raise UserError("there is nothing to remember", hint='vault-agent remember "Anna likes green tea"')
    app = build(output.vault())
    entry = Entry(app.clock.new_id(), app.clock.now(), text, keywords=keywords)
    outcome = save(app, entry)
    document = {"path": entry.path, "id": entry.id, "commit": outcome.commit, "queued": outcome.queued}
    output.emit(document, said(entry, outcome))


def save(app: App, entry: Entry) -> Outcome:
    """Write an entry in one commit."""
    subject = f"memory(entry): remember {one_line(entry.text)[:80]}"
    with app.vault.transaction(subject, Stamp("agent", tool="remember")) as transaction:
        transaction.create(entry.path, entry.note())
    return transaction.outcome


def said(entry: Entry, outcome: Outcome) -> str:
    """What was written where, for a person."""
    if outcome.queued:
        return f"waiting: {outcome.queued}\n{entry.path} will be written and committed when that is over"
    return f"{entry.path}\ncommit {(outcome.commit or '')[:12]}"
