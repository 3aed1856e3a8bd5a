"""The notices about what its person has to see to, and may never look for at a terminal."""

from agent.events.notices import NoticeRaised
from agent.events.types import EditsStopped
from agent.memory import daily
from agent.texts import Language, text, translated
from agent.vault.sync.state import SyncedRemote

_NAMED = 3


def deletion_notice(event: EditsStopped, language: Language) -> NoticeRaised:
    """A deletion of many notes waits for a yes: what was stopped, and how to say yes. Nothing that the person writes is
    recorded until then."""
    more = " …" if len(event.paths) > _NAMED else ""
    names = text("answers.comma", language).join(event.paths[:_NAMED]) + more
    lines = text("notices.deletion_why", language, names=daily.inert(names)), text("notices.deletion_yes", language)
    title = text("notices.deletion", language, count=len(event.paths))
    return NoticeRaised("deletion", 0.9, title, lines, subject="edits")


def sync_notice(remote: SyncedRemote, language: Language) -> NoticeRaised:
    """A remote has been out of step for a day: what is wrong, and how to see more. It can wait, and has already."""
    since = f"{remote.since:%Y-%m-%d %H:%M:%S}" if remote.since is not None else ""
    title = text("notices.sync", language, name=daily.inert(remote.name))
    lines = daily.inert(translated(remote.trouble, language)), text("notices.sync_more", language)
    return NoticeRaised("sync_trouble", 0.7, title, lines, subject=f"{remote.name} {since}")
