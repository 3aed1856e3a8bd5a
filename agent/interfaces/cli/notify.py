"""`vault-agent notices notify`: puts a notice through attention, as the agent's own are."""

import click

from agent.app.notices import open_outbox
from agent.app.open import open_workspace
from agent.attention.outbox import DIGEST
from agent.deeds.notices import notice
from agent.errors import UserError
from agent.events.notices import NoticeRaised
from agent.interfaces.cli.declare import words_argument
from agent.interfaces.cli.language import listed
from agent.interfaces.cli.notices import notice_line, notice_story
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.printing import as_lines
from agent.llm.messages import never
from agent.workspace.workspace import is_watched


@click.command()
@words_argument("text")
@click.option("--type", "kind", default="note", show_default=True, help="What kind of notice it is, in one word.")
@click.option(
    "--priority", type=click.FloatRange(0, 1), default=0.8, show_default=True, help="How important it is, from 0 to 1."
)
@click.option("--urgent", is_flag=True, help="Send it also in quiet hours, and beyond the day's number.")
@click.option("--channel", default="", metavar="NAME", help="The channel it goes to, such as daily or mail.")
@click.pass_obj
def command(output: Output, text: str, kind: str, priority: float, urgent: bool, channel: str) -> None:
    """Raise a notice with TEXT: it is sent, held, dropped or left for the digest, as attention decides.

    A running daemon sends it; without one it is sent from here. `vault-agent notices why` explains the decision later.
    """
    title, *lines = [line.strip() for line in text.splitlines() if line.strip()] or [""]
    if not title:
        raise UserError("there is nothing to say", hint='vault-agent notices notify "The kettle is on"')
    if not kind.isidentifier() or kind == DIGEST:
        raise UserError("{kind} cannot be the type of a notice", hint="use one word, such as reminder", kind=kind)
    workspace = open_workspace(output.vault())
    outbox = open_outbox(workspace)
    available = outbox.channels()
    if channel and channel not in available:
        names = listed(available)
        raise UserError("the channel {name} is not set up", hint="these are: {names}", name=channel, names=names)
    watched = is_watched(workspace)
    if not watched:
        outbox.review()
    taken = outbox.take(NoticeRaised(kind, priority, title, tuple(lines), channel=channel, urgent=urgent))
    if not watched:
        outbox.deliver(never)
    others = {each.id: each for each in outbox.ledger.all()}
    receipt, now = others.get(taken.id, taken), workspace.clock.now()
    told = [notice_line(receipt, now), *notice_story(receipt, others, now, watched)[2:]]
    output.emit(lambda: {"notice": notice(receipt, others)}, as_lines(told))
