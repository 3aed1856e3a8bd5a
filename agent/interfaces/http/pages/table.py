"""All pages, in the order of the navigation, what their buttons do, and their streams."""

from collections.abc import Callable

from starlette.routing import BaseRoute

from agent.interfaces.http.pages import (
    ask,
    graph,
    job_edit,
    jobs,
    memory,
    metrics,
    needs,
    notes,
    profile,
    settings,
    skills,
    status,
    sync,
    tasks,
    today,
)
from agent.interfaces.http.pages.page import Deed, Page
from agent.interfaces.http.service import Service

PAGES: tuple[Page, ...] = (
    needs.PAGE,
    today.PAGE,
    today.CHANGE,
    ask.PAGE,
    ask.RUN,
    notes.PAGE,
    notes.NOTE,
    notes.BACKLINKS,
    notes.HISTORY,
    status.PAGE,
    tasks.PAGE,
    tasks.NEW,
    tasks.TASK,
    jobs.PAGE,
    job_edit.NEW,
    job_edit.EDIT,
    job_edit.PREVIEW,
    jobs.JOB,
    profile.PAGE,
    profile.NOTE,
    profile.EDIT,
    memory.FORGET,
    memory.PAGE,
    skills.PAGE,
    skills.SKILL,
    sync.PAGE,
    graph.PAGE,
    graph.NOTES,
    metrics.PAGE,
    metrics.EFFECT,
    settings.PAGE,
)
DEEDS: tuple[Deed, ...] = (
    *needs.DEEDS,
    *today.DEEDS,
    *ask.DEEDS,
    *notes.DEEDS,
    *status.DEEDS,
    *tasks.DEEDS,
    *jobs.DEEDS,
    *job_edit.DEEDS,
    *profile.DEEDS,
    *memory.DEEDS,
    *skills.DEEDS,
    *sync.DEEDS,
)
STREAMS: tuple[Callable[[Service], BaseRoute], ...] = (*ask.STREAMS, *graph.STREAMS)
"""Makes the route of each stream."""
