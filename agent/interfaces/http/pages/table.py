"""All pages, in the order of the navigation, what their buttons do, and their streams."""

from collections.abc import Callable

from starlette.routing import BaseRoute

from agent.interfaces.http.pages import needs
from agent.interfaces.http.pages.page import Deed, Page
from agent.interfaces.http.service import Service

PAGES: tuple[Page, ...] = (needs.PAGE,)
DEEDS: tuple[Deed, ...] = (*needs.DEEDS,)
STREAMS: tuple[Callable[[Service], BaseRoute], ...] = ()
"""Makes the route of each stream."""
