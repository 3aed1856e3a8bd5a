"""Status: what the agent does now, what comes next, what it has done to its state, and what is left of its limits."""

from collections.abc import Mapping
from datetime import datetime

from agent.app.notice_ledger import open_ledger
from agent.background.presence_files import give_order, state_of
from agent.clock import in_clock_zone
from agent.dataclass import dataclass
from agent.errors import UserError
from agent.interfaces.http.pages.page import Deed, Done, Page, PageRequest
from agent.runs.job_upkeep import job_record, job_shelf
from agent.runs.status import AgentStatus, agent_status
from agent.schedule.job import Job
from agent.schedule.shelf import Shelf
from agent.vault.health.status import status
from agent.workspace.index_status import index_state
from agent.workspace.schedule_switch import schedule_switch
from agent.workspace.workspace import Workspace, is_watched, load_daemon_state, reload_settings

_NEXT, _MOVES = 6, 12


@dataclass(frozen=True, slots=True)
class UsedLimit:
    """A limit of a day and how much of it is used: `name` is the key of its text; a `most` of 0 is no limit."""

    name: str
    used: float
    most: float
    used_text: str
    most_text: str


@dataclass(frozen=True, slots=True)
class _Coming:
    at: datetime
    job: Job


def show(request: PageRequest) -> Mapping[str, object]:
    """The state of the agent, the vault and the index."""
    workspace, now = request.workspace, request.now
    vault = status(workspace.vault)
    agent = agent_status(reload_settings(workspace))
    state, shelf = state_of(workspace.vault), job_shelf(workspace).load()
    return {
        "state": state,
        "moves": list(reversed(state.transitions))[:_MOVES] if state else [],
        "coming": _coming(workspace, shelf, now),
        "shelf": shelf,
        "agent": agent,
        "vault": vault,
        "index": index_state(workspace, lambda: vault.notes),
        "daemon_problem": str((load_daemon_state(workspace) or {}).get("problem") or ""),
        "meters": meters(request, agent),
        "switch": schedule_switch(workspace),
        "warnings": workspace.loaded.warnings,
    }


def _coming(workspace: Workspace, shelf: Shelf, now: datetime) -> list[_Coming]:
    """The next times of the jobs that run, the nearest first."""
    active = [job for job in shelf.jobs if job.status == "active" and not job_record(workspace, job).is_stopped]
    times = [_Coming(each.at, job) for job in active for each in job.coming(now, 2)]
    return sorted(times, key=lambda each: each.at)[:_NEXT]


def meters(request: PageRequest, agent: AgentStatus) -> list[UsedLimit]:
    """What today has cost, and how much of the person's attention was used."""
    workspace, now = request.workspace, request.now
    caps, today = workspace.settings.spend, agent.today
    money, tokens = (today.money, today.tokens) if today else (0.0, 0)
    sent = sum(
        each.decision.decided == "sent"
        and not each.is_digest
        and in_clock_zone(each.decided_at, now).date() == now.date()
        for each in open_ledger(workspace).all()
    )
    most = workspace.settings.attention.daily
    return [
        UsedLimit("money", money, caps.daily, f"${money:.2f}", f"${caps.daily:g}"),
        UsedLimit("tokens", tokens, caps.daily_tokens, f"{tokens:,}", f"{caps.daily_tokens:,}"),
        UsedLimit("attention", sent, most, str(sent), str(most)),
    ]


def wake(request: PageRequest) -> Done:
    """Wake the agent."""
    _check(request)
    give_order(request.workspace.vault, "wake", request.field("reason") or request.text("woken"))
    return Done(request.text("wakes"))


def sleep(request: PageRequest) -> Done:
    """Send the agent to sleep."""
    _check(request)
    give_order(request.workspace.vault, "sleep", request.text("sent_to_sleep"))
    return Done(request.text("sleeps"))


def _check(request: PageRequest) -> None:
    if not is_watched(request.workspace):
        raise UserError("no daemon runs here", hint="vault-agent daemon starts one")


PAGE = Page("status", "/status", show, "s")
DEEDS = (Deed("/status/wake", wake), Deed("/status/sleep", sleep))
