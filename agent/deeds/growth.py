"""What the agent does at its time, when its person wants it now: it looks back at the day, and learns from that."""

from agent.app.lessons import lesson_work
from agent.clock import in_clock_zone
from agent.context.budget import estimate
from agent.errors import UserError
from agent.growth.lessons.lesson_log import LogRow
from agent.growth.lessons.reflect_by_hand import ReflectedByHand, reflect_on_day
from agent.growth.lessons.reflecting import Reflecting
from agent.growth.lessons.tend import tend_lessons
from agent.growth.patterns.likeness import vectors_of
from agent.llm.messages import never
from agent.runs.accounts import open_accounts
from agent.workspace.search_index import SearchIndex
from agent.workspace.workspace import Workspace, reload_settings


def reflect_on_today(workspace: Workspace) -> ReflectedByHand:
    """Look back at the runs of today; raises `UserError` if there are none."""
    fresh, now = reload_settings(workspace), workspace.clock.now()
    reflecting = Reflecting(fresh, open_accounts(fresh, estimate))
    return reflect_on_day(reflecting, in_clock_zone(now, now).date(), never)


def learn_from_reflections(workspace: Workspace, index: SearchIndex) -> tuple[LogRow, ...]:
    """Look at what the reflections say and how the lessons have done; returns what has changed of them.

    Raises `UserError` if growth is switched off.
    """
    fresh = reload_settings(workspace)
    if not fresh.settings.growth.enabled:
        raise UserError("growth is switched off", hint="vault-agent config set growth.enabled true")
    return tuple(tend_lessons(lesson_work(fresh, lambda: vectors_of(index.chosen.embedder))))
