"""What a prompt or an open chat tells of skills and notices that came meanwhile, in this process or in the daemon."""

from collections.abc import Callable, Sequence
from functools import partial

from agent.app.notice_ledger import open_ledger
from agent.attention.lateness import late_line
from agent.attention.receipt import NoticeReceipt
from agent.attention.receipts import NoticeLedger
from agent.errors import AgentError
from agent.interfaces.cli.language import spoken
from agent.interfaces.cli.output import Output, say
from agent.interfaces.cli.printing import one_line
from agent.skills.learning.offer_news import take_news
from agent.texts import text
from agent.workspace.workspace import Workspace


def show_skill_news(workspace: Workspace, output: Output) -> None:
    """Print the news of skills on standard error, each once; with `--json` they stay for the next prompt."""
    if output.json:
        return
    language = workspace.settings.vault.language
    for offer in take_news(workspace.vault):
        if offer.status == "approved":
            output.note(text("skill_news.learned", language, name=offer.name, path=offer.notes[0].path))
        else:
            output.note(text("skill_news.suggested", language, name=offer.name, path=offer.path))


class NoticeNews:
    """The notices in a ledger that are sent from now on, each told once."""

    def __init__(self, ledger: NoticeLedger) -> None:
        self._ledger, self._mark = ledger, ledger.mark
        self._told = {each.id for each in _sent(ledger)}

    def look(self) -> Callable[[], object] | None:
        """A function that prints what was sent since the last look; None if nothing was. While nothing changes, that is
        a look at the size of a file."""
        mark = self._ledger.mark
        if mark == self._mark:
            return None
        try:
            fresh = [each for each in _sent(self._ledger) if each.id not in self._told]
        except AgentError:
            return None  # `notices` says why it cannot be read
        self._mark = mark
        self._told |= {each.id for each in fresh}
        return partial(_show, fresh) if fresh else None


def open_news(workspace: Workspace) -> NoticeNews | None:
    """The news of a vault's notices; None if they cannot be read, as `notices` says."""
    try:
        return NoticeNews(open_ledger(workspace))
    except AgentError:
        return None


def _sent(ledger: NoticeLedger) -> list[NoticeReceipt]:
    return [each for each in ledger.all() if each.decision.decided == "sent"]


def _show(sent: Sequence[NoticeReceipt]) -> None:
    for each in sent:
        say("\n".join(["", f"{each.at.astimezone():%H:%M} {one_line(each.raised.title)}", *_indented(each)]))


def _indented(receipt: NoticeReceipt) -> list[str]:
    lines = (*receipt.raised.lines, late_line(receipt.raised, receipt.at, spoken()))
    return [f"      {one_line(line)}" for line in lines if line.strip()]
