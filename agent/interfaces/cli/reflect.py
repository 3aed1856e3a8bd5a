"""`vault-agent lessons reflect`: looks back at a run, or at a day, and writes down what it finds."""

import click

from agent.app.open import open_workspace
from agent.clock import in_clock_zone
from agent.context.budget import estimate
from agent.growth.lessons.reflect_by_hand import ReflectedByHand, reflect_on_day, reflect_on_last_run
from agent.growth.lessons.reflecting import Reflecting
from agent.growth.lessons.reflection import reflection_document
from agent.growth.lessons.reflection_notes import format_reflection
from agent.interfaces.cli.foreground import stopped_by_ctrl_c
from agent.interfaces.cli.language import tr
from agent.interfaces.cli.output import Output
from agent.markdown.session_marks import is_mark
from agent.runs.accounts import open_accounts
from agent.texts import Language
from agent.vault.history.typed_time import parse_time


@click.command()
@click.option("--day", "day", metavar="DATE", default="", help="All runs of a day: today, yesterday, 2026-11-21.")
@click.pass_obj
def command(output: Output, day: str) -> None:
    """Look back at the last run, or at all runs of a day: what came of it, what went wrong and why, and what to do
    otherwise the next time. If there is something, it stands in reflections/, in the note of the day, with boxes by
    which you say whether it is helpful.

    The daemon does this by itself for runs that failed, were corrected, took long or used many tools, and once a day
    for all. It needs a model.
    """
    workspace = open_workspace(output.vault())
    now = workspace.clock.now()
    reflecting = Reflecting(workspace, open_accounts(workspace, estimate))
    with stopped_by_ctrl_c() as cancelled:
        if day:
            found = reflect_on_day(reflecting, in_clock_zone(parse_time(day, now), now).date(), cancelled)
        else:
            found = reflect_on_last_run(reflecting, cancelled)
    reflection = found.reflection
    path = reflection.path if found.is_written else None
    document = {"path": path, "reflection": reflection_document(reflection), "commit": found.commit}
    output.emit(document, lambda: _format(found, workspace.settings.vault.language))


def _format(found: ReflectedByHand, language: Language) -> str:
    """The reflection as its note has it, without marks and boxes, and where it stands."""
    rows = format_reflection(found.reflection, language).splitlines()
    lines = [row for row in rows if not is_mark(row) and not row.startswith(("- [ ] ", "## "))]
    text = "\n".join(lines).strip()
    where = tr("in {path}", path=found.reflection.path) if found.is_written else tr("nothing new was learned")
    return f"{found.reflection.heading}\n\n{text}\n\n{where}"
