"""Does one research from its topic to its note, for the command and for tasks.

It is read-only until its end: what comes of it are the requests of `Research`, which its caller commits. A stop keeps
what was found so far; one that was killed has written nothing, and is begun anew.
"""

import re
from dataclasses import replace

from agent.clock import in_machine_seconds
from agent.errors import Interrupted
from agent.events.runs import Speaker
from agent.growth.research.calls import ResearchCalls
from agent.growth.research.conclude import concluded
from agent.growth.research.desk import ResearchDesk, ResearchSource
from agent.growth.research.fact import FactCheck
from agent.growth.research.findings import LIMITS, Research, ResearchCall
from agent.growth.research.own_sources import VaultSource
from agent.growth.research.repository import RepositoryStudy
from agent.growth.research.topic import Exploration
from agent.growth.research.web_source import WebSource, engines_of
from agent.loop.records import RunRequest
from agent.markdown.title import short_title
from agent.runs.service import RunService
from agent.tools.policy import Permission
from agent.vault.change import Append, Create, Edit, Stamp, actor_of
from agent.vault.folders import RESEARCH

TOOL = "research"
"""The tool in the trailer of its commits."""
_URL = re.compile(r"https?://[^\s<>\"'“”（）()，。]+")
_GATHERING = 0.9
"""The part of the time for searching and reading; the rest is for the report."""


def research(runs: RunService, call: ResearchCall) -> Research:
    """Do a research; raises `UserError` for a prompt of the vault's that is wrong."""
    topic = " ".join(runs.workspace.vault.masked(call.topic).split())
    call = replace(call, topic=topic, path=call.path or note_path(runs, topic))
    seconds = runs.workspace.settings.schedule.research_minutes * 60 * _GATHERING
    calls = ResearchCalls(in_machine_seconds(runs.workspace.clock), LIMITS[call.kind].calls, seconds)
    desk = _desk(runs, call, calls)
    work = _work(desk)
    try:
        found, is_stopped = work.go(), False
    except Interrupted:
        found, is_stopped = work.findings(), True
    return concluded(desk, found, is_stopped=is_stopped)


def commit_research(runs: RunService, found: Research, call: ResearchCall) -> tuple[str, ...]:
    """Write what came of a research, in one commit, which is returned."""
    mark_strangers(runs, found)
    if not found.requests:
        return ()
    stamp, topic = Stamp(actor_of(call.job), run=found.run, tool=TOOL), runs.workspace.vault.masked(call.topic)
    with runs.workspace.vault.transaction(f"research({call.kind}): {topic}", stamp, masked=True) as change:
        change.requests += found.requests
    return tuple(filter(None, [change.outcome.commit]))


def mark_strangers(runs: RunService, found: Research) -> None:
    """Record, before they are written, which lines are a stranger's, so that they count as that wherever they go."""
    for each in found.requests if found.strangers else ():
        if isinstance(each, Append):
            runs.recall.foreign.remember(found.run, each.text, b"", found.strangers)
        elif isinstance(each, Create | Edit):
            before = runs.workspace.vault.read(each.path) or b""
            runs.recall.foreign.remember(found.run, each.data, before, found.strangers)


def note_path(runs: RunService, topic: str) -> str:
    """The note of a topic."""
    return runs.workspace.vault.home.at(f"{RESEARCH}{short_title(_URL.sub(' ', topic)) or 'topic'}.md")


def _work(desk: ResearchDesk) -> FactCheck | RepositoryStudy | Exploration:
    if desk.call.kind == "fact":
        return FactCheck(desk)
    if desk.call.kind == "repository" and desk.call.folders:
        return RepositoryStudy(desk, desk.call.folders[0])
    return Exploration(desk)


def _desk(runs: RunService, call: ResearchCall, calls: ResearchCalls) -> ResearchDesk:
    """The desk, with the vault, the folders that were named, and the web as the settings and the policy allow it."""
    workspace = runs.workspace
    own: list[ResearchSource] = [VaultSource(runs.recall, call.topic)]
    own += call.folders[1:] if call.kind == "repository" else call.folders
    context = RunRequest("", Speaker("job" if call.job else "cli"), job=call.job).context("", "")
    # nobody says yes to each page
    is_offline = runs.agent.tools.permission("web_fetch", context) is not Permission.ALLOW
    named = tuple(dict.fromkeys(each.rstrip(".,;:!?)]") for each in _URL.findall(call.topic)))
    engines, known = engines_of(workspace.settings.research, workspace.clock), workspace.vault.known
    web = WebSource(call.topic, engines, named, workspace.clock, lambda: known.values, call.network, call.limits)
    return ResearchDesk(
        runs,
        call,
        calls,
        own,
        web if (engines or named) and not is_offline else None,
        is_offline,
        runs.account.of_run(calls.run, call.job, call.spend).doing("research") if runs.present else None,
    )
