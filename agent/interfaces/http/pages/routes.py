"""All routes of the dashboard."""

from starlette.routing import BaseRoute

from agent.interfaces.http.pages.sign_in import sign_in_route
from agent.interfaces.http.service import Service


def page_routes(service: Service) -> tuple[BaseRoute, ...]:
    """The routes of the pages and of the files that they load."""
    return (sign_in_route(service),)
