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
    ask, needs, today, notes, graph, job_edit, jobs, tasks, memory, profile, skills, status, metrics, sync, settings,
    browsers, documentation,
)  # fmt: skip
"""The form of a job has an address below that of the jobs, so it comes first."""
PAGES = tuple(each for module in _MODULES for each in vars(module).values() if isinstance(each, Page))
DEEDS: tuple[Deed, ...] = tuple(each for module in _MODULES for each in getattr(module, "DEEDS", ()))
STREAMS: tuple[Callable[[Service], BaseRoute], ...] = (*ask.STREAMS, *graph.STREAMS)
"""Makes the route of each stream."""
_BY_NAME = {each.name: each for each in PAGES}
ENTRIES = tuple(each for each in PAGES if each.letter and not each.under)
"""The pages of the navigation."""


def entry_of(page: Page) -> Page:
    """The page of the navigation to which a page belongs."""
    return entry_of(_BY_NAME[page.under]) if page.under else page


def tabs_of(page: Page) -> tuple[Page, ...]:
    """The pages that stand beside a page under one entry of the navigation; none for a page of a single thing."""
    beside = tuple(each for each in PAGES if each.letter and entry_of(each) == entry_of(page))
    return beside if page.letter and len(beside) > 1 else ()
