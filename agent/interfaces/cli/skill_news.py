"""One line for each skill that was suggested or learned since the last prompt, in this process or in the daemon."""

from agent.interfaces.cli.output import Output
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
