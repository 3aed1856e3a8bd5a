"""What a forgetting does to the notes, for people and for programs."""

import io
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import click

from agent.interfaces.cli.language import counted, said
from agent.markdown.session_marks import is_mark
from agent.memory.forgetting.places import Forgetting, Report
from agent.vault.change import Outcome
from agent.vault.folders import AgentFolder, WriteRule

_SHOWN = 10


@contextmanager
def progress() -> Iterator[Report]:
    """A bar of progress on a terminal."""
    where = sys.stderr if sys.stderr.isatty() else io.StringIO()
    with click.progressbar(length=100, label="looking", file=where) as bar:
        yield lambda done, total: bar.update(100 * done // max(1, total) - bar.pos)


def document(forgetting: Forgetting, outcome: Outcome, dry_run: bool) -> Mapping[str, object]:
    """The fields of a forgetting for programs."""
    return {
        "dry_run": dry_run,
        "commit": outcome.commit,
        "queued": outcome.queued,
        "forgotten": [*(path for path, _ in forgetting.gone), *forgetting.past],
        "changed": [{"path": each.path, "lines": list(each.gone)} for each in forgetting.changed],
        "mentions": list(forgetting.mentions),
        "unread": list(forgetting.unread),
        "renamed": {each.path: each.to for each in forgetting.changed if each.to},
    }


def effects(forgetting: Forgetting, home: AgentFolder) -> Iterator[str]:
    """A line for each note that goes, changes, or stays although it says the same."""
    yield from (said("  goes from the history: {path}", path=path) for path in forgetting.past[:_SHOWN])
    yield from (said("  goes: {path}", path=path) for path, _ in forgetting.gone[:_SHOWN])
    if len(forgetting.gone) > _SHOWN:
        yield "  " + said("and {count} more", count=len(forgetting.gone) - _SHOWN)
    for each in forgetting.changed[:_SHOWN]:
        if home.row(each.path).write is WriteRule.PROGRAM:
            lines = counted(len(each.gone), "1 line", "{count} lines")
            redacted = "  redacted in {lines}: {path} (a new name)" if each.to else "  redacted in {lines}: {path}"
            if not each.gone:
                redacted = "  gets another name: {path}" if each.to else "  its links change: {path}"
            yield said(redacted, lines=lines, path=each.to or each.path)
        else:
            gone = [line.strip() for line in each.gone if line.strip() and not is_mark(line)]
            yield from (said("  {path} loses: {line}", path=each.path, line=line) for line in gone[:_SHOWN])
            yield from (said("  gets another name: {to}", to=each.to),) if each.to else ()
    if len(forgetting.changed) > _SHOWN:
        yield said("  and {count} more lose lines", count=len(forgetting.changed) - _SHOWN)
    yield from (said("  stays, and says it too: {path}", path=path) for path in forgetting.mentions[:_SHOWN])
    yield from (said("  could not be read: {path}", path=path) for path in forgetting.unread[:_SHOWN])
