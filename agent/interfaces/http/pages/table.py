"""All pages, in the order of the navigation, what their buttons do, and their streams: what a module here defines."""

from collections.abc import Callable
from types import ModuleType

from starlette.routing import BaseRoute

from agent.interfaces.http.pages import (
    ask,
    browsers,
    documentation,
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

_MODULES: tuple[ModuleType, ...] = (
    needs, today, ask, notes, status, tasks, job_edit, jobs, profile, memory, skills, sync, graph, metrics, settings,
    browsers, documentation,
)  # fmt: skip
"""The form of a job has an address below that of the jobs, so it comes first."""
PAGES = tuple(each for module in _MODULES for each in vars(module).values() if isinstance(each, Page))
DEEDS: tuple[Deed, ...] = tuple(each for module in _MODULES for each in getattr(module, "DEEDS", ()))
STREAMS: tuple[Callable[[Service], BaseRoute], ...] = (*ask.STREAMS, *graph.STREAMS)
"""Makes the route of each stream."""
