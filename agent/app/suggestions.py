"""What the daemon's suggestions have to leave out, by what their person said of earlier ones."""

from agent.app.notice_ledger import open_ledger
from agent.attention.outbox import SUGGESTIONS
from agent.growth.patterns.look import DISMISSED_FOR
from agent.workspace.workspace import Workspace


def dismissed_suggestions(workspace: Workspace) -> frozenset[str]:
    """What the suggestions were about that the person has dismissed within the last month."""
    since = workspace.clock.now() - DISMISSED_FOR
    return frozenset(
        each.raised.subject
        for each in open_ledger(workspace).all()
        if each.raised.type in SUGGESTIONS
        and each.reaction in ("not_helpful", "dismissed")
        and each.reacted_at is not None
        and each.reacted_at >= since
    )
