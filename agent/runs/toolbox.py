"""The tools of a vault under the machine's policy, with a person's approval where it is needed."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from agent.context.source import Piece
from agent.dataclass import dataclass
from agent.events.runs import NodeToolCalled
from agent.lazy import later
from agent.llm.messages import Context
from agent.loop.records import Spoken
from agent.loop.session import Session
from agent.memory.capture.writer import EntryWriter
from agent.memory.forgetting.forgotten_statements import ForgottenStatements
from agent.runs.active_skills import ActiveSkills
from agent.runs.node_host import node_link
from agent.runs.recall_source import RecallSource
from agent.tools.approvals import Approvals
from agent.tools.builtin.calendar import calendar_tool
from agent.tools.builtin.jobs import PlanningTools
from agent.tools.builtin.memory import forgets_nothing
from agent.tools.builtin.notes import Notes
from agent.tools.builtin.profile import ProfileTools
from agent.tools.builtin.shell import ShellConfig, shell_tools
from agent.tools.builtin.toolbox import Delegate, ToolDeps, builtin_tools, skill_tools, tool_search_tool
from agent.tools.builtin.web import web_tools
from agent.tools.policy import load_policies
from agent.tools.registry import Registry
from agent.tools.text_origin import text_origin_of
from agent.tools.tool import RunContext, Tool
from agent.vault.history.commits import read_commits
from agent.vault.history.find import commits
from agent.vault.store import Vault
from agent.workspace.workspace import Workspace

if TYPE_CHECKING:
    from agent.runs.calendars import agenda
    from agent.runs.servers import server_links
    from agent.tools.builtin.servers.link import ServerLink
else:  # few have calendars or servers
    agenda = later("agent.runs.calendars", "agenda")
    server_links = later("agent.runs.servers", "server_links")


def toolbox(
    workspace: Workspace,
    searches: RecallSource,
    following: ActiveSkills,
    asks: Approvals,
    delegate: Delegate,
    writer: EntryWriter,
    publish: Callable[[NodeToolCalled], object],
    web: Callable[[], Iterable[Tool]] = tuple,
    forgot: Callable[[str, ForgottenStatements], object] = forgets_nothing,
) -> Registry:
    """All tools that the settings switch on; the policy decides which of them a run may use. `publish` is told of calls
    of the node host's tools; `web` gives the tools that search the web, beside the one that reads it; `forgot` is
    told what was forgotten in a run.

    Raises `ConfigError` for an invalid policy, and for servers that cannot be read.
    """
    settings = workspace.settings.tools
    servers: Sequence[ServerLink] = server_links(workspace) if settings.servers else ()

    def absent() -> Sequence[str]:
        return [why for each in servers if (why := each.absence())]

    more: list[Tool] = [*skill_tools(following.skills.library, following.say, following.opened)]
    if settings.web:
        more += [*web_tools(workspace.vault.clock, lambda: workspace.vault.known.values), *web()]
    if settings.shell:
        yard = ShellConfig(hidden=(workspace.directories.config, workspace.directories.state))
        more += shell_tools(Notes(workspace.vault, text_origin_of(workspace.vault)), workspace.vault.clock, yard)
    more += PlanningTools(workspace.vault, workspace.vault.clock, workspace.settings.schedule.tasks_waiting).tools()
    about = ProfileTools(
        Notes(workspace.vault, text_origin_of(workspace.vault)),
        workspace.settings.vault.language,
        workspace.settings.profile.sensitive,
    )
    more += about.tools()
    if workspace.settings.calendars.sources.reference:
        more.append(calendar_tool(lambda first, last: agenda(workspace, first, last), workspace.clock))
    deps = ToolDeps(searches.search, searches.remembered, writer, delegate, workspace.texts, forgot)
    tools = builtin_tools(
        workspace.vault, workspace.vault.clock, settings.approval_hours, deps, more, workspace.settings.vault.language
    )
    return Registry(
        tools,
        load_policies(workspace.directories.config),
        replace(asks, agreed=following.skills.agreed).guard,
        workspace.vault.clock,
        following.leaves,
        workspace.vault.masked,
        lambda registry: [tool_search_tool(registry.specs, [each.config.name for each in servers], absent)],
        [*([node_link(workspace, publish)] if workspace.settings.node.enabled else []), *servers],
    )


UNDONE = "undone"
_MOST, _NOTES = 50, 8
"""The most undos that are looked at, and the most notes that are named of each."""


@dataclass(frozen=True, slots=True)
class UndoneWork:
    """The changes of one conversation that were undone since its `last` record (None: it has none), and that are not
    `mentioned` yet."""

    vault: Vault
    session: str
    last: datetime | None
    mentioned: str = ""
    name: str = UNDONE

    def pieces(self, task: str, room: int) -> Sequence[Piece]:
        """One text with a line for each commit that was taken back; none without one."""
        if self.last is None:
            return ()
        undone = {id for each in commits(self.vault, since=self.last, limit=_MOST) for id in each.undoes}
        ours = [each for each in read_commits(self.vault, sorted(undone)) if each.session == self.session]
        rows = [
            f"- {each.subject} ({each.id[:10]}): {', '.join(file.path for file in each.files[:_NOTES])}"
            for each in ours
            if each.id[:10] not in self.mentioned
        ]
        head = "Since your last answer here, these changes of yours were taken back. They are not there any more:"
        return (Piece("\n".join([head, *rows]), UNDONE),) if rows else ()


def undone_work(context: RunContext, session: Session) -> UndoneWork:
    """The source for a run in this session, before anything of the run is recorded in it."""
    spoken = (each.event.message for each in session.records if isinstance(each.event, Spoken))
    mentioned = "\n".join(each.text for each in spoken if isinstance(each, Context) and each.source == UNDONE)
    return UndoneWork(session.vault, session.path, session.last, mentioned)
