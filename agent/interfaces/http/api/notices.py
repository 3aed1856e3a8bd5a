"""Notices: what the agent wanted to say, what became of it, and the person's opinion."""

from typing import Literal

import msgspec

from agent.deeds import notices
from agent.deeds.notices import Noted, list_notices, show_notice
from agent.deeds.result import ShortName
from agent.interfaces.http.api.paging import listed
from agent.interfaces.http.operation import Routes
from agent.workspace.workspace import Workspace

ROUTES = Routes("/api/v1/notices")


class Opinion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the person thinks of a notice."""

    reaction: Literal["helpful", "not_helpful", "dismissed"]


ROUTES.get("", "What the agent wanted to say")(listed("NoticeList", "notices", list_notices))
ROUTES.get("/{id}", "One notice", 404)(show_notice)


@ROUTES.post("/{id}/react", "An opinion about a notice", 404)
def react(workspace: Workspace, id: ShortName, opinion: Opinion) -> Noted:
    """Say whether a notice was worth it; after three dismissals in a row its type counts half."""
    return notices.react(workspace, id, opinion.reaction)
